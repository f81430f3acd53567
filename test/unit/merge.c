/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/files/merge.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 4 };

static const unsigned low[] = {0, 1}, high[] = {2, 3}, all[] = {0, 1, 2, 3};
static const enum merge_state done[] = {MERGE_FINISHED, MERGE_FINISHED, MERGE_FINISHED,
                                        MERGE_FINISHED},
                              cut[] = {MERGE_STARTED, MERGE_STARTED, MERGE_STARTED, MERGE_STARTED},
                              never[] = {MERGE_NOT_STARTED, MERGE_NOT_STARTED, MERGE_NOT_STARTED,
                                         MERGE_NOT_STARTED};

static struct merge_source source(unsigned lane, const unsigned *ranks, size_t count,
                                  const enum merge_state *states)
{
    return (struct merge_source){
        .lane = lane, .ranks = ranks, .rank_count = count, .states = states, .reached = true};
}

static void test_one_lane_gives_all(void **state)
{
    uint8_t room[RANKS];
    struct merge_source s[] = {source(1, low, 2, done), source(0, high, 2, done),
                               source(0, low, 2, done), source(1, high, 2, done)};
    (void)state;
    assert_int_equal(merge_choose(s, 4, room, RANKS), 0);
    assert_int_equal(s[0].order, MERGE_UNUSED);
    assert_int_equal(s[1].order, 1);
    assert_int_equal(s[2].order, 1);
    assert_int_equal(s[3].order, MERGE_UNUSED);
}

static void test_what_a_lost_peer_had_comes_from_another_lane(void **state)
{
    uint8_t room[RANKS];
    struct merge_source s[] = {source(0, low, 2, done), source(0, high, 2, done),
                               source(1, all, 4, cut)};
    (void)state;
    s[1].reached = false;
    assert_int_equal(merge_choose(s, 3, room, RANKS), 0);
    assert_int_equal(s[0].order, 1);
    assert_int_equal(s[1].order, MERGE_UNUSED);
    assert_int_equal(s[2].order, 2);
    s[2].reached = false;
    assert_int_equal(merge_choose(s, 3, room, RANKS), 2);
}

static void test_the_lane_that_finished_more_comes_first(void **state)
{
    uint8_t room[RANKS];
    struct merge_source s[] = {source(0, all, 4, cut), source(1, all, 4, done)};
    (void)state;
    assert_int_equal(merge_choose(s, 2, room, RANKS), 0);
    assert_int_equal(s[0].order, MERGE_UNUSED);
    assert_int_equal(s[1].order, 1);
}

static void test_what_never_ran_gives_way_to_what_did(void **state)
{
    uint8_t room[RANKS];
    struct merge_source s[] = {source(0, all, 4, never), source(1, all, 4, cut)};
    (void)state;
    assert_int_equal(merge_choose(s, 2, room, RANKS), 0);
    assert_int_equal(s[0].order, MERGE_UNUSED);
    assert_int_equal(s[1].order, 1);
    s[1].reached = false; /* nothing is lost of what nobody has begun */
    assert_int_equal(merge_choose(s, 2, room, RANKS), 0);
    assert_int_equal(s[0].order, 1);
}

/* Lane 0 lost the desktop of ranks 2 and 3, lane 1 rank 0 alone, beside rank 1, with half a file:
 * that file comes whole from lane 0, though lane 1 has more that finished. */
static void test_a_source_that_lost_a_rank_comes_last(void **state)
{
    static const enum merge_state half[] = {MERGE_STARTED, MERGE_FINISHED};
    uint8_t room[RANKS];
    struct merge_source s[] = {source(0, low, 2, done), source(0, high, 2, done),
                               source(1, low, 2, half), source(1, high, 2, done)};
    (void)state;
    s[1].reached = false;
    assert_int_equal(merge_choose(s, 4, room, RANKS), 0);
    assert_int_equal(s[0].order, 1);
    assert_int_equal(s[2].order, MERGE_UNUSED);
    assert_int_equal(s[3].order, 2);
}

