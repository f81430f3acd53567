/* SPDX-License-Identifier: BSD-3-Clause */
/* diagnosis.c -- from symptoms to findings; a function for each. */
#include "diagnosis.h"
#include "overlay/base/confinement.h"
#include "overlay/base/ports.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SOON_DAYS = 14 };

static void __attribute__((format(printf, 3, 4)))
find(struct finding *f, enum finding_state state, const char *format, ...)
{
    va_list args;
    f->state = state;
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
}

static void __attribute__((format(printf, 2, 3))) mend(struct finding *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->mend, sizeof f->mend, format, args);
    va_end(args);
}

static void on_daemon(const struct symptoms *s, struct finding *f)
{
    if (s->daemon) {
        find(f, FINDING_GOOD, "p2pd answers");
        return;
    }
    find(f, FINDING_BAD, "%s", s->daemon_why);
    mend(f, s->certificate ? "p2pctl service install, or p2pd --detach"
                           : "p2pctl join TOKEN (or p2pctl grid create NAME), then p2pd --detach");
}

static void on_service(const struct symptoms *s, struct finding *f)
{
    if (s->service && s->lingers) {
        find(f, FINDING_GOOD, "systemd starts p2pd after each boot");
    } else if (s->service) {
        find(f, FINDING_NOTE, "systemd starts p2pd when you log in, and ends it when you log out");
        mend(f, "loginctl enable-linger, or ask your administrator: sudo loginctl enable-linger %s",
             s->user);
    } else {
        find(f, FINDING_NOTE, "nothing starts p2pd after a reboot");
        mend(f, s->systemd ? "p2pctl service install"
                           : "no systemd here: a line in crontab -e: @reboot p2pd --detach");
    }
}

static void on_certificate(const struct symptoms *s, struct finding *f)
{
    if (!s->certificate) {
        find(f, FINDING_BAD, "%s", s->certificate_why);
        mend(f, "p2pctl join TOKEN, with a token of p2pctl invite on a desktop of the grid");
    } else if (s->days < 0) {
        find(f, FINDING_BAD, "this peer's certificate ended %ld days ago", -s->days);
        mend(f, "p2pctl join TOKEN, with a new token; and look at this desktop's clock");
    } else if (s->days < SOON_DAYS) {
        find(f, FINDING_NOTE, "this peer's certificate ends in %ld days, and was not renewed yet",
             s->days);
        mend(f, "have the desktop with the grid's authority switched on for some minutes");
    } else {
        find(f, FINDING_GOOD, "this peer's certificate is good for %ld days", s->days);
    }
}

static void on_clock(const struct symptoms *s, struct finding *f)
{
    if (!s->clock_known || s->clock_right) {
        find(f, FINDING_GOOD,
             s->clock_known ? "the network keeps the clock right"
                            : "the kernel does not say who keeps the clock");
        return;
    }
    find(f, FINDING_NOTE,
         "nobody keeps the clock right: if it is wrong by minutes, certificates are refused");
    mend(f, "sudo apt-get install systemd-timesyncd (timedatectl shows it)");
}

static void on_network(const struct symptoms *s, struct finding *f)
{
    if (s->only_loopback) {
        find(f, FINDING_BAD, "this desktop has no network");
        mend(f, "plug it in; p2pd notices by itself");
    } else if (s->port == 0 && s->listen[0] != '\0') {
        find(f, FINDING_NOTE, "p2pd takes any free port, which no firewall can be told of");
        mend(f, "listen = \"*:7117\" in p2pd.conf");
    } else if (s->firewall[0] != '\0') {
        find(f, FINDING_NOTE,
             "%s is switched on: others must reach port %u (TCP and UDP), and ranks %u-%u (TCP)",
             s->firewall, s->port, PORTS_RANK_FIRST, PORTS_RANK_LAST);
        if (strcmp(s->firewall, "ufw") == 0)
            mend(f, "sudo ufw allow %u && sudo ufw allow %u:%u/tcp", s->port, PORTS_RANK_FIRST,
                 PORTS_RANK_LAST);
        else if (strcmp(s->firewall, "iptables") == 0)
            mend(f,
                 "sudo iptables -I INPUT -p tcp -m multiport --dports %u,%u:%u -j ACCEPT && sudo "
                 "iptables -I INPUT -p udp --dport %u -j ACCEPT",
                 s->port, PORTS_RANK_FIRST, PORTS_RANK_LAST, s->port);
        else if (strcmp(s->firewall, "nftables") == 0)
            mend(f,
                 "in the chain of nft that hooks input: tcp dport { %u, %u-%u } accept; udp dport "
                 "%u accept (doc/firewall.md)",
                 s->port, PORTS_RANK_FIRST, PORTS_RANK_LAST, s->port);
        else
            mend(f, "let port %u, and %u-%u/tcp, in from the other desktops (doc/firewall.md)",
                 s->port, PORTS_RANK_FIRST, PORTS_RANK_LAST);
    } else {
        find(f, FINDING_GOOD, "p2pd listens at %s; no firewall was found here%s",
             s->listen[0] != '\0' ? s->listen : "its port",
             s->rules_hidden ? " (only root can read its rules: sudo nft list ruleset)" : "");
    }
}

