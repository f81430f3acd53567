/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/tools/diagnosis.h"
#include "overlay/base/confinement.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct symptoms healthy = {.daemon = true,
                                        .service = true,
                                        .systemd = true,
                                        .lingers = true,
                                        .user = "ada",
                                        .certificate = true,
                                        .days = 300,
                                        .clock_known = true,
                                        .clock_right = true,
                                        .listen = "*:7117",
                                        .port = 7117,
                                        .peers = 3,
                                        .ompi = "4.1.4",
                                        .components = true,
                                        .enforces = CONFINE_USUAL,
                                        .required = CONFINE_USUAL,
                                        .views = LANES_OVERLAY,
                                        .group = true,
                                        .controllers = "memory pids"};

static struct finding found[FINDINGS_MOST];
static size_t count;

static const struct finding *of(const struct symptoms *s, const char *name)
{
    count = diagnosis_make(s, found);
    for (size_t i = 0; i < count; i++)
        if (strcmp(found[i].name, name) == 0)
            return &found[i];
    fail_msg("nothing is said of %s", name);
    return NULL;
}

static void test_healthy(void **state)
{
    (void)state;
    (void)of(&healthy, "daemon");
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].state, FINDING_GOOD);
        assert_true(found[i].text[0] != '\0');
        assert_string_equal(found[i].mend, "");
    }
}

static void expect(const struct symptoms *s, const char *name, enum finding_state is,
                   const char *text, const char *mend)
{
    const struct finding *f = of(s, name);
    assert_int_equal(f->state, is);
    assert_non_null(strstr(f->text, text));
    assert_non_null(strstr(f->mend, mend));
}

static void test_daemon(void **state)
{
    (void)state;
    struct symptoms s = healthy;
    s.daemon = false;
    strcpy(s.daemon_why, "no p2pd answers");
    expect(&s, "daemon", FINDING_BAD, "no p2pd answers", "p2pctl service install");
    s.certificate = false;
    strcpy(s.certificate_why, "no key");
    expect(&s, "daemon", FINDING_BAD, "no p2pd answers", "p2pctl join TOKEN");
    expect(&s, "certificate", FINDING_BAD, "no key", "p2pctl join TOKEN");
}

static void test_each(void **state)
{
    (void)state;
    struct symptoms s = healthy;
    s.lingers = false;
    expect(&s, "service", FINDING_NOTE, "when you log in", "sudo loginctl enable-linger ada");
    s.service = false;
    expect(&s, "service", FINDING_NOTE, "reboot", "p2pctl service install");
    s.systemd = false;
    expect(&s, "service", FINDING_NOTE, "reboot", "crontab");
    s.days = -2;
    expect(&s, "certificate", FINDING_BAD, "ended 2 days ago", "clock");
    s.days = 3;
    expect(&s, "certificate", FINDING_NOTE, "ends in 3 days", "authority");
    s.clock_right = false;
    expect(&s, "clock", FINDING_NOTE, "nobody keeps the clock", "timesyncd");
    strcpy(s.firewall, "ufw");
    expect(&s, "network", FINDING_NOTE, "port 7117",
           "sudo ufw allow 7117 && sudo ufw allow 32768:60999/tcp");
    s.port = 0;
    expect(&s, "network", FINDING_NOTE, "any free port", "listen");
    s.only_loopback = true;
    expect(&s, "network", FINDING_BAD, "no network", "plug");
    s.silent = 1;
    expect(&s, "peers", FINDING_NOTE, "1 did not", "doctor there");
    s.peers = 1;
    expect(&s, "peers", FINDING_NOTE, "no other peer", "join");
    s.components = false;
    expect(&s, "openmpi", FINDING_BAD, "does not find the plug-ins", "make install");
    strcpy(s.ompi, "5.0.1");
    expect(&s, "openmpi", FINDING_BAD, "for 4.1", "PATH");
    s.ompi[0] = '\0';
    expect(&s, "openmpi", FINDING_BAD, "not in PATH", "openmpi-bin");
    s.enforces = CONFINE_USUAL & ~(unsigned)CONFINE_SIGNALS;
    expect(&s, "sandbox", FINDING_NOTE, "(signals)", "userns");
    s.views = LANES_COPIES;
    expect(&s, "files", FINDING_NOTE, "whole copy", "ext4");
    s.views = LANES_ASIDE;
    expect(&s, "files", FINDING_NOTE, "another path", "max_user_namespaces");
    s.group = false;
    expect(&s, "cgroup", FINDING_NOTE, "no control group", "Delegate=yes");
    strcpy(s.bridges, "docker0,virbr0");
    strcpy(s.bridge_nets, "docker0 (172.17.0.0/16), virbr0 (192.168.122.0/24)");
    expect(&s, "bridges", FINDING_NOTE, "docker0 (172.17.0.0/16), virbr0 (192.168.122.0/24): ",
           "btl_tcp_if_exclude = lo,docker0,virbr0");
    strcpy(s.excludes, "lo,br-1");
    expect(&s, "bridges", FINDING_NOTE, "docker0", "btl_tcp_if_exclude = lo,br-1,docker0,virbr0");
    s.chosen = true;
    expect(&s, "bridges", FINDING_GOOD, "was told", "");
}