static void test_what_was_chosen_is_kept_while_it_is_there(void **state)
{
    uint8_t room[RANKS];
    struct merge_source s[] = {source(0, low, 2, done), source(0, high, 2, done),
                               source(1, all, 4, done)};
    (void)state;
    assert_int_equal(merge_choose(s, 3, room, RANKS), 0);
    s[1].reached = false; /* lost on the way: lane 1 is whole, but lane 0's first half is here */
    assert_int_equal(merge_choose(s, 3, room, RANKS), 0);
    assert_int_equal(s[0].order, 1);
    assert_int_equal(s[1].order, MERGE_UNUSED);
    assert_int_equal(s[2].order, 2);
    s[0].order = s[2].order = MERGE_UNUSED; /* nothing is here */
    assert_int_equal(merge_choose(s, 3, room, RANKS), 0);
    assert_int_equal(s[0].order, MERGE_UNUSED);
    assert_int_equal(s[2].order, 1);
}

static void test_of_a_job_that_failed_all_peers_of_a_lane_are_equal(void **state)
{
    static const enum merge_state first[] = {MERGE_FINISHED, MERGE_STARTED};
    uint8_t room[RANKS];
    struct merge_source s[] = {source(0, low, 2, first), source(0, high, 2, cut)};
    (void)state;
    assert_int_equal(merge_choose(s, 2, room, RANKS), 0);
    assert_int_equal(s[0].order, s[1].order);
    assert_int_not_equal(s[1].order, MERGE_UNUSED);
}

/* --- names --- */

static struct merge_name file(const struct merge_source *from, const char *path, size_t size,
                              uint8_t bytes)
{
    struct merge_name n = {.from = from, .digested = true};
    n.what = (struct result){.kind = RESULT_FILE, .path = path, .size = size};
    memset(n.digest, bytes, sizeof n.digest);
    return n;
}

static size_t judge(struct merge_name *names, size_t count)
{
    qsort(names, count, sizeof names[0], merge_compare);
    merge_doubt(names, count);
    return merge_judge(names, count);
}

static const struct merge_name *find(const struct merge_name *names, size_t count,
                                     const struct merge_source *from, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].from == from && strcmp(names[i].what.path, path) == 0)
            return &names[i];
    fail();
    return NULL;
}

static void test_the_same_bytes_are_one_file(void **state)
{
    struct merge_source a = source(0, low, 2, done), b = source(0, high, 2, done);
    (void)state;
    a.order = b.order = 1;
    struct merge_name n[] = {file(&b, "log", 5, 7), file(&a, "log", 5, 7), file(&b, "b.out", 9, 1)};
    assert_int_equal(judge(n, 3), 0);
    assert_true(find(n, 3, &a, "log")->doubtful && find(n, 3, &b, "log")->doubtful);
    assert_false(find(n, 3, &b, "b.out")->doubtful);
    assert_int_equal(find(n, 3, &a, "log")->verdict, MERGE_TAKE);
    assert_int_equal(find(n, 3, &b, "log")->verdict, MERGE_LEAVE);
    assert_int_equal(find(n, 3, &b, "b.out")->verdict, MERGE_TAKE);
}

static void test_other_bytes_are_kept_beside(void **state)
{
    static const unsigned last[] = {3}, third[] = {2};
    struct merge_source a = source(0, low, 2, done), b = source(0, third, 1, done),
                        c = source(0, last, 1, done);
    (void)state;
    a.order = b.order = c.order = 1;
    struct merge_name n[] = {file(&c, "log", 5, 8), file(&b, "log", 5, 8), file(&a, "log", 5, 7)};
    assert_int_equal(judge(n, 3), 1);
    assert_int_equal(find(n, 3, &a, "log")->verdict, MERGE_TAKE);
    assert_int_equal(find(n, 3, &b, "log")->verdict, MERGE_BESIDE);
    assert_int_equal(find(n, 3, &c, "log")->verdict, MERGE_LEAVE);
    n[0].digested = n[1].digested = n[2].digested = false; /* nobody could say */
    assert_int_equal(merge_judge(n, 3), 2);
}

static void test_other_lanes_only_fill_gaps(void **state)
{
    struct merge_source a = source(0, low, 2, done), b = source(1, all, 4, done);
    (void)state;
    a.order = 1;
    b.order = 2;
    struct merge_name n[] = {file(&b, "out.0", 5, 8), file(&b, "out.2", 5, 8),
                             file(&a, "out.0", 5, 7)};
    assert_int_equal(judge(n, 3), 0);
    assert_int_equal(find(n, 3, &a, "out.0")->verdict, MERGE_TAKE);
    assert_int_equal(find(n, 3, &b, "out.0")->verdict, MERGE_LEAVE);
    assert_false(find(n, 3, &b, "out.0")->doubtful);
    assert_int_equal(find(n, 3, &b, "out.2")->verdict, MERGE_TAKE);
}

