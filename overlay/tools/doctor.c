/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor.c -- p2pctl doctor: looks at everything that can be wrong on this desktop. */
#include "print_json.h"
#include "all_peers.h"
#include "diagnosis.h"
#include "overlay/base/confinement.h"
#include "overlay/crypto/identity.h"
#include "overlay/lend/lender.h"
#include "overlay/sandbox/confine.h"
#include "overlay/sandbox/lanes.h"
#include "overlay/settings/settings.h"
#include "service.h"
#include "src/common/defaults.h"
#include "tool.h"
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 5000, LINE = 512 };
#define TOOL_PATH "PATH=$PATH:/usr/sbin:/sbin " /* users have no such folders in theirs */
#define TCP_PARAMETERS "ompi_info --param btl tcp --level 9 --parsable 2>/dev/null"

struct doctor_order {
    struct tool_options shared;
    const char *config;
    char file[256]; /* of its settings, says the daemon that answers; "": none does */
};

struct asked {
    struct symptoms *s;
    struct doctor_order *o;
};

static error_t doctor_parse(int key, char *value, struct argp_state *state)
{
    struct doctor_order *o = state->input;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &o->shared;
    else if (key == 'c')
        o->config = value;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* --- what is asked of p2pd --- */

static void doctor_row(void *ctx, const struct message *m)
{
    const struct asked *a = ctx;
    struct symptoms *s = a->s;
    if (m->kind != MSG_local_terms)
        return;
    strcpy(a->o->file, m->local_terms->file);
    s->enforces = m->local_terms->enforces;
    s->required = m->local_terms->required;
    s->group = (m->local_terms->enforces & CONFINE_CGROUP) != 0;
    snprintf(s->controllers, sizeof s->controllers, "%s", m->local_terms->controllers);
}

static void status_row(void *ctx, const struct message *m)
{
    struct symptoms *s = ctx;
    if (m->kind == MSG_local_self && m->local_self.views <= LANES_OVERLAY)
        s->views = (enum lanes_way)m->local_self.views;
}

static void look_at_daemon(struct symptoms *s, struct doctor_order *o)
{
    struct asked asked = {s, o};
    struct message terms = {.kind = MSG_local_lend, .local_lend.verb = LENDER_TELL},
                   status = {.kind = MSG_local_status};
    struct msg_local_done done;
    struct all_peers all = {0};
    struct client *c;
    struct err e = {0};
    s->daemon = client_open(&c, o->shared.socket, &e) == 0;
    if (s->daemon && client_ask(c, &status, ANSWER_MS, status_row, s, &done, &e) == 0 &&
        client_ask(c, &terms, ANSWER_MS, doctor_row, &asked, &done, &e) == 0 &&
        all_peers_ask(&all, c, NULL, &e) == 0) {
        s->peers = (unsigned)all.count;
        s->silent = all.silent;
    }
    snprintf(s->daemon_why, sizeof s->daemon_why, "%.255s", e.text);
    all_peers_clear(&all);
    if (s->daemon)
        client_close(c);
}

/* --- files, the kernel, the system --- */

static const char *doctor_settings(const struct doctor_order *o)
{
    if (o->config != NULL)
        return o->config;
    return o->file[0] != '\0' && access(o->file, F_OK) == 0 ? o->file : NULL;
}

static void look_at_keys(struct symptoms *s, const struct doctor_order *o)
{
    struct identity *identity = NULL;
    struct settings *settings = calloc(1, sizeof *settings);
    struct err e = {0};
    if (settings == NULL)
        return;
    int rc = settings_read(settings, doctor_settings(o), &e);
    if (rc == 0) {
        const char *colon = strrchr(settings->listen, ':');
        snprintf(s->listen, sizeof s->listen, "%.79s", settings->listen);
        s->port = colon != NULL ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
        rc = identity_load(&identity, settings->keys, &e);
    }
    if (!s->daemon)
        s->required = settings->confinement;
    s->certificate = rc == 0;
    if (rc == 0)
        s->days = (long)(identity_card(identity)->ends - time(NULL)) / 86400;
    snprintf(s->certificate_why, sizeof s->certificate_why, "%.255s", e.text);
    identity_free(identity);
    free(settings);
}

static void look_at_clock(struct symptoms *s)
{
    struct timex t = {0};
    const int state = adjtimex(&t);
    s->clock_known = state >= 0;
    s->clock_right = state != TIME_ERROR && (t.status & STA_UNSYNC) == 0;
}

static bool is_bridge(const char *name)
{
    static const char *const beginnings[] = {"docker", "br-", "virbr", "lxcbr",  "lxdbr",
                                             "podman", "cni", "vmnet", "vboxnet"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* 172.17.0.0/16 */
static void network_text(const struct ifaddrs *a, char out[32])
{
    const struct sockaddr_in *address = (const void *)a->ifa_addr,
                             *mask = (const void *)a->ifa_netmask;
    const uint32_t bits = mask != NULL ? mask->sin_addr.s_addr : UINT32_MAX;
    const struct in_addr net = {address->sin_addr.s_addr & bits};
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &net, text, sizeof text);
    snprintf(out, 32, "%s/%d", text, __builtin_popcount(bits));
}

static void add_bridge(struct symptoms *s, const struct ifaddrs *a)
{
    const size_t used = strlen(s->bridges), told = strlen(s->bridge_nets);
    char net[32];
    network_text(a, net);
    if (diagnosis_excludes(s->excludes, a->ifa_name, net) ||
        used + strlen(a->ifa_name) + 2 > sizeof s->bridges ||
        told + strlen(a->ifa_name) + sizeof net + 6 > sizeof s->bridge_nets)
        return;
    snprintf(s->bridges + used, sizeof s->bridges - used, "%s%s", used > 0 ? "," : "", a->ifa_name);
    snprintf(s->bridge_nets + told, sizeof s->bridge_nets - told, "%s%s (%s)", told > 0 ? ", " : "",
             a->ifa_name, net);
}

static void look_at_interfaces(struct symptoms *s)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0)
        return;
    for (const struct ifaddrs *a = all; a != NULL; a = a->ifa_next)
        if (a->ifa_addr != NULL && a->ifa_addr->sa_family == AF_INET &&
            (a->ifa_flags & IFF_UP) != 0 && is_bridge(a->ifa_name))
            add_bridge(s, a);
    freeifaddrs(all);
    s->only_loopback = defaults_only_loopback();
}