static void on_peers(const struct symptoms *s, struct finding *f)
{
    if (!s->daemon) {
        find(f, FINDING_NOTE, "without p2pd nobody can be asked");
    } else if (s->peers <= 1) {
        find(f, FINDING_NOTE, "no other peer answers");
        mend(f, "start p2pd on another desktop; between networks, join = {\"HOST:7117\"} in "
                "p2pd.conf and an open port there");
    } else if (s->silent > 0) {
        find(f, FINDING_NOTE, "%u other peers answer, and %u did not", s->peers - 1, s->silent);
        mend(f, "they are off, or their firewall lets nobody in: p2pctl doctor there");
    } else {
        find(f, FINDING_GOOD, "%u other peer%s answer%s", s->peers - 1, s->peers == 2 ? "" : "s",
             s->peers == 2 ? "s" : "");
    }
}

static void on_ompi(const struct symptoms *s, struct finding *f)
{
    if (s->ompi[0] == '\0') {
        find(f, FINDING_BAD, "mpirun is not in PATH");
        mend(f, "sudo apt-get install openmpi-bin");
    } else if (strncmp(s->ompi, "4.1.", 4) != 0) {
        find(f, FINDING_BAD, "Open MPI is %s; the plug-ins are for 4.1", s->ompi);
        mend(f, "have an Open MPI 4.1 first in PATH");
    } else if (!s->components) {
        find(f, FINDING_BAD, "Open MPI %s does not find the plug-ins", s->ompi);
        mend(f, "make install, or copy ~/.openmpi/components from a desktop that has them");
    } else {
        find(f, FINDING_GOOD, "Open MPI %s finds the plug-ins", s->ompi);
    }
}

static const char allow_users[] =
    "let users make namespaces: sysctl user.max_user_namespaces=10000 and "
    "kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; "
    "then start p2pd anew";

static void on_sandbox(const struct symptoms *s, struct finding *f)
{
    const unsigned missing = s->required & ~s->enforces;
    char words[120];
    if (missing == 0) {
        find(f, FINDING_GOOD, "guests can be kept from: %s",
             confinement_text(s->enforces, words, sizeof words));
        return;
    }
    find(f, FINDING_NOTE,
         "this kernel cannot keep guests from all they must be kept from (%s): "
         "none are let in",
         confinement_text(missing, words, sizeof words));
    mend(f, "%s",
         (missing & (CONFINE_SIGNALS | CONFINE_PEERS)) != 0
             ? allow_users
             : "a kernel with Landlock and seccomp, as Debian's; 'confinement' in p2pd.conf "
               "says what is demanded");
}

static void on_files(const struct symptoms *s, struct finding *f)
{
    switch (s->views) {
    case LANES_OVERLAY:
        find(f, FINDING_GOOD, "each lane of a job has an overlay of the job's folder");
        break;
    case LANES_COPIES:
        find(f, FINDING_NOTE,
             "each lane of a job has a whole copy of the job's folder: no overlayfs where rooms "
             "are");
        mend(f, "'work' in p2pd.conf on a disk of this desktop with ext4, xfs or btrfs");
        break;
    case LANES_ASIDE:
    case LANES_NONE:
        find(f, FINDING_NOTE,
             "nothing can be mounted for a job: its files are there under another path (man "
             "p2pgrid, RESULTS)");
        mend(f, "%s", allow_users);
        break;
    }
}

