/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/survive/fate.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const struct fate_loss host = {FATE_HOST_LOST, 0, "lab1", NULL, 2500};
static const struct fate_loss silent = {FATE_HOST_SILENT, 0, "lab2", NULL, 4020};
static const struct fate_loss hung = {FATE_ORTED_SILENT, 0, "lab4", NULL, 6000};
static const struct fate_loss killed = {FATE_SIGNAL, 9, "lab3", NULL, 1500};
static const struct fate_loss three = {FATE_STATUS, 3, "lab4", NULL, 1600};
static const struct fate_loss quiet = {FATE_NO_FINALIZE, 0, "lab5", NULL, 1700};

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
    assert_true(fate_next_note(f, line, sizeof line));
    assert_string_equal(line, "lab2 fell silent after 3.02 s: rank 0 of lane 0 goes on in lane 1, "
                              "1 left");
    assert_int_equal(fate_lose(f, 0, 1, &hung), FATE_FAILED);
    assert_false(fate_next_note(f, line, sizeof line)); /* another line says why it ends */
    fate_line(f, line, sizeof line);
    assert_non_null(strstr(line, "lane 1 orted on lab4 fell silent after 5.00 s"));
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
        "a-peer-whose-name-is-longer-than-any-name-that-a-peer-may-have-in-the-lab", NULL, 1};
    char line[200], note[60];
    fate_lose(f, 0, 3, &l);
    assert_true(fate_next_note(f, note, sizeof note));
    for (unsigned lane = 0; lane < 8; lane++)
        fate_lose(f, 0, lane, &l);
    memset(line, 'x', sizeof line);
    fate_line(f, line, sizeof line);
    assert_int_equal(strlen(line), sizeof line - 1);
    assert_int_equal(strlen(note), sizeof note - 1);
    fate_free(f);
}

static void expect_not_started(int why, const char *words)
{
    struct fate *f = fate_new(1, 1, 0);
    const struct fate_loss absent = {FATE_NO_START, why, "lab6", NULL, 210};
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

static void expect_note(struct fate *f, const char *wanted)
{
    char note[512];
    assert_true(fate_next_note(f, note, sizeof note));
    assert_string_equal(note, wanted);
}

static void expect_no_note(struct fate *f)
{
    char note[512];
    assert_false(fate_next_note(f, note, sizeof note));
}

static void test_one_line_for_a_desktop(void **state)
{
    (void)state;
    struct fate *f = fate_new(6, 3, 0);
    for (unsigned rank = 1; rank < 4; rank++)
        fate_lose(f, rank, 0, &host);
    fate_lose(f, 5, 1, &host);
    expect_note(f, "lab1 was lost after 2.50 s: ranks 1-3 of lane 0 go on in lane 1, 2 left; "
                   "rank 5 of lane 1 goes on in lane 0, 2 left");
    expect_no_note(f);
    /* the same ranks in lane 1: one has finished meanwhile, one is left with one copy more */
    fate_finish(f, 3, 2);
    for (unsigned rank = 0; rank < 4; rank++)
        fate_lose(f, rank, 1, &silent);
    expect_note(f, "lab2 fell silent after 4.02 s: rank 0 of lane 1 goes on in lane 0, 2 left; "
                   "ranks 1-2 of lane 1 go on in lane 2, 1 left; "
                   "rank 3 of lane 1 has finished in another");
    expect_no_note(f);
    fate_free(f);
}

static void test_processes_of_a_lost_desktop_in_its_line(void **state)
{
    (void)state;
    struct fate *f = fate_new(4, 2, 0);
    const struct fate_loss struck = {FATE_SIGNAL, 9, "lab1", NULL, 2400},
                           ended = {FATE_STATUS, 3, "lab1", NULL, 2300};
    fate_lose(f, 0, 1, &ended); /* by itself */
    fate_lose(f, 1, 1, &struck);
    fate_lose(f, 2, 1, &host);
    fate_lose(f, 3, 0, &silent); /* of another one */
    expect_note(f,
                "rank 0, lane 1: exited with status 3 on lab1 after 2.30 s; it goes on in lane 0, "
                "1 left");
    expect_note(f, "lab1 was lost after 2.50 s: ranks 1-2 of lane 1 go on in lane 0, 1 left");
    expect_note(f, "lab2 fell silent after 4.02 s: rank 3 of lane 0 goes on in lane 1, 1 left");
    expect_no_note(f);
    fate_free(f);
}

static void test_each_process_by_itself(void **state)
{
    (void)state;
    struct fate *f = fate_new(3, 2, 0);
    const struct fate_loss struck = {FATE_SIGNAL, 9, "lab1", NULL, 2400};
    fate_lose(f, 0, 1, &struck);
    fate_lose(f, 1, 1, &struck);
    expect_note(f,
                "rank 0, lane 1: killed by signal 9 (Killed) on lab1 after 2.40 s; it goes on in "
                "lane 0, 1 left");
    expect_note(f,
                "rank 1, lane 1: killed by signal 9 (Killed) on lab1 after 2.40 s; it goes on in "
                "lane 0, 1 left");
    expect_no_note(f);
    fate_free(f);
}

static void test_a_desktop_ends_it_and_one_that_starts_nothing(void **state)
{
    (void)state;
    struct fate *f = fate_new(3, 2, 0);
    const struct fate_loss ends = {FATE_HOST_ENDED, 0, "lab1", "lab1: it needs its memory", 1500},
                           none = {FATE_NO_START, ENOENT, "lab6", NULL, 210};
    fate_lose(f, 0, 1, &ends);
    fate_lose(f, 1, 0, &none);
    fate_lose(f, 2, 0, &none);
    expect_note(f, "lab1: it needs its memory, after 1.50 s: rank 0 of lane 1 goes on in lane 0, "
                   "1 left");
    expect_note(f, "could not be started on lab6 (No such file or directory) after 0.21 s: "
                   "ranks 1-2 of lane 0 go on in lane 1, 1 left");
    expect_no_note(f);
    fate_free(f);
}

static void test_a_note_is_bounded(void **state)
{
    (void)state;
    struct fate *f = fate_new(40, 2, 0);
    for (unsigned rank = 0; rank < 40; rank += 2)
        fate_lose(f, rank, 1, &host);
    expect_note(f,
                "lab1 was lost after 2.50 s: ranks 0, 2, 4, 6, 8, 10, 12, 14 and 12 more of lane "
                "1 go on in lane 0, 1 left");
    fate_free(f);
    enum { LANES = 8 };
    f = fate_new(LANES, LANES, 0);
    for (unsigned lane = 0; lane < LANES; lane++)
        fate_lose(f, lane, lane, &host);
    char note[512];
    assert_true(fate_next_note(f, note, sizeof note));
    assert_non_null(
        strstr(note, "; rank 3 of lane 3 goes on in lane 0, 7 left; and 4 more processes"));
    expect_no_note(f);
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
        cmocka_unit_test(test_one_line_for_a_desktop),
        cmocka_unit_test(test_processes_of_a_lost_desktop_in_its_line),
        cmocka_unit_test(test_each_process_by_itself),
        cmocka_unit_test(test_a_desktop_ends_it_and_one_that_starts_nothing),
        cmocka_unit_test(test_a_note_is_bounded),
        cmocka_unit_test(test_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
