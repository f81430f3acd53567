/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/lease/require.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct part_ad desk(void)
{
    struct part_ad ad = {.cores = 8, .slots = 4, .slots_free = 3, .load = 750};
    strcpy(ad.name, "desk3");
    strcpy(ad.os, "linux");
    strcpy(ad.arch, "x86_64");
    strcpy(ad.libc, "glibc 2.36");
    strcpy(ad.ompi, "4.1.4");
    strcpy(ad.site, "main hall");
    ad.memory = 6ull << 30;
    ad.disk = 100ull << 30;
    ad.labels_count = 2;
    strcpy(ad.labels[0].text, "lab");
    strcpy(ad.labels[1].text, "ssd");
    ad.confinement = 1 << 2;
    ad.groups_count = 1;
    strcpy(ad.groups[0].text, "physics");
    ad.speed = 1500;
    ad.bandwidth = 1000;
    return ad;
}

static bool fits_confined(const char *text, uint32_t confinement)
{
    struct require r;
    struct require_error e;
    struct part_ad ad = desk();
    ad.confinement = confinement;
    if (!require_parse(&r, text, &e))
        fail_msg("%s: '%s' %s (column %u)", text, e.word, e.what, e.column);
    return require_fits(&r, &ad, 12000);
}

static bool fits(const char *text)
{
    return fits_confined(text, desk().confinement);
}

/* Each level needs its own bit and those of all levels before it. */
static void test_levels_of_confinement(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        unsigned bit; /* of part_ad.confinement */
    } levels[] = {{"limits", 0},  {"syscalls", 1}, {"files", 2}, {"sockets", 5},
                  {"signals", 4}, {"tcp", 3},      {"peers", 6}, {"cgroup", 7}};
    char text[64];
    uint32_t upto = 0;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        snprintf(text, sizeof text, "confinement >= %s", levels[i].word);
        assert_false(fits_confined(text, upto));
        upto |= 1u << levels[i].bit;
        assert_true(fits_confined(text, upto));
        assert_true(fits_confined(text, 0xff));
        for (size_t k = 0; k <= i; k++)
            assert_false(fits_confined(text, 0xffu & ~(1u << levels[k].bit)));
        for (size_t k = i + 1; k < sizeof levels / sizeof levels[0]; k++)
            assert_true(fits_confined(text, 0xffu & ~(1u << levels[k].bit)));
    }
}

static void test_fields(void **state)
{
    (void)state;
    static const char *const good[] = {
        "",
        "   ",
        "os == linux",
        "os != windows",
        "arch in (arm64, x86_64)",
        "mem >= 4G",
        "mem == 6G",
        "mem > 6143M",
        "mem < 6.5GiB",
        "disk >= 0.09T",
        "cores >= 2",
        "cores == 8",
        "free == 3",
        "slots > 3",
        "load < 0.76",
        "load >= 0.75",
        "rtt < 20ms",
        "group == physics",
        "group in (chemistry, physics)",
        "speed >= 1500",
        "bandwidth >= 1G",
        "bandwidth < 2.5G",
        "bandwidth > 999M",
        "rtt <= 0.012s",
        "rtt > 11999us",
        "label == lab",
        "label in (office,ssd)",
        "label != office",
        "!label in (office)",
        "ompi >= 4.1",
        "ompi == 4.1",
        "ompi == 4.1.4",
        "ompi < 4.2",
        "ompi != 4.1.5",
        "libc >= 2.30",
        "libc < 2.100",
        "site == \"main hall\"",
        "name == desk3",
        "confinement == files",
        "confinement != tcp",
        "mem >= 4G && cores >= 2 && rtt < 20ms && label in (lab, office)",
        "os == windows && cores > 1 || os == linux",
        "os==linux&&(cores>9||mem>1G)",
        "!(os == windows) && !!os == linux",
    };
    static const char *const bad[] = {
        "os == Linux",
        "os != linux",
        "mem > 6G",
        "mem < 6G",
        "cores > 8",
        "rtt < 12ms",
        "label == office",
        "label in (office, hall)",
        "label != lab",
        "ompi >= 5",
        "ompi > 4.1.4",
        "libc > 2.36",
        "libc < 2.4",
        "site == main",
        "confinement == tcp",
        "load < 0.75",
        "os == linux && cores > 8",
        "!(os == linux)",
        "(os == windows || cores > 9) && mem > 1M",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!fits(good[i]))
            fail_msg("should fit: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (fits(bad[i]))
            fail_msg("should not fit: %s", bad[i]);
}

static void test_errors_have_a_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
        unsigned column;
        const char *what;
    } cases[] = {
        {"mem >= 4X", "4X", 8, "is no size"},
        {"mem >= 4", "4", 8, "is no size"},
        {"mem >=", "", 7, "value is missing"},
        {"colour == red", "colour", 1, "is nothing"},
        {"os = linux", "", 4, "comparison is missing"},
        {"os < linux", "<", 4, "does not compare words"},
        {"os == linux cores > 2", "cores", 13, "&& or || is missing"},
        {"os == linux &&", "", 15, "condition is missing"},
        {"(os == linux", "", 13, "')' is missing"},
        {"os == linux)", ")", 12, "cannot stand here"},
        {"label in lab", "", 10, "'(' is missing"},
        {"label in (lab office)", "", 15, "')' or ',' is missing"},
        {"label in ()", "", 11, "value is missing"},
        {"rtt < 20", "20", 7, "is no time"},
        {"cores > 2G", "2G", 9, "is no number"},
        {"bandwidth > 2X", "2X", 13, "is no bandwidth"},
        {"bandwidth > 2", "2", 13, "is no bandwidth"},
        {"cores > 9999999999", "9999999999", 9, "is no number"},
        {"mem > 99999999999T", "99999999999T", 7, "is no size"},
        {"site == \"hall", "\"hall", 9, "no closing quote"},
        {"ompi > new", "new", 8, "is no version"},
        {"confinement == walls", "walls", 16, "is no confinement"},
        {"confinement >= walls", "walls", 16, "is no confinement"},
        {"confinement > files", ">", 13, "does not compare words"},
        {"confinement <= files", "<=", 13, "does not compare words"},
        {"&& os == linux", "", 1, "condition is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct require r;
        struct require_error e;
        if (require_parse(&r, cases[i].text, &e))
            fail_msg("should be refused: %s", cases[i].text);
        assert_string_equal(e.word, cases[i].word);
        if (strstr(e.what, cases[i].what) == NULL)
            fail_msg("%s: %s", cases[i].text, e.what);
        assert_int_equal(e.column, cases[i].column);
    }
}

