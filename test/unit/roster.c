/* SPDX-License-Identifier: BSD-3-Clause */
/* roster.c -- jobs are listed with their places, watchers hear of losses and ends, and nobody is
 * believed more than once. */
#include "overlay/watch/notice.h"
#include "overlay/base/recent.h"
#include "overlay/borrow/roster.h"
#include "overlay/client/words.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* What was said, by kind; the last of each. */
static struct {
    unsigned notices, take_overs, jobs, places, dones, outputs;
    struct msg_local_notice notice, take_over;
    struct msg_local_job job;
    struct msg_local_places row;
    struct msg_local_done done;
    struct msg_local_output output;
    char printed[64];
} said;

static void say(void *client, const struct message *m)
{
    (void)client;
    if (m->kind == MSG_local_notice && m->local_notice.what == NOTICE_TAKE_OVER) {
        said.take_overs++;
        said.take_over = m->local_notice;
    } else if (m->kind == MSG_local_notice) {
        said.notices++;
        said.notice = m->local_notice;
    } else if (m->kind == MSG_local_job) {
        said.jobs++;
        said.job = m->local_job;
    } else if (m->kind == MSG_local_places) {
        said.places += m->local_places->places_count;
        said.row = *m->local_places;
    } else if (m->kind == MSG_local_done) {
        said.dones++;
        said.done = m->local_done;
    } else if (m->kind == MSG_local_output) {
        said.outputs++;
        said.output = m->local_output;
        memcpy(said.printed, m->local_output.data, m->local_output.data_length);
        said.printed[m->local_output.data_length] = '\0';
    }
}

static struct msg_local_past heard_past;
static unsigned heard_pasts;

static char heard_output[64];

static void hear_past(void *ctx, const struct msg_local_past *past, const struct recent *output)
{
    uint64_t from = 0;
    (void)ctx;
    heard_past = *past;
    heard_output[recent_read(output, &from, heard_output, sizeof heard_output - 1)] = '\0';
    heard_pasts++;
}

struct room {
    struct notices *notices;
    struct roster *roster;
    int mpirun, other, watcher; /* their addresses are clients */
};

static int set_up(void **state)
{
    static struct room room;
    memset(&said, 0, sizeof said);
    heard_pasts = 0;
    room.notices = notices_new(say);
    room.roster = roster_new(room.notices, say, hear_past, NULL);
    assert_int_equal(notice_watch(room.notices, &room.watcher, false), 0);
    *state = &room;
    return 0;
}

static int tear_down(void **state)
{
    struct room *room = *state;
    roster_free(room->roster);
    notices_free(room->notices);
    return 0;
}

static void begin(struct room *room, unsigned ranks, unsigned lanes)
{
    const struct msg_local_job job = {.ranks = ranks, .lanes = (uint16_t)lanes, .program = "app"};
    roster_job(room->roster, &room->mpirun, 77, &job);
}

static void place(struct room *room, unsigned rank, unsigned lane, enum place_state is)
{
    struct msg_local_places places = {.places_count = 1};
    places.places[0] = (struct part_place){
        .rank = rank, .lane = (uint16_t)lane, .state = (uint8_t)is, .name = "desk4"};
    roster_places(room->roster, &room->mpirun, &places);
}

static void a_job_is_listed_with_its_places(void **state)
{
    struct room *room = *state;
    begin(room, 300, 1);
    for (unsigned i = 0; i < 300; i++)
        place(room, i, 0, PLACE_RUNS);
    place(room, 300, 0, PLACE_RUNS); /* there is no such rank, */
    place(room, 0, 1, PLACE_RUNS);   /* no such lane, */
    place(room, 0, 0, (enum place_state)9);
    roster_tell(room->roster, &room->watcher, 5);
    assert_int_equal(said.jobs, 1);
    assert_string_equal(said.job.name, "mpirun-77");
    assert_int_equal(said.job.pid, 77);
    assert_int_equal(said.places, 300); /* in more than one message */
    assert_int_equal(said.row.token, 5);
    assert_string_equal(said.row.places[0].name, "desk4");
    assert_int_equal(said.dones, 1);
    assert_int_equal(said.done.count, 1);
}

