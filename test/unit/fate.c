/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/survive/fate.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const struct fate_loss host = {FATE_HOST_LOST, 0, "lab1", 2500};
static const struct fate_loss silent = {FATE_HOST_SILENT, 0, "lab2", 4020};
static const struct fate_loss hung = {FATE_ORTED_SILENT, 0, "lab4", 6000};
static const struct fate_loss killed = {FATE_SIGNAL, 9, "lab3", 1500};
static const struct fate_loss three = {FATE_STATUS, 3, "lab4", 1600};
static const struct fate_loss quiet = {FATE_NO_FINALIZE, 0, "lab5", 1700};

static void test_done_when_every_rank_finished_somewhere(void **state)
{
    (void)state;
    struct fate *f = fate_new(2, 2, 1000);
    assert_int_equal(fate_finish(f, 0, 1), FATE_ON);
    assert_int_equal(fate_finish(f, 0, 0), FATE_ON); /* the same rank again */
    assert_int_equal(fate_lose(f, 1, 0, &host), FATE_ON);
    assert_int_equal(fate_finish(f, 1, 1), FATE_DONE);
    assert_true(fate_settled(f));
    assert_int_equal(fate_status(f), 0);
    fate_free(f);
}

static void test_over_when_last_replica_is_lost(void **state)
{
    (void)state;
    struct fate *f = fate_new(2, 3, 1000);
    assert_int_equal(fate_lose(f, 1, 0, &host), FATE_ON);
    assert_int_equal(fate_lose(f, 1, 0, &killed), FATE_ON); /* told twice: once */
    assert_int_equal(fate_living_replicas(f, 1), 2);
    assert_int_equal(fate_leader(f, 1), 1);
    assert_int_equal(fate_lose(f, 1, 1, &silent), FATE_ON);
    assert_int_equal(fate_lose(f, 0, 2, &silent), FATE_ON);
    assert_int_equal(fate_lose(f, 1, 2, &killed), FATE_FAILED);
    assert_int_equal(fate_leader(f, 1), 3);
    char line[400];
    fate_line(f, line, sizeof line);
    assert_string_equal(
        line, "every replica of rank 1 is gone, the job ends: lane 0 lab1 was lost after 1.50 s; "
              "lane 1 lab2 fell silent after 3.02 s; "
              "lane 2 killed by signal 9 (Killed) on lab3 after 0.50 s");
    assert_int_equal(fate_status(f), 137);
    assert_int_equal(fate_finish(f, 0, 0), FATE_FAILED); /* the first verdict stands */
    fate_free(f);
}

static void test_spares_what_lives_elsewhere_or_is_done(void **state)
{
    (void)state;
    struct fate *f = fate_new(2, 2, 1000);
    assert_true(fate_spares(f, 0, 0) && fate_spares(f, 0, 1));
    fate_lose(f, 0, 1, &host);
    assert_false(fate_spares(f, 0, 0));
    assert_true(fate_spares(f, 0, 1)); /* it is gone anyway */
    fate_finish(f, 1, 1);
    assert_true(fate_spares(f, 1, 0));
    fate_free(f);
}

static void test_who_was_silent(void **state)
{
    (void)state;
    struct fate *f = fate_new(1, 2, 1000);
    assert_int_equal(fate_lose(f, 0, 0, &silent), FATE_ON);
    char line[400];
    fate_note(f, 0, 0, line, sizeof line);
    assert_string_equal(line, "rank 0, lane 0: lab2 fell silent after 3.02 s; "
                              "it goes on in lane 1, 1 left (a lane is one copy of the job)");
    assert_int_equal(fate_lose(f, 0, 1, &hung), FATE_FAILED);
    fate_note(f, 0, 1, line, sizeof line);
    assert_string_equal(line, "rank 0, lane 1: orted on lab4 fell silent after 5.00 s");
    assert_int_equal(fate_status(f), 1);
    fate_free(f);
}

