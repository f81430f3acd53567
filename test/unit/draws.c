/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/pml_replica/preload/draws.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const char secret[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
                  other_secret[] =
                      "10112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

static bool begin(struct draws *d, const char *level, const char *process, const char *processes)
{
    const struct draws_of of = {secret, level, process, processes};
    return draws_begin(d, &of);
}

static uint64_t draw(struct draws *d)
{
    uint64_t n;
    draws_take(d, &n, sizeof n);
    return n;
}

static void assert_same(const char *level, const char *a, const char *b, const char *of, bool same)
{
    struct draws x, y;
    assert_true(begin(&x, level, a, of));
    assert_true(begin(&y, level, b, of));
    for (int i = 0; i < 100; i++)
        assert_int_equal(draw(&x) == draw(&y), same);
}

static void test_copies_of_a_rank_draw_the_same(void **state)
{
    (void)state;
    assert_same("2", "1", "5", "8", true);
    assert_same("2", "1", "1", "8", true);
    assert_same("3", "0", "8", "12", true);
    assert_same("0:3,1-:2", "0", "6", "7", true); /* of three ranks */
    assert_same("0:3,1-:2", "2", "5", "7", true);
    assert_same("1:2", "1", "2", "3", true); /* of two */
}

static void test_other_ranks_draw_others(void **state)
{
    (void)state;
    assert_same("2", "1", "2", "8", false);
    assert_same("2", "1", "4", "8", false);
    assert_same("1:2", "0", "2", "3", false);
}

static void test_other_jobs_draw_others(void **state)
{
    (void)state;
    struct draws x, y;
    const struct draws_of a = {secret, "2", "0", "2"}, b = {other_secret, "2", "0", "2"};
    assert_true(draws_begin(&x, &a) && draws_begin(&y, &b));
    assert_true(draw(&x) != draw(&y));
}

static void test_no_two_draws_are_the_same(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    static uint64_t drawn[COUNT];
    struct draws d;
    assert_true(begin(&d, "2", "0", "4"));
    for (int i = 0; i < COUNT; i++) {
        drawn[i] = draw(&d);
        for (int k = 0; k < i; k++)
            assert_true(drawn[i] != drawn[k]);
    }
}

/* Each bit is set in half of what is drawn. */
static void test_they_are_random(void **state)
{
    (void)state;
    static uint8_t much[1 << 16];
    struct draws d;
    unsigned set[8] = {0};
    assert_true(begin(&d, "2", "0", "4"));
    draws_take(&d, much, sizeof much);
    for (size_t i = 0; i < sizeof much; i++)
        for (int bit = 0; bit < 8; bit++)
            set[bit] += much[i] >> bit & 1;
    for (int bit = 0; bit < 8; bit++) /* some eight times the standard deviation */
        assert_in_range(set[bit], sizeof much / 2 - 1024, sizeof much / 2 + 1024);
}

static void test_what_is_missing_or_wrong_is_refused(void **state)
{
    (void)state;
    static const struct draws_of wrong[] = {
        {NULL, "2", "0", "2"},     {"short", "2", "0", "2"}, {secret, NULL, "0", "2"},
        {secret, "2", NULL, "2"},  {secret, "2", "0", NULL}, {secret, "x", "0", "2"},
        {secret, "2", "", "2"},    {secret, "2", "-1", "2"}, {secret, "2", "0x1", "2"},
        {secret, "2", "2", "2"},   {secret, "2", "0", "0"},  {secret, "2", "0", "99999999999999"},
        {secret, "2", " 0", " 2"}, {secret, "2", "0", "2 "},
    };
    struct draws d;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(draws_begin(&d, &wrong[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_of_a_rank_draw_the_same),
        cmocka_unit_test(test_other_ranks_draw_others),
        cmocka_unit_test(test_other_jobs_draw_others),
        cmocka_unit_test(test_no_two_draws_are_the_same),
        cmocka_unit_test(test_they_are_random),
        cmocka_unit_test(test_what_is_missing_or_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