static void a_loss_is_said_once(void **state)
{
    struct room *room = *state;
    begin(room, 2, 2);
    for (unsigned i = 0; i < 4; i++)
        place(room, i % 2, i / 2, PLACE_RUNS);
    assert_int_equal(said.notices, 0);
    place(room, 1, 0, PLACE_LOST);
    place(room, 1, 0, PLACE_LOST);
    assert_int_equal(said.notices, 1);
    assert_int_equal(said.notice.what, NOTICE_REPLICA_LOST);
    assert_int_equal(said.notice.rank, 1);
    assert_int_equal(said.notice.lane, 0);
    assert_int_equal(said.notice.left, 1);
    assert_string_equal(said.notice.job, "mpirun-77");
    assert_string_equal(said.notice.peer_name, "desk4");
    assert_string_equal(said.notice.text, "mpirun-77 lost rank 1, lane 0 on desk4; 1 left");
    place(room, 0, 0, PLACE_FINISHED);
    place(room, 0, 0, PLACE_LOST);
    assert_int_equal(said.notices, 1);
}

/* Two copies in one message: neither goes on in the other's lane. */
static void what_goes_on_is_said(void **state)
{
    struct room *room = *state;
    struct msg_local_places places = {.places_count = 2};
    begin(room, 2, 3);
    for (unsigned i = 0; i < 6; i++)
        place(room, i % 2, i / 2, PLACE_RUNS);
    for (unsigned i = 0; i < 2; i++)
        places.places[i] = (struct part_place){
            .rank = 1, .lane = (uint16_t)i, .state = PLACE_LOST, .name = "desk3"};
    roster_places(room->roster, &room->mpirun, &places);
    roster_places(room->roster, &room->mpirun, &places);
    assert_int_equal(said.notices, 2);
    assert_int_equal(said.take_overs, 2);
    assert_int_equal(said.take_over.rank, 1);
    assert_int_equal(said.take_over.lane, 2);
    assert_int_equal(said.take_over.left, 1);
    assert_int_equal(said.take_over.number, 0); /* for people */
    assert_string_equal(said.take_over.job, "mpirun-77");
    assert_string_equal(said.take_over.peer_name, "desk4");
    assert_string_equal(said.take_over.text,
                        "mpirun-77: rank 1 of lane 1 goes on in lane 2, on desk4");
    place(room, 1, 2, PLACE_LOST); /* nothing goes on */
    assert_int_equal(said.notices, 3);
    assert_int_equal(said.take_overs, 2);
}

static void a_copy_that_was_lost_before_it_was_seen_is_said(void **state)
{
    struct room *room = *state;
    begin(room, 1, 2);
    place(room, 0, 0, PLACE_RUNS);
    place(room, 0, 1, PLACE_LOST);
    assert_int_equal(said.notices, 1);
    assert_int_equal(said.notice.lane, 1);
    assert_int_equal(said.notice.left, 1);
}

static void its_end_is_said_once(void **state)
{
    struct room *room = *state;
    const struct msg_local_job over = {.ranks = 1, .lanes = 1, .over = 1, .status = 3};
    begin(room, 1, 1);
    roster_job(room->roster, &room->mpirun, 77, &over);
    roster_job(room->roster, &room->mpirun, 77, &over);
    roster_forget(room->roster, &room->mpirun);
    roster_forget(room->roster, &room->mpirun);
    assert_int_equal(said.notices, 1);
    assert_int_equal(said.notice.what, NOTICE_JOB_DONE);
    assert_int_equal(said.notice.status, 3);
    assert_int_equal(heard_pasts, 1);
    assert_string_equal(heard_past.name, "mpirun-77");
    assert_string_equal(heard_past.text, "failed");
    assert_int_equal(heard_past.status, 3);
    roster_tell(room->roster, &room->watcher, 1);
    assert_int_equal(said.done.count, 0);
}

static void print(struct room *room, unsigned keep, uint64_t from, const char *text)
{
    const struct msg_local_output output = {.keep = keep,
                                            .from = from,
                                            .data = (const uint8_t *)text,
                                            .data_length = (uint32_t)strlen(text)};
    roster_output(room->roster, &room->mpirun, &output);
}

static void what_it_prints_is_kept(void **state)
{
    struct room *room = *state;
    const struct msg_local_printed all = {.token = 3, .name = "77"},
                                   rest = {.name = "mpirun-77", .from = 12}, other = {.name = "78"};
    print(room, 8, 0, "nobody's");
    begin(room, 1, 1);
    assert_true(roster_printed(room->roster, &room->watcher, &all));
    assert_int_equal(said.output.keep, 0);
    print(room, 8, 0, "");
    assert_true(roster_printed(room->roster, &room->watcher, &all));
    assert_int_equal(said.outputs, 2);
    assert_int_equal(said.dones, 2);
    assert_true(said.output.keep == 8 && said.printed[0] == '\0' && !said.output.over);
    print(room, 8, 0, "0123456789");
    print(room, 1 << 30, 10, "abc"); /* the first word counts */
    assert_true(roster_printed(room->roster, &room->watcher, &all));
    assert_string_equal(said.printed, "56789abc");
    assert_true(said.output.from == 5 && said.output.token == 3);
    assert_string_equal(said.output.name, "mpirun-77");
    assert_true(roster_printed(room->roster, &room->watcher, &rest));
    assert_string_equal(said.printed, "c");
    assert_false(roster_printed(room->roster, &room->watcher, &other));
    print(room, 8, 100, "xy"); /* more than it keeps was printed at once */
    roster_forget(room->roster, &room->mpirun);
    assert_string_equal(heard_output, "xy");
    assert_false(roster_printed(room->roster, &room->watcher, &all));
}