static bool file_says(const char *path, const char *line)
{
    char text[LINE];
    bool found = false;
    FILE *f = fopen(path, "re");
    while (f != NULL && !found && fgets(text, sizeof text, f) != NULL)
        found = strncmp(text, line, strlen(line)) == 0;
    if (f != NULL)
        fclose(f);
    return found;
}

/* All that the command prints; false: it failed. malloc'd. */
static bool command_prints(const char *command, char **out)
{
    size_t size = 0, n;
    char piece[4096];
    FILE *f = popen(command, "re"), *text = open_memstream(out, &size);
    while (f != NULL && text != NULL && (n = fread(piece, 1, sizeof piece, f)) > 0)
        fwrite(piece, 1, n, text);
    if (text != NULL)
        fclose(text);
    return f != NULL && pclose(f) == 0 && text != NULL;
}

static bool refused_by(struct symptoms *s, const char *command, const char *name,
                       bool (*refuses)(const char *rules))
{
    char *rules = NULL;
    const bool read = command_prints(command, &rules);
    const bool refused = read && refuses(rules);
    s->rules_hidden = s->rules_hidden && !read;
    if (refused)
        snprintf(s->firewall, sizeof s->firewall, "%s", name);
    free(rules);
    return refused;
}

/* Whether ufw, firewalld or nftables is switched on, all can read; rules that somebody has made by
 * hand, only root. iptables comes first: nft shows its rules, too. */
static void look_at_firewall(struct symptoms *s)
{
    if (file_says("/etc/ufw/ufw.conf", "ENABLED=yes")) {
        strcpy(s->firewall, "ufw");
        return;
    }
    if (access("/run/firewalld", F_OK) == 0) {
        strcpy(s->firewall, "firewalld");
        return;
    }
    s->rules_hidden = geteuid() != 0;
    if (refused_by(s, TOOL_PATH "iptables-save 2>/dev/null", "iptables",
                   diagnosis_iptables_refuses) ||
        refused_by(s, TOOL_PATH "nft list ruleset 2>/dev/null", "nftables", diagnosis_nft_refuses))
        return;
    if (s->rules_hidden &&
        access("/etc/systemd/system/sysinit.target.wants/nftables.service", F_OK) == 0)
        strcpy(s->firewall, "nftables");
    else if (s->rules_hidden && access("/etc/systemd/system/multi-user.target.wants/"
                                       "netfilter-persistent.service",
                                       F_OK) == 0)
        strcpy(s->firewall, "iptables");
}

