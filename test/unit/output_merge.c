/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/survive/output_merge.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct screen {
    size_t used;
    char text[1 << 20];
};

static void show(void *context, const void *bytes, size_t count)
{
    struct screen *s = context;
    assert_true(s->used + count <= sizeof s->text);
    memcpy(s->text + s->used, bytes, count);
    s->used += count;
}

static void take(struct output_merge *m, unsigned lane, const char *text)
{
    assert_int_equal(output_merge_add(m, lane, text, strlen(text)), 0);
}

static void assert_screen(const struct screen *s, const char *text)
{
    assert_int_equal(s->used, strlen(text));
    assert_memory_equal(s->text, text, s->used);
}

static struct screen *blank(void **state)
{
    struct screen *s = *state;
    s->used = 0;
    return s;
}

static void test_the_leader_is_shown_at_once_and_once(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(2, 1000, show, s);
    take(m, 0, "one\n");
    take(m, 1, "one\ntwo\n");
    assert_screen(s, "one\n");
    take(m, 0, "two\n");
    take(m, 0, "three\n");
    take(m, 1, "three\n");
    assert_screen(s, "one\ntwo\nthree\n");
    struct output_merge_difference d;
    assert_false(output_merge_differs(m, &d));
    output_merge_free(m);
}

static void test_the_next_lane_takes_over_in_the_middle_of_a_line(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(3, 1000, show, s);
    take(m, 0, "one\ntw");
    take(m, 1, "on");           /* behind */
    take(m, 2, "one\ntwo\nth"); /* ahead */
    output_merge_lose(m, 0);
    assert_int_equal(output_merge_leader(m), 1);
    assert_screen(s, "one\ntw");
    take(m, 0, "late bytes of the dead");
    take(m, 1, "e\ntwo\n");
    assert_screen(s, "one\ntwo\n");
    output_merge_lose(m, 1);
    assert_screen(s, "one\ntwo\nth");
    take(m, 2, "ree\n");
    assert_screen(s, "one\ntwo\nthree\n");
    struct output_merge_difference d;
    assert_false(output_merge_differs(m, &d));
    output_merge_free(m);
}

static void test_finish_shows_the_rest_of_that_lane_and_no_more(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(2, 1000, show, s);
    take(m, 0, "a");
    take(m, 1, "abc");
    output_merge_finish(m, 1);
    assert_screen(s, "abc");
    take(m, 0, "bcd");
    assert_screen(s, "abc");
    output_merge_free(m);
}

static void test_a_new_leader_differs_from_the_last_one(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(2, 1000, show, s);
    struct output_merge_difference d;
    take(m, 0, "pid 17\n");
    output_merge_lose(m, 0); /* lane 1 leads, and has written nothing yet */
    take(m, 1, "pid 18\n");
    assert_true(output_merge_differs(m, &d));
    assert_true(d.lane == 1 && d.shown == 0);
    assert_screen(s, "pid 17\n");
    output_merge_free(m);
}

static void test_a_difference_is_told_once_and_not_shown(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(2, 1000, show, s);
    struct output_merge_difference d;
    take(m, 0, "pid 17\n");
    take(m, 1, "pid ");
    assert_false(output_merge_differs(m, &d));
    take(m, 1, "18\nmore\n");
    assert_true(output_merge_differs(m, &d));
    assert_int_equal(d.lane, 1);
    assert_int_equal(d.shown, 0);
    assert_true(d.from <= 5 && 5 < d.before); /* the 7 is byte 5 */
    take(m, 1, "and more\n");
    take(m, 0, "more\n");
    assert_false(output_merge_differs(m, &d));
    assert_screen(s, "pid 17\nmore\n");
    output_merge_lose(m, 0); /* now the other is followed from where the first had come to */
    take(m, 1, "end\n");
    assert_screen(s, "pid 17\nmore\nand more\nend\n");
    output_merge_free(m);
}

static void test_a_difference_of_a_lane_ahead(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(2, 1000, show, s);
    struct output_merge_difference d;
    take(m, 1, "abcdefgh");
    take(m, 0, "abcd");
    take(m, 0, "eFgh");
    assert_true(output_merge_differs(m, &d));
    assert_int_equal(d.lane, 1);
    assert_true(d.from == 4 && d.before == 8);
    assert_screen(s, "abcdeFgh");
    output_merge_free(m);
}

