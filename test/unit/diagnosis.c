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
    s.group = false;
    expect(&s, "cgroup", FINDING_NOTE, "no control group", "Delegate=yes");
    strcpy(s.bridges, "docker0,virbr0");
    expect(&s, "bridges", FINDING_NOTE, "docker0,virbr0", "btl_tcp_if_exclude = lo,docker0,virbr0");
    s.excluded = true;
    expect(&s, "bridges", FINDING_GOOD, "was told", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_healthy),
                                       cmocka_unit_test(test_daemon), cmocka_unit_test(test_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