static void one_that_vanishes_has_ended(void **state)
{
    struct room *room = *state;
    begin(room, 1, 1);
    roster_forget(room->roster, &room->mpirun);
    assert_int_equal(said.notices, 1);
    assert_int_equal(said.notice.status, 255);
    assert_int_equal(heard_pasts, 1);
    assert_string_equal(heard_past.text, "mpirun was lost");
}

static void nonsense_is_no_job(void **state)
{
    struct room *room = *state;
    begin(room, 0, 1);
    begin(room, UINT32_MAX, UINT16_MAX);
    place(room, 0, 0, PLACE_RUNS); /* of no job */
    roster_tell(room->roster, &room->watcher, 1);
    assert_int_equal(said.done.count, 0);
    assert_int_equal(said.notices, 0);
}

static void others_are_told_of_it(void **state)
{
    struct room *room = *state;
    const struct id host = {{0}}, stranger = {{9}};
    struct part_grid_job job = {0};
    bool is_host;
    begin(room, 2, 2);
    for (unsigned i = 0; i < 4; i++)
        place(room, i % 2, i / 2, PLACE_RUNS);
    place(room, 1, 1, PLACE_LOST);
    assert_int_equal(roster_count(room->roster), 1);
    roster_describe(room->roster, 0, &host, &job, &is_host);
    assert_true(is_host);
    assert_string_equal(job.name, "mpirun-77");
    assert_int_equal(job.state, GRID_JOB_RUNS);
    assert_int_equal(job.slots, 3);
    assert_int_equal(job.lost, 1);
    assert_int_equal(job.peers, 1);
    roster_describe(room->roster, 0, &stranger, &job, &is_host);
    assert_false(is_host);
}

static bool waits(void *ctx, const void *client, uint32_t *place, uint32_t *free)
{
    (void)ctx, (void)client;
    *place = 2;
    *free = 3;
    return true;
}

static void one_that_waits_is_listed_and_leaves_no_trace(void **state)
{
    struct room *room = *state;
    struct msg_local_job job = {.ranks = 4, .lanes = 1, .waits = 4, .program = "app"};
    const struct msg_local_control hold = {.name = "mpirun-77", .verb = ROSTER_PAUSE};
    struct err e = {0};
    roster_ask_waits(room->roster, waits, NULL);
    roster_job(room->roster, &room->mpirun, 77, &job);
    roster_tell(room->roster, &room->watcher, 5);
    assert_int_equal(said.job.waits, 4);
    assert_int_equal(said.job.place, 2);
    assert_int_equal(said.job.free, 3);
    assert_int_equal(roster_control(room->roster, &hold, &e), -EINVAL);
    roster_forget(room->roster, &room->mpirun);
    assert_int_equal(heard_pasts + said.notices, 0);
    roster_job(room->roster, &room->mpirun, 77, &job);
    job.waits = 0; /* it has its slots */
    roster_job(room->roster, &room->mpirun, 77, &job);
    roster_tell(room->roster, &room->watcher, 5);
    assert_int_equal(said.done.count, 1);
    assert_int_equal(said.job.waits + said.job.place, 0);
    roster_forget(room->roster, &room->mpirun);
    assert_int_equal(heard_pasts, 1);
}

static void only_jobs_that_are_there_take_orders(void **state)
{
    struct room *room = *state;
    struct msg_local_control order = {.name = "mpirun-77", .verb = ROSTER_TERMINATE};
    struct err e = {0};
    assert_int_equal(roster_control(room->roster, &order, &e), -ENOENT);
    begin(room, 1, 1);
    order.verb = ROSTER_RESUME + 1;
    assert_int_equal(roster_control(room->roster, &order, &e), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_is_listed_with_its_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_loss_is_said_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_goes_on_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_copy_that_was_lost_before_it_was_seen_is_said, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(its_end_is_said_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_vanishes_has_ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nonsense_is_no_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_are_told_of_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_waits_is_listed_and_leaves_no_trace, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_it_prints_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_jobs_that_are_there_take_orders, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