static void test_a_lane_that_ends_short_differs(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(2, 1000, show, s);
    struct output_merge_difference d;
    take(m, 0, "abcd");
    take(m, 1, "abc");
    output_merge_finish(m, 1);
    assert_true(output_merge_differs(m, &d));
    assert_true(d.lane == 1 && d.shown == 0 && d.from == 3 && d.before == 4);
    assert_screen(s, "abcd");
    output_merge_free(m);
}

static void test_a_lane_far_ahead_becomes_the_leader(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(2, 10, show, s);
    take(m, 0, "0123");
    take(m, 1, "0123456789abcd");
    assert_int_equal(output_merge_leader(m), 0);
    take(m, 1, "efgh");
    assert_int_equal(output_merge_leader(m), 1);
    assert_screen(s, "0123456789abcdefgh");
    take(m, 0, "456");
    assert_screen(s, "0123456789abcdefgh");
    struct output_merge_difference d;
    assert_false(output_merge_differs(m, &d));
    output_merge_free(m);
}

/* A lane that comes long after is compared at the marks, and a difference in its 3rd mark's reach
 * is found. */
static void test_a_late_lane_is_compared(void **state)
{
    struct screen *s = blank(state);
    static char text[100000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 7 + i / 256);
    struct output_merge *m = output_merge_new(3, 1 << 20, show, s);
    struct output_merge_difference d;
    output_merge_add(m, 0, text, sizeof text);
    for (size_t i = 0; i < sizeof text; i += 1000)
        output_merge_add(m, 1, text + i, 1000);
    assert_false(output_merge_differs(m, &d));
    text[9000] ^= 1;
    for (size_t i = 0; i < sizeof text; i += 1000)
        output_merge_add(m, 2, text + i, 1000);
    assert_true(output_merge_differs(m, &d));
    assert_int_equal(d.lane, 2);
    assert_true(d.from == 8192 && d.before == 12288);
    output_merge_free(m);
}

/* Lanes in random pieces, each lost or not at a random moment: as long as one stays, all is shown,
 * once. */
static void test_random_deaths(void **state)
{
    struct screen *s = *state;
    unsigned seed = 7;
    static char text[30000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)rand_r(&seed);
    for (int round = 0; round < 500; round++) {
        enum { LANES = 3 };
        struct output_merge *m =
            output_merge_new(LANES, round % 2 == 0 ? 1 << 20 : 5000, show, blank(state));
        size_t at[LANES] = {0};
        bool dead[LANES] = {false};
        int alive = LANES;
        unsigned last;
        for (;;) {
            unsigned lane = (unsigned)rand_r(&seed) % LANES;
            if (dead[lane])
                continue;
            if (alive > 1 && rand_r(&seed) % 30 == 0) {
                output_merge_lose(m, lane);
                dead[lane] = true;
                alive--;
                continue;
            }
            size_t n = (unsigned)rand_r(&seed) % 2000;
            if (n > sizeof text - at[lane])
                n = sizeof text - at[lane];
            assert_int_equal(output_merge_add(m, lane, text + at[lane], n), 0);
            at[lane] += n;
            last = lane;
            if (at[lane] == sizeof text)
                break;
        }
        output_merge_finish(m, last);
        assert_int_equal(s->used, sizeof text);
        assert_memory_equal(s->text, text, sizeof text);
        struct output_merge_difference d;
        assert_false(output_merge_differs(m, &d));
        output_merge_free(m);
    }
}

static void test_a_stuck_leader_is_passed(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(3, 1000, show, s);
    take(m, 0, "one\n");
    take(m, 1, "one\ntwo\n");
    take(m, 2, "one\ntwo\nthree\n");
    output_merge_check(m);
    assert_screen(s, "one\n");
    take(m, 0, "tw"); /* slow, but not stuck */
    output_merge_check(m);
    assert_screen(s, "one\ntw");
    output_merge_check(m);
    assert_screen(s, "one\ntwo\nthree\n");
    assert_int_equal(output_merge_leader(m), 2);
    output_merge_check(m);
    output_merge_check(m);
    take(m, 0, "o\nthree\nfour\n"); /* it goes on: now it is ahead, and not the leader */
    assert_screen(s, "one\ntwo\nthree\n");
    take(m, 2, "four\n");
    assert_screen(s, "one\ntwo\nthree\nfour\n");
    struct output_merge_difference d;
    assert_false(output_merge_differs(m, &d));
    output_merge_free(m);
}