static void test_error_as_a_line(void **state)
{
    (void)state;
    struct require r;
    struct require_error e;
    char line[120], text[600];
    assert_false(require_parse(&r, "mem >= 4X", &e));
    require_error_text(&e, "mem >= 4X", line, sizeof line);
    assert_string_equal(line, "mem >= 4X: '4X' is no size, like 512M or 4G (column 8)");
    assert_false(require_parse(&r, "&& os == linux", &e));
    require_error_text(&e, "&& os == linux", line, sizeof line);
    assert_non_null(strstr(line, "&& os == linux: "));
    assert_null(strchr(line, '\''));
    char wide[300];
    memset(text, ' ', 500);
    strcpy(text + 500, "?");
    assert_false(require_parse(&r, text, &e));
    require_error_text(&e, text, wide, sizeof wide); /* the reason is shown, whatever the length */
    assert_non_null(strstr(wide, "(column 501)"));
}

static void test_the_condition_that_fails_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *failing;
    } cases[] = {
        {"os == linux", ""},
        {"cores > 8", "cores > 8"},
        {"os == linux && cores > 8 && mem > 1M", "cores > 8"},
        {"os == linux && (cores > 8 || mem > 1T) && mem > 1M", "(cores > 8 || mem > 1T)"},
        {"os == linux && ! label == lab", "! label == lab"},
        {"label in (hall, \"the office\") && os == linux", "label in (hall, \"the office\")"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct require r;
        struct require_error e;
        struct part_ad ad = desk();
        char line[100], cut[5];
        assert_true(require_parse(&r, cases[i].text, &e));
        require_explain(&r, &ad, 12000, line, sizeof line);
        assert_string_equal(line, cases[i].failing);
        require_explain(&r, &ad, 12000, cut, sizeof cut);
        assert_memory_equal(cut, cases[i].failing, strlen(cut));
    }
}

static void test_bounds(void **state)
{
    (void)state;
    struct require r;
    struct require_error e;
    char text[4000] = "";
    for (int i = 0; i < 1000; i++)
        strcat(text, "(");
    assert_false(require_parse(&r, text, &e));
    text[0] = '\0';
    for (int i = 0; i < 100; i++)
        strcat(text, "free>1||");
    assert_false(require_parse(&r, text, &e));
    assert_string_equal(e.what, "too many conditions");
    memset(text, ' ', sizeof text);
    text[REQUIRE_TEXT + 1] = '\0';
    assert_false(require_parse(&r, text, &e));
    text[REQUIRE_TEXT] = '\0';
    assert_true(require_parse(&r, text, &e));
}

/* Anything made of the words of the language: refused with a column inside the text, or evaluated.
 */
static void test_any_text(void **state)
{
    (void)state;
    static const char *const bits[] = {"mem", "os",    " ",    "&&",  "||", "(",   ")",
                                       "==",  "in",    ",",    "4G",  "<",  "!",   "\"",
                                       "lab", "label", "20ms", "rtt", "x",  "0.5", "=",
                                       ".",   ">=",    "libc", "2.3", "\t", "\xff"};
    struct part_ad ad = desk();
    unsigned parsed = 0;
    srand(3);
    for (int run = 0; run < 200000; run++) {
        struct require r;
        struct require_error e;
        char text[200] = "";
        for (int n = rand() % 14; n > 0; n--)
            strcat(text, bits[(size_t)rand() % (sizeof bits / sizeof bits[0])]);
        if (require_parse(&r, text, &e)) {
            char line[40];
            require_explain(&r, &ad, 5, line, sizeof line);
            assert_true(require_fits(&r, &ad, 5) == (line[0] == '\0'));
            parsed++;
        } else {
            assert_in_range(e.column, 1, strlen(text) + 1);
            assert_non_null(e.what);
        }
    }
    assert_true(parsed > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_levels_of_confinement),
        cmocka_unit_test(test_errors_have_a_column),
        cmocka_unit_test(test_error_as_a_line),
        cmocka_unit_test(test_the_condition_that_fails_is_named),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