static void test_firewalls(void **state)
{
    (void)state;
    struct symptoms s = healthy;
    strcpy(s.firewall, "iptables");
    expect(&s, "network", FINDING_NOTE, "iptables is switched on",
           "sudo iptables -I INPUT -p tcp -m multiport --dports 7117,32768:60999 -j ACCEPT");
    strcpy(s.firewall, "nftables");
    expect(&s, "network", FINDING_NOTE, "nftables is switched on",
           "tcp dport { 7117, 32768-60999 } accept");
    s.firewall[0] = '\0';
    s.rules_hidden = true;
    expect(&s, "network", FINDING_GOOD, "only root can read its rules", "");
    assert_true(diagnosis_iptables_refuses("*filter\n:INPUT DROP [0:0]\nCOMMIT\n"));
    assert_true(
        diagnosis_iptables_refuses(":INPUT ACCEPT [0:0]\n-A INPUT -i lo -j ACCEPT\n"
                                   "-A INPUT -j REJECT --reject-with icmp-port-unreachable\n"));
    assert_false(diagnosis_iptables_refuses(":INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n"
                                            "-A FORWARD -j DROP\n-A INPUT -i lo -j ACCEPT\n"));
    assert_true(diagnosis_nft_refuses("table inet filter {\n\tchain input {\n\t\ttype filter hook "
                                      "input priority filter; policy drop;\n\t}\n}\n"));
    assert_true(diagnosis_nft_refuses("\tchain input {\n\t\ttype filter hook input priority 0; "
                                      "policy accept;\n\t\ttcp dport 7117 reject\n\t}\n"));
    assert_false(diagnosis_nft_refuses(
        "\tchain input {\n\t\ttype filter hook input priority 0; policy accept;\n\t}\n\tchain "
        "FORWARD {\n\t\ttype filter hook forward priority 0; policy drop;\n\t\tdrop\n\t}\n"));
    assert_false(diagnosis_nft_refuses(""));
}

static void test_excluded(void **state)
{
    (void)state;
    assert_true(diagnosis_excludes("lo,docker0", "docker0", "172.17.0.0/16"));
    assert_true(diagnosis_excludes("127.0.0.1/8,172.17.0.0/16", "docker0", "172.17.0.0/16"));
    assert_false(diagnosis_excludes("lo,docker01", "docker0", "172.17.0.0/16"));
    assert_false(diagnosis_excludes("", "docker0", "172.17.0.0/16"));
}

static void test_without_daemon(void **state)
{
    (void)state;
    struct symptoms s = healthy;
    s.daemon = s.group = false;
    expect(&s, "cgroup", FINDING_NOTE, "no control group", "p2pctl service install");
    s.delegates = true;
    expect(&s, "cgroup", FINDING_GOOD, "systemd gives", "");
    s.enforces = 0;
    expect(&s, "sandbox", FINDING_NOTE, "none are let in", "namespaces");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_healthy),  cmocka_unit_test(test_daemon),
        cmocka_unit_test(test_each),     cmocka_unit_test(test_firewalls),
        cmocka_unit_test(test_excluded), cmocka_unit_test(test_without_daemon)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