static void test_a_lane_that_differs_passes_nobody(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(2, 1000, show, s);
    take(m, 1, "two\nthree\n");
    take(m, 0, "one\n");
    for (int i = 0; i < 5; i++)
        output_merge_check(m);
    assert_screen(s, "one\n");
    output_merge_free(m);
}

static void test_the_reason_of_a_lane_ahead_is_revealed(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(3, 1000, show, s);
    char words[OUTPUT_MERGE_LAST_WORDS];
    take(m, 0, "warning\n");
    take(m, 1, "warning\nno such file\n");
    take(m, 2, "warn");
    output_merge_lose(m, 1);
    output_merge_lose(m, 0);
    output_merge_reveal(m);
    assert_screen(s, "warning\nno such file\n");
    for (unsigned lane = 0; lane < 3; lane++)
        assert_int_equal(output_merge_last_words(m, lane, words), 0);
    take(m, 2, "ing\nmore\n"); /* nothing after the end */
    assert_screen(s, "warning\nno such file\n");
    output_merge_free(m);
}

static void test_last_words_that_were_not_shown(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(3, 1000, show, s);
    char words[OUTPUT_MERGE_LAST_WORDS];
    take(m, 0, "warning 0\nwarning 1\nwarning 2\n");
    take(m, 1, "warning 0\nwarped: out of memory\n");
    take(m, 2, "warning 0\nwarning 1\n");
    output_merge_lose(m, 1);
    output_merge_reveal(m);
    assert_screen(s, "warning 0\nwarning 1\nwarning 2\n");
    const size_t count = output_merge_last_words(m, 1, words);
    assert_int_equal(count, strlen("warped: out of memory\n"));
    assert_memory_equal(words, "warped: out of memory\n", count);
    assert_int_equal(output_merge_last_words(m, 0, words), 0);
    assert_int_equal(output_merge_last_words(m, 2, words), 0); /* behind, but the same */
    output_merge_free(m);
}

static void test_last_words_of_much_output(void **state)
{
    struct screen *s = blank(state);
    struct output_merge *m = output_merge_new(2, 1 << 16, show, s);
    static char text[3 * OUTPUT_MERGE_LAST_WORDS], words[OUTPUT_MERGE_LAST_WORDS];
    memset(text, 'x', sizeof text);
    assert_int_equal(output_merge_add(m, 0, text, sizeof text), 0);
    text[sizeof text - 1] = 'y';
    assert_int_equal(output_merge_add(m, 1, text, sizeof text), 0);
    take(m, 1, "the end\n");
    const size_t count = output_merge_last_words(m, 1, words);
    assert_int_equal(count, OUTPUT_MERGE_LAST_WORDS); /* no line begins within what is known */
    assert_memory_equal(words, text + sizeof text - OUTPUT_MERGE_LAST_WORDS,
                        OUTPUT_MERGE_LAST_WORDS);
    output_merge_free(m);
}

int main(void)
{
    static struct screen screen;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_the_leader_is_shown_at_once_and_once, &screen),
        cmocka_unit_test_prestate(test_the_next_lane_takes_over_in_the_middle_of_a_line, &screen),
        cmocka_unit_test_prestate(test_finish_shows_the_rest_of_that_lane_and_no_more, &screen),
        cmocka_unit_test_prestate(test_a_new_leader_differs_from_the_last_one, &screen),
        cmocka_unit_test_prestate(test_a_difference_is_told_once_and_not_shown, &screen),
        cmocka_unit_test_prestate(test_a_difference_of_a_lane_ahead, &screen),
        cmocka_unit_test_prestate(test_a_lane_that_ends_short_differs, &screen),
        cmocka_unit_test_prestate(test_a_lane_far_ahead_becomes_the_leader, &screen),
        cmocka_unit_test_prestate(test_a_late_lane_is_compared, &screen),
        cmocka_unit_test_prestate(test_a_stuck_leader_is_passed, &screen),
        cmocka_unit_test_prestate(test_a_lane_that_differs_passes_nobody, &screen),
        cmocka_unit_test_prestate(test_the_reason_of_a_lane_ahead_is_revealed, &screen),
        cmocka_unit_test_prestate(test_last_words_that_were_not_shown, &screen),
        cmocka_unit_test_prestate(test_last_words_of_much_output, &screen),
        cmocka_unit_test_prestate(test_random_deaths, &screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