static void test_kinds(void **state)
{
    struct merge_source a = source(0, low, 2, done), b = source(0, high, 2, done);
    (void)state;
    a.order = b.order = 1;
    struct merge_name n[] = {file(&a, "d", 0, 0),  file(&b, "d", 0, 0), file(&a, "in", 0, 0),
                             file(&b, "in", 3, 0), file(&a, "l", 0, 0), file(&b, "l", 0, 0)};
    n[0].what.kind = n[1].what.kind = RESULT_FOLDER;
    n[2].what.kind = RESULT_GONE;
    n[4].what.kind = n[5].what.kind = RESULT_LINK;
    n[4].what.target = "x";
    n[5].what.target = "y";
    assert_int_equal(judge(n, 6), 1);
    assert_int_equal(find(n, 6, &b, "d")->verdict, MERGE_LEAVE);
    assert_int_equal(find(n, 6, &a, "in")->verdict, MERGE_LEAVE); /* another rank has made it */
    assert_int_equal(find(n, 6, &b, "in")->verdict, MERGE_TAKE);
    assert_int_equal(find(n, 6, &b, "l")->verdict, MERGE_BESIDE);
}

/* --- what is written at all --- */

static void test_paths(void **state)
{
    static const char *const bad[] = {"",     "/",     "/etc/passwd", "..",   "a/../b", "./a",
                                      "a//b", "a/./b", "a/",          "a/..", "../a",   "."};
    char deep[4 * RESULT_DEPTH] = "a", wide[RESULT_NAME + 2];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(result_path_is_sound(bad[i]));
    assert_true(result_path_is_sound("a") && result_path_is_sound("a/b...c/..d"));
    for (int i = 1; i < RESULT_DEPTH; i++)
        strcat(deep, "/a");
    assert_true(result_path_is_sound(deep));
    assert_false(result_path_is_sound(strcat(deep, "/a")));
    memset(wide, 'x', sizeof wide);
    wide[RESULT_NAME + 1] = '\0';
    assert_false(result_path_is_sound(wide));
    wide[RESULT_NAME] = '\0';
    assert_true(result_path_is_sound(wide));
}

static void test_guarded(void **state)
{
    (void)state;
    assert_true(result_path_is_guarded(".git/hooks/pre-commit", false));
    assert_true(result_path_is_guarded("a/.ssh/authorized_keys", false));
    assert_false(result_path_is_guarded(".bashrc", false));
    assert_true(result_path_is_guarded(".bashrc", true));
    assert_false(result_path_is_guarded("a/.gitter", true));
}

static void test_links(void **state)
{
    (void)state;
    assert_true(result_link_stays("a/l", "../b", "/home/ada/job"));
    assert_false(result_link_stays("a/l", "../../b", "/home/ada/job"));
    assert_false(result_link_stays("l", "a/../../job/b", "/home/ada/job"));
    assert_false(result_link_stays("l", "/etc/passwd", "/home/ada/job"));
    assert_false(result_link_stays("l", "/home/ada/jobs", "/home/ada/job"));
    assert_false(result_link_stays("l", "/home/ada/job/../x", "/home/ada/job"));
    assert_true(result_link_stays("l", "/home/ada/job/x", "/home/ada/job"));
    assert_false(result_link_stays("l", "/etc", "/"));
    assert_false(result_link_stays("l", "", "/home/ada/job"));
    assert_true(result_link_stays("a/b/l", "./../../c/d", "/home/ada/job"));
    /* Where k is a link to `.`, this is the folder above. */
    assert_false(result_link_stays("l", "k/k/..", "/home/ada/job"));
    assert_false(result_link_stays("l", "/home/ada/job/k/..", "/home/ada/job"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_lane_gives_all),
        cmocka_unit_test(test_what_a_lost_peer_had_comes_from_another_lane),
        cmocka_unit_test(test_the_lane_that_finished_more_comes_first),
        cmocka_unit_test(test_what_never_ran_gives_way_to_what_did),
        cmocka_unit_test(test_a_source_that_lost_a_rank_comes_last),
        cmocka_unit_test(test_what_was_chosen_is_kept_while_it_is_there),
        cmocka_unit_test(test_of_a_job_that_failed_all_peers_of_a_lane_are_equal),
        cmocka_unit_test(test_the_same_bytes_are_one_file),
        cmocka_unit_test(test_other_bytes_are_kept_beside),
        cmocka_unit_test(test_other_lanes_only_fill_gaps),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_guarded),
        cmocka_unit_test(test_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