static void on_group(const struct symptoms *s, struct finding *f)
{
    if (!s->daemon && s->delegates) {
        find(f, FINDING_GOOD, "systemd gives a service of yours control groups for its jobs");
        return;
    }
    if (s->group && strstr(s->controllers, "memory") != NULL) {
        find(f, FINDING_GOOD, "each job has a control group that bounds it (%s)", s->controllers);
    } else {
        find(f, FINDING_NOTE,
             s->group ? "jobs have control groups that bound no memory"
                      : "jobs have no control group: memory is bounded process "
                        "by process");
        mend(f, s->systemd ? "p2pctl service install: the service has Delegate=yes"
                           : "start p2pd from a unit with Delegate=yes");
    }
}

static void on_bridges(const struct symptoms *s, struct finding *f)
{
    const char *already = s->excludes[0] != '\0' ? s->excludes : "lo";
    if (s->bridges[0] == '\0' || s->chosen) {
        find(f, FINDING_GOOD,
             s->chosen || s->excludes[0] != '\0' ? "Open MPI was told which interfaces to use"
                                                 : "no virtual network is in the way of Open MPI");
        return;
    }
    find(f, FINDING_NOTE,
         "%s: addresses that other desktops cannot reach, or take for their own, and that ranks "
         "may try",
         s->bridge_nets);
    mend(f, "btl_tcp_if_exclude = %s,%s in ~/.openmpi/mca-params.conf", already, s->bridges);
}

/* --- what others print --- */

bool diagnosis_excludes(const char *list, const char *interface, const char *network)
{
    for (size_t n; *list != '\0'; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if ((n == strlen(interface) && strncmp(list, interface, n) == 0) ||
            (n == strlen(network) && strncmp(list, network, n) == 0))
            return true;
    }
    return false;
}

static bool line_has(const char *line, size_t length, const char *word)
{
    return memmem(line, length, word, strlen(word)) != NULL;
}

/* The chains that hook input are read up to their brace, and those that they jump to are not: who
 * has such ones refuses something at the end of the first, too, or by its policy. */
bool diagnosis_nft_refuses(const char *text)
{
    bool input = false;
    for (size_t n; *text != '\0'; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        const size_t indent = strspn(text, " \t");
        if (line_has(text, n, "hook input"))
            input = true;
        else if (indent < n && text[indent] == '}')
            input = false;
        if (input && (line_has(text, n, "policy drop") || line_has(text, n, " drop") ||
                      line_has(text, n, "\tdrop") || line_has(text, n, "reject")))
            return true;
    }
    return false;
}

bool diagnosis_iptables_refuses(const char *text)
{
    for (size_t n; *text != '\0'; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        if (strncmp(text, ":INPUT DROP", 11) == 0)
            return true;
        if (strncmp(text, "-A INPUT ", 9) == 0 &&
            (line_has(text, n, "-j DROP") || line_has(text, n, "-j REJECT")))
            return true;
    }
    return false;
}

/* --- all together --- */

size_t diagnosis_make(const struct symptoms *s, struct finding out[FINDINGS_MOST])
{
    static const struct {
        const char *name;
        void (*look)(const struct symptoms *s, struct finding *f);
    } all[] = {
        {"daemon", on_daemon}, {"service", on_service}, {"certificate", on_certificate},
        {"clock", on_clock},   {"network", on_network}, {"peers", on_peers},
        {"openmpi", on_ompi},  {"sandbox", on_sandbox}, {"files", on_files},
        {"cgroup", on_group},  {"bridges", on_bridges},
    };
    enum { COUNT = sizeof all / sizeof all[0] };
    _Static_assert((int)COUNT <= (int)FINDINGS_MOST, "room for all");
    for (size_t i = 0; i < COUNT; i++) {
        out[i] = (struct finding){.name = all[i].name};
        all[i].look(s, &out[i]);
    }
    return COUNT;
}