static void test_finished_rank_cannot_be_lost(void **state)
{
    (void)state;
    struct fate *f = fate_new(2, 2, 0);
    fate_finish(f, 0, 0);
    assert_int_equal(fate_lose(f, 0, 1, &host), FATE_ON);
    assert_int_equal(fate_lose(f, 0, 0, &host), FATE_ON); /* its host, after it had finished */
    assert_true(fate_finished(f, 0));
    fate_finish(f, 1, 0);
    assert_int_equal(fate_verdict(f), FATE_DONE);
    assert_int_equal(fate_lose(f, 1, 1, &host), FATE_DONE);
    fate_free(f);
}

static void test_holes_are_deaths_at_birth(void **state)
{
    (void)state;
    struct fate *f = fate_new(2, 3, 0);
    fate_hole(f, 1, 2);
    assert_int_equal(fate_living_replicas(f, 1), 2);
    assert_int_equal(fate_lose(f, 1, 0, &host), FATE_ON);
    assert_int_equal(fate_lose(f, 1, 1, &host), FATE_FAILED);
    assert_int_equal(fate_status(f), 1);
    char line[300];
    fate_line(f, line, sizeof line);
    assert_null(strstr(line, "lane 2"));
    fate_free(f);
}

/* Every order and mix of two losses of one rank against the status that must come of it. */
static void test_status_is_the_first_real_error(void **state)
{
    (void)state;
    static const struct {
        const struct fate_loss *first, *second;
        int status;
    } cases[] = {
        {&host, &silent, 1},  {&host, &killed, 137}, {&killed, &host, 137}, {&killed, &three, 3},
        {&three, &killed, 3}, {&host, &three, 3},    {&three, &three, 3},   {&quiet, &three, 1},
        {&three, &quiet, 3},  {&quiet, &host, 1},    {&silent, &quiet, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fate *f = fate_new(1, 2, 0);
        fate_lose(f, 0, 1,
                  cases[i].first); /* the order of the losses counts, not that of the lanes */
        assert_int_equal(fate_lose(f, 0, 0, cases[i].second), FATE_FAILED);
        assert_int_equal(fate_status(f), cases[i].status);
        fate_free(f);
    }
}

/* Every history of three replicas of two ranks: what each does in turn, against a count by hand. */
static void test_every_history(void **state)
{
    (void)state;
    enum { RANKS = 2, LANES = 3, EVENTS = RANKS * LANES };
    for (unsigned finishes = 0; finishes < 1u << EVENTS; finishes++)
        for (unsigned first = 0; first < EVENTS; first++) {
            struct fate *f = fate_new(RANKS, LANES, 0);
            unsigned living[RANKS] = {LANES, LANES};
            bool finished[RANKS] = {false, false};
            enum fate_verdict want = FATE_ON;
            for (unsigned i = 0; i < EVENTS; i++) {
                unsigned who = (first + i * 5) % EVENTS, rank = who % RANKS, lane = who / RANKS;
                bool ends_well = (finishes >> who & 1) != 0;
                living[rank]--;
                finished[rank] = finished[rank] || ends_well;
                if (want == FATE_ON && !finished[rank] && living[rank] == 0)
                    want = FATE_FAILED;
                if (want == FATE_ON && finished[0] && finished[1])
                    want = FATE_DONE;
                assert_int_equal(ends_well ? fate_finish(f, rank, lane)
                                           : fate_lose(f, rank, lane, &three),
                                 want);
                assert_int_equal(fate_living_replicas(f, rank), living[rank]);
            }
            assert_int_not_equal(fate_verdict(f), FATE_ON);
            assert_int_equal(fate_status(f), want == FATE_FAILED ? 3 : 0);
            fate_free(f);
        }
}

static void test_lines_are_bounded(void **state)
{
    (void)state;
    struct fate *f = fate_new(1, 8, 0);
    struct fate_loss l = {
        FATE_HOST_LOST, 0,
        "a-peer-whose-name-is-longer-than-any-name-that-a-peer-may-have-in-the-lab", 1};
    for (unsigned lane = 0; lane < 8; lane++)
        fate_lose(f, 0, lane, &l);
    char line[200], note[60];
    memset(line, 'x', sizeof line);
    fate_line(f, line, sizeof line);
    assert_int_equal(strlen(line), sizeof line - 1);
    fate_note(f, 0, 3, note, sizeof note);
    assert_int_equal(strlen(note), sizeof note - 1);
    fate_free(f);
}

static void expect_not_started(int why, const char *words)
{
    struct fate *f = fate_new(1, 1, 0);
    const struct fate_loss absent = {FATE_NO_START, why, "lab6", 210};
    assert_int_equal(fate_lose(f, 0, 0, &absent), FATE_FAILED);
    char line[200];
    fate_line(f, line, sizeof line);
    assert_string_equal(strstr(line, "lane 0"), words);
    fate_free(f);
}

static void test_note_says_why_it_did_not_start(void **state)
{
    (void)state;
    expect_not_started(ENOENT, "lane 0 could not be started on lab6 (No such file or directory) "
                               "after 0.21 s");
    expect_not_started(EACCES, "lane 0 could not be started on lab6 (no such program there, or it "
                               "may not be executed) after 0.21 s");
    expect_not_started(0, "lane 0 could not be started on lab6 after 0.21 s");
}

static void test_note_says_where_it_goes_on(void **state)
{
    (void)state;
    struct fate *f = fate_new(4, 3, 0);
    fate_lose(f, 3, 0, &host);
    char note[200];
    fate_note(f, 3, 0, note, sizeof note);
    assert_string_equal(note,
                        "rank 3, lane 0: lab1 was lost after 2.50 s; it goes on in lane 1, 2 left "
                        "(a lane is one copy of the job)");
    fate_lose(f, 2, 0, &host);
    fate_note(f, 2, 0, note, sizeof note);
    assert_string_equal(note,
                        "rank 2, lane 0: lab1 was lost after 2.50 s; it goes on in lane 1, 2 left");
    fate_free(f);
}

static void test_summary(void **state)
{
    (void)state;
    struct fate *f = fate_new(2, 3, 1000);
    char line[200];
    fate_hole(f, 1, 2);
    fate_lose(f, 0, 0, &silent);
    fate_lose(f, 0, 1, &hung);
    fate_lose(f, 1, 0, &silent);
    assert_false(fate_summary(f, 13340, line, sizeof line));
    fate_finish(f, 0, 2);
    fate_finish(f, 1, 1);
    assert_true(fate_summary(f, 13340, line, sizeof line));
    assert_string_equal(
        line, "done after 12.34 s, although 3 of 5 processes were lost: 2 on lab2, 1 on lab4");
    fate_free(f);
    f = fate_new(1, 1, 0);
    fate_finish(f, 0, 0);
    assert_false(fate_summary(f, 1, line, sizeof line));
    fate_free(f);
}

/* Who is behind when the job is done may finish, too. */
static void test_others_may_finish(void **state)
{
    (void)state;
    struct fate *f = fate_new(1, 4, 1000);
    fate_hole(f, 0, 3);
    assert_int_equal(fate_finish(f, 0, 1), FATE_DONE);
    assert_false(fate_settled(f));
    assert_int_equal(fate_grace(f, 1500), 2000);
    assert_int_equal(fate_grace(f, 1000 + 100 * 1000), 10 * 1000);
    assert_int_equal(fate_grace(f, 1000 + 7ull * 86400 * 1000), 60 * 1000);
    assert_int_equal(fate_finish(f, 0, 0), FATE_DONE);
    assert_false(fate_settled(f));
    assert_int_equal(fate_lose(f, 0, 2, &killed), FATE_DONE);
    assert_true(fate_settled(f));
    fate_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_done_when_every_rank_finished_somewhere),
        cmocka_unit_test(test_others_may_finish),
        cmocka_unit_test(test_over_when_last_replica_is_lost),
        cmocka_unit_test(test_spares_what_lives_elsewhere_or_is_done),
        cmocka_unit_test(test_who_was_silent),
        cmocka_unit_test(test_finished_rank_cannot_be_lost),
        cmocka_unit_test(test_holes_are_deaths_at_birth),
        cmocka_unit_test(test_status_is_the_first_real_error),
        cmocka_unit_test(test_every_history),
        cmocka_unit_test(test_lines_are_bounded),
        cmocka_unit_test(test_note_says_why_it_did_not_start),
        cmocka_unit_test(test_note_says_where_it_goes_on),
        cmocka_unit_test(test_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