/* The first line that the command prints which begins so, without that; false: none does. */
static bool command_says(const char *command, const char *begins, char *out, size_t size)
{
    char line[LINE];
    bool found = false;
    FILE *f = popen(command, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (!found && strncmp(line, begins, strlen(begins)) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(out, size, "%s", line + strlen(begins));
            found = true;
        }
    if (f != NULL)
        pclose(f);
    return found;
}

static void look_at_ompi(struct symptoms *s)
{
    char rest[LINE];
    if (!command_says("ompi_info --version 2>/dev/null", "Open MPI v", s->ompi, sizeof s->ompi))
        return;
    s->components = command_says("ompi_info --param ras p2p --parsable 2>/dev/null",
                                 "mca:ras:p2p:", rest, sizeof rest);
    s->chosen = command_says(TCP_PARAMETERS, "mca:btl:tcp:param:btl_tcp_if_include:value:", rest,
                             sizeof rest) &&
                rest[0] != '\0';
    if (command_says(TCP_PARAMETERS, "mca:btl:tcp:param:btl_tcp_if_exclude:source:", rest,
                     sizeof rest) &&
        strcmp(rest, "default") != 0)
        (void)command_says(TCP_PARAMETERS,
                           "mca:btl:tcp:param:btl_tcp_if_exclude:value:", s->excludes,
                           sizeof s->excludes);
}

/* What p2pd would find when it is started: the kernel's part of a sandbox, and whether systemd has
 * control groups for what it starts. */
static void look_without_daemon(struct symptoms *s)
{
    char path[LINE];
    if (s->daemon)
        return;
    s->enforces = confine_probe();
    s->views = lanes_probe("/var/tmp"); /* a disk, as that of rooms */
    snprintf(path, sizeof path,
             "/sys/fs/cgroup/user.slice/user-%1$u.slice/user@%1$u.service/cgroup.controllers",
             (unsigned)geteuid());
    FILE *f = fopen(path, "re");
    s->delegates =
        f != NULL && fgets(path, sizeof path, f) != NULL && strstr(path, "memory") != NULL;
    if (f != NULL)
        fclose(f);
}

static void look_at_service(struct symptoms *s)
{
    const struct passwd *user = getpwuid(geteuid());
    snprintf(s->user, sizeof s->user, "%s", user != NULL ? user->pw_name : "you");
    s->systemd = access("/run/systemd/system", F_OK) == 0;
    s->service = service_is_enabled();
    s->lingers = service_lingers(s->user);
}

/* --- what is said --- */

static const char *const state_words[] = {
    [FINDING_GOOD] = "good", [FINDING_NOTE] = "note", [FINDING_BAD] = "bad"};

static void doctor_print(const struct finding *found, size_t count)
{
    const struct tool_style style = tool_style(stdout);
    for (size_t i = 0; i < count; i++) {
        const struct finding *f = &found[i];
        const char *colour = f->state == FINDING_GOOD  ? style.good
                             : f->state == FINDING_BAD ? style.bad
                                                       : style.bold;
        printf("%s%-5s%s %-12s %s\n", colour, state_words[f->state], style.end, f->name, f->text);
        if (f->mend[0] != '\0')
            printf("%-18s -> %s\n", "", f->mend);
    }
}

static void doctor_print_json(const struct finding *found, size_t count)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s}", "name", found[i].name,
                                              "state", state_words[found[i].state], "text",
                                              found[i].text, "mend", found[i].mend));
    tool_print_json(json_pack("{s:o}", "findings", rows));
}

int tool_doctor(int argc, char **argv)
{
    static const struct argp_option options[] = {{"config", 'c', "FILE", 0,
                                                  "p2pd's settings (default: those of the p2pd "
                                                  "that answers, or ~/.config/p2pgrid/p2pd.conf)",
                                                  0},
                                                 {0}};
    static const struct argp_child children[] = {{.argp = &tool_argp}, {0}};
    const struct argp argp = {.options = options,
                              .parser = doctor_parse,
                              .children = children,
                              .doc = "Looks at what can be wrong on this desktop, and says in a "
                                     "line what mends it. Exits with 1 when something is bad; a "
                                     "note is worth reading, and no more."};
    static struct symptoms s;
    static struct finding found[FINDINGS_MOST];
    struct doctor_order o = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    look_at_daemon(&s, &o);
    look_at_keys(&s, &o);
    look_without_daemon(&s);
    look_at_clock(&s);
    look_at_firewall(&s);
    look_at_ompi(&s);
    look_at_interfaces(&s); /* those that Open MPI was not told to leave out */
    look_at_service(&s);
    const size_t count = diagnosis_make(&s, found);
    (o.shared.json ? doctor_print_json : doctor_print)(found, count);
    for (size_t i = 0; i < count; i++)
        if (found[i].state == FINDING_BAD)
            return TOOL_FAILED;
    return TOOL_OK;
}
