/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c -- what p2pd.conf may say, and the line that a wrong one is answered with. */
#include "overlay/base/confinement.h"
#include "overlay/settings/settings.h"
#include "overlay/base/log.h"
#include "overlay/base/size.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static int read_text(struct settings *s, const char *text, struct err *e)
{
    char path[] = "/tmp/p2pgrid-settings-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    int rc = settings_read(s, path, e);
    unlink(path);
    return rc;
}

static void test_defaults(void **state)
{
    (void)state;
    struct settings s;
    struct err e = {0};
    assert_int_equal(read_text(&s, "", &e), 0);
    assert_string_equal(s.listen, "*:7117");
    assert_string_equal(s.socket, "");
    assert_string_equal(s.keys, "/home/alder/.config/p2pgrid/keys");
    assert_int_equal(s.slots, 0);
    assert_false(s.lan);
    assert_int_equal(s.log_level, LOG_LEVEL_INFO);
}

static void test_everything_said(void **state)
{
    (void)state;
    struct settings s;
    struct err e = {0};
    assert_int_equal(read_text(&s,
                               "# a desktop\n"
                               "site = \"north\"\n"
                               "labels = {\"lab\", \"quiet\"}\n"
                               "listen = \"[::1]:7001\"\n"
                               "address = \"alder.example.org:7001\"\n"
                               "join = {\"127.0.0.1:7002\", \"birch.example.org\"}\n"
                               "keys = \"~/keys\"\n"
                               "state = \"/var/tmp/state\"\n"
                               "slots = 3\n"
                               "memory = \"4G\"\n"
                               "disk = 512M\n"
                               "lan = true\n"
                               "log = debug\n",
                               &e),
                     0);
    assert_string_equal(s.labels[1], "quiet");
    assert_int_equal(s.label_count, 2);
    assert_true(s.lan);
    assert_string_equal(s.join[1], "birch.example.org");
    assert_int_equal(s.join_count, 2);
    assert_string_equal(s.keys, "/home/alder/keys");
    assert_int_equal(s.memory, 4ull << 30);
    assert_int_equal(s.disk, 512ull << 20);
    assert_int_equal(s.slots, 3);
    assert_int_equal(s.log_level, LOG_LEVEL_DEBUG);
}

static void refused(const char *text, const char *part)
{
    struct settings s = {.slots = 77};
    struct err e = {0};
    assert_true(read_text(&s, text, &e) < 0);
    if (strstr(e.text, part) == NULL)
        fail_msg("'%s' does not say '%s'", e.text, part);
    assert_null(strchr(e.text, '\n'));
    assert_int_equal(s.slots, 77);
}

static void test_terms(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "hours = {\"mon-\"}\n",
        "confinement = {\"walls\"}\n",
        "owner_returns = \"shout\"\n",
        "idle_minutes = -1\n",
        "nice = 20\n",
        "allow = {\"\"}\n",
        "readable = {\"relative\"}\n",
        "processes = 1\n",
    };
    struct settings s;
    struct err e = {0};
    assert_int_equal(read_text(&s, "", &e), 0);
    assert_int_equal(s.confinement, CONFINE_USUAL);
    assert_int_equal(s.allow_count, 1);
    assert_string_equal(s.allow[0], "all");
    assert_int_equal(s.hours_count + s.deny_count, 0);
    assert_int_equal(read_text(&s,
                               "allow = {}\n"
                               "deny = {\"@students\", \"birch\"}\n"
                               "hours = {\"mon-fri 18:00-08:00\", \"sat,sun\"}\n"
                               "only_when_idle = true\n"
                               "owner_returns = leave\n"
                               "confinement = {\"files\"}\n"
                               "readable = {\"/opt/lab\"}\n",
                               &e),
                     0);
    assert_int_equal(s.allow_count, 0);
    assert_int_equal(s.deny_count, 2);
    assert_int_equal(s.hours_count, 2);
    assert_string_equal(s.hours_text[1], "sat,sun");
    assert_true(s.idle_only);
    assert_int_equal(s.owner_back, SETTINGS_LEAVE);
    assert_int_equal(s.confinement, CONFINE_FILES);
    assert_string_equal(s.readable[0], "/opt/lab");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct err why = {0};
        assert_int_equal(read_text(&s, wrong[i], &why), -EINVAL);
        assert_int_equal(s.owner_back, SETTINGS_LEAVE); /* untouched */
    }
}

static void test_wrong_ones(void **state)
{
    (void)state;
    refused("slots = 2\nslotz = 3\n", "line 2: no such option 'slotz'");
    refused("slots = many\n", "line 1");
    refused("slots = -1\n", "slots = -1: must be 0 to 4096");
    refused("memory = 4X\n", "memory = '4X' is no size");
    refused("listen = \"alder:99\"\n", "'alder' is no IPv4 or IPv6 address");
    refused("join = {\"x:99999\"}\n", "'99999' is no port");
    refused("log = loud\n", "must be error, warning, info or debug");
    refused("keys = here\n", "must begin with / or ~/");
    refused("labels = {\"\"}\n", "1 to 32 characters");
    refused("site = \"0123456789012345678901234567890123456789012345678901234567890123\"\n",
            "longer than 63");
}

static void test_missing_file(void **state)
{
    (void)state;
    struct settings s;
    struct err e = {0}, none = {0};
    assert_int_equal(settings_read(&s, NULL, &none), 0); /* /home/alder is not there */
    assert_int_equal(settings_read(&s, "/nowhere/p2pd.conf", &e), -ENOENT);
    assert_non_null(strstr(e.text, "/nowhere/p2pd.conf"));
}

static void test_sizes(void **state)
{
    (void)state;
    uint64_t n;
    assert_true(size_parse(&n, "0") && n == 0);
    assert_true(size_parse(&n, "3K") && n == 3072);
    assert_true(size_parse(&n, "2T") && n == 2ull << 40);
    assert_false(size_parse(&n, "") || size_parse(&n, "-1") || size_parse(&n, "4GB") ||
                 size_parse(&n, "G") || size_parse(&n, "18446744073709551616") ||
                 size_parse(&n, "18446744073709551615K"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),     cmocka_unit_test(test_everything_said),
        cmocka_unit_test(test_terms),        cmocka_unit_test(test_wrong_ones),
        cmocka_unit_test(test_missing_file), cmocka_unit_test(test_sizes),
    };
    setenv("HOME", "/home/alder", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
