/* SPDX-License-Identifier: BSD-3-Clause */
/* lag.c -- a large send is copied for another lane when that gives no sign of receiving, and not
 * while it takes one message after the other, nor before any receiver has it; at once when the
 * program waits for nothing else. */
#include "src/replica/engine.h"
#include "src/replica/hash.h"
#include "src/replica/header.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 2, LANES = 3, TAG = 3, WINDOW = 8, LENGTH = 128 * 1024 };
enum { OWN = 1, OTHER = 1 + RANKS, THIRD = 1 + 2 * RANKS }; /* the receiver's replicas */

struct scene {
    struct engine *engine;
    struct engine_comm *comm;
    struct engine_send send[WINDOW];
    struct header rts[WINDOW];
    uint64_t hash[WINDOW]; /* of the channel up to and with that message */
    int begun, done;
    int starved; /* a replica that has no turn; 0: all have */
    int near;    /* lanes up to this one are on this host, the others not */
    bool asked[RANKS * LANES];
};

static int on_send(void *ctx, int replica, const uint8_t *header, const void *payload,
                   size_t length, void *cookie)
{
    struct scene *g = ctx;
    struct header h;
    (void)replica, (void)payload, (void)length, (void)cookie;
    assert_true(header_read(&h, header));
    if (h.kind == HEADER_RTS)
        g->rts[g->begun] = h;
    return 1;
}

static void on_lost(void *ctx, int replica, const char *why)
{
    (void)ctx;
    if (replica != OWN)
        fail_msg("lost: %s", why);
}

static void on_sent(void *ctx, struct engine_send *s)
{
    struct scene *g = ctx;
    (void)s;
    g->done++;
}

static void on_received(void *ctx, struct engine_receive *r)
{
    (void)ctx, (void)r;
}

static void on_stop(void *ctx, int status, const char *line)
{
    (void)ctx, (void)status;
    fail_msg("stopped: %s", line);
}

static uint64_t on_turn_ms(void *ctx, int replica, uint64_t gap_ms, bool anew)
{
    struct scene *g = ctx;
    assert_true(anew || g->asked[replica]);
    g->asked[replica] = true;
    return g->starved && (anew || replica == g->starved) ? 0 : gap_ms;
}

static bool on_is_far(void *ctx, int replica)
{
    return replica / RANKS > ((struct scene *)ctx)->near;
}

static void begin_sends(struct scene *g, int count)
{
    static uint8_t bytes[LENGTH];
    for (; g->begun < count; g->begun++) {
        g->hash[g->begun] = hash_roll(g->begun > 0 ? g->hash[g->begun - 1] : 0, TAG, LENGTH);
        g->send[g->begun] = (struct engine_send){
            .comm = g->comm, .to = 1, .tag = TAG, .length = LENGTH, .data = bytes};
        engine_send(g->engine, &g->send[g->begun]);
    }
}

static void begin_engine(void **state, int lanes, const struct engine_limits *limits)
{
    static const struct engine_callbacks callbacks = {.send = on_send,
                                                      .lost = on_lost,
                                                      .turn_ms = on_turn_ms,
                                                      .is_far = on_is_far,
                                                      .sent = on_sent,
                                                      .received = on_received,
                                                      .stop = on_stop};
    static const int members[RANKS] = {0, 1};
    static struct scene scene;
    struct scene *g = *state = &scene;
    *g = (struct scene){.near = LANES};
    g->engine = engine_create(RANKS, lanes, 0, 0, NULL, limits, &callbacks, g);
    g->comm = engine_comm_add(g->engine, members, RANKS, NULL, 0, false);
    engine_progress(g->engine, 1000);
}

static int begin_lanes(void **state, int lanes, size_t copy_rate)
{
    struct engine_limits limits = engine_default_limits;
    limits.copy_rate = copy_rate;
    begin_engine(state, lanes, &limits);
    begin_sends(*state, WINDOW);
    return 0;
}

static int begin(void **state)
{
    return begin_lanes(state, 2, 0);
}

enum { RATE = LENGTH * 1000 / 64 * 36 / 5 }; /* 64 ms of it are 7.2 of the messages */

static int begin_exchange_with_rate(void **state)
{
    static struct engine_receive r;
    struct engine_limits limits = engine_default_limits;
    limits.copy_rate = RATE;
    begin_engine(state, 2, &limits);
    struct scene *g = *state;
    r = (struct engine_receive){.comm = g->comm, .from = 1, .tag = TAG + 1};
    engine_receive(g->engine, &r);
    begin_sends(g, WINDOW);
    return 0;
}

static int begin_one_way_with_an_eighth(void **state)
{
    return begin_lanes(state, 2, RATE / 8);
}

static int begin_one_way_too_long(void **state)
{
    struct engine_limits limits = engine_default_limits;
    limits.copy_rate = RATE / 8;
    limits.copy_alone = LENGTH / 4 - 1;
    begin_engine(state, 2, &limits);
    begin_sends(*state, WINDOW);
    return 0;
}

static int begin_nothing(void **state, size_t copy_alone)
{
    struct engine_limits limits = engine_default_limits;
    limits.copy_rate = 0;
    limits.copy_alone = copy_alone;
    begin_engine(state, 2, &limits);
    return 0;
}

static int begin_alone(void **state)
{
    return begin_nothing(state, LENGTH);
}

static int begin_too_long(void **state)
{
    return begin_nothing(state, LENGTH - 1);
}

/* Of three lanes so many are on this host. */
static int begin_far(void **state, int near, size_t copy_alone, size_t log)
{
    struct engine_limits limits = engine_default_limits;
    limits.copy_rate = 0;
    limits.copy_alone = copy_alone;
    limits.log = log;
    begin_engine(state, LANES, &limits);
    ((struct scene *)*state)->near = near - 1;
    return 0;
}

static int begin_long_to_others(void **state)
{
    return begin_far(state, 1, LENGTH / 4, engine_default_limits.log);
}

static int begin_too_long_to_others(void **state)
{
    return begin_far(state, 1, LENGTH / 4 - 1, engine_default_limits.log);
}

/* Of a log that is no longer than sixteen such messages. */
static int begin_few_to_others(void **state)
{
    return begin_far(state, 1, LENGTH / 4, 16 * LENGTH);
}

static int begin_long_to_this_and_others(void **state)
{
    return begin_far(state, 2, LENGTH / 4, engine_default_limits.log);
}

static int begin_three(void **state)
{
    return begin_lanes(state, LANES, 0);
}

static int end(void **state)
{
    struct scene *g = *state;
    engine_destroy(g->engine);
    return 0;
}

static void have(struct scene *g, int replica, int message)
{
    uint8_t header[HEADER_BYTES];
    struct header h = g->rts[message];
    h.kind = HEADER_HAVE;
    h.length = 0;
    h.extent = g->hash[message];
    header_write(header, &h);
    engine_arrived(g->engine, replica, header, NULL);
}

static uint64_t copies_at(struct scene *g, uint64_t ms)
{
    engine_progress(g->engine, 1000 + ms);
    return engine_counts(g->engine)->late_copies;
}

static void test_no_copy_while_the_lane_receives(void **state)
{
    struct scene *g = *state;
    const unsigned step = engine_default_limits.lag_ms - 2;
    for (int i = 0; i < WINDOW; i++)
        have(g, OWN, i);
    for (int i = 0; i < WINDOW; i++) {
        have(g, OTHER, i);
        assert_int_equal(copies_at(g, (unsigned)(i + 1) * step), 0);
    }
    assert_int_equal(g->done, WINDOW);
}

static void test_a_copy_when_nothing_comes(void **state)
{
    struct scene *g = *state;
    const unsigned lag = engine_default_limits.lag_ms;
    for (int i = 0; i < WINDOW; i++)
        have(g, OWN, i);
    have(g, OTHER, 0);
    assert_int_equal(copies_at(g, lag), 0); /* seen now, though this process did not run before */
    assert_int_equal(copies_at(g, 2 * lag - 1), 0);
    assert_int_equal(copies_at(g, 2 * lag), WINDOW - 1);
    assert_int_equal(g->done, WINDOW);
}

static void test_the_time_of_the_own_lane_does_not_count(void **state)
{
    struct scene *g = *state;
    const unsigned lag = engine_default_limits.lag_ms;
    assert_int_equal(copies_at(g, 5 * lag), 0);
    have(g, OWN, 0);
    assert_int_equal(copies_at(g, 6 * lag - 1), 0);
    assert_int_equal(copies_at(g, 6 * lag), 1);
    assert_int_equal(g->done, 1);
}

/* Nor does a lane whose receiver is dead run ahead of all receivers. */
static void test_no_copy_before_any_receiver_has_it(void **state)
{
    struct scene *g = *state;
    const unsigned lag = engine_default_limits.lag_ms;
    engine_dead(g->engine, OWN);
    assert_int_equal(copies_at(g, 5 * lag), 0);
    have(g, THIRD, 0);
    assert_int_equal(copies_at(g, 6 * lag - 1), 0);
    assert_int_equal(copies_at(g, 6 * lag), 1);
    assert_int_equal(g->done, 1);
}

/* One that has it, and is dead now, has come so far. */
static void test_a_copy_when_a_dead_receiver_had_it(void **state)
{
    struct scene *g = *state;
    const unsigned lag = engine_default_limits.lag_ms;
    have(g, OWN, 0);
    engine_dead(g->engine, OWN);
    assert_int_equal(copies_at(g, lag - 1), 0);
    assert_int_equal(copies_at(g, lag), 1);
    assert_int_equal(g->done, 1);
}

/* The receiver in the other lane, or the replica that sends to it there. */
static void lane_has_no_turn(struct scene *g, int starved)
{
    const unsigned lag = engine_default_limits.lag_ms;
    g->starved = starved;
    for (int i = 0; i < WINDOW; i++)
        have(g, OWN, i);
    assert_int_equal(copies_at(g, 1), 0);
    assert_int_equal(copies_at(g, 4 * lag), 0);
    assert_int_equal(copies_at(g, 16 * lag - 1), 0);
}

static void test_time_without_a_turn_hardly_counts(void **state)
{
    struct scene *g = *state;
    const unsigned lag = engine_default_limits.lag_ms;
    lane_has_no_turn(g, OTHER);
    for (int i = 0; i < WINDOW - 1; i++)
        have(g, OTHER, i);
    assert_int_equal(copies_at(g, 20 * lag), 0);
    g->starved = -1; /* now all have turns, and nothing comes */
    assert_int_equal(copies_at(g, 21 * lag - 1), 0);
    assert_int_equal(copies_at(g, 21 * lag), 1);
    assert_int_equal(g->done, WINDOW);
}

static void test_a_lane_without_turns_is_waited_for_so_long(void **state)
{
    struct scene *g = *state;
    const unsigned lag = engine_default_limits.lag_ms;
    lane_has_no_turn(g, RANKS); /* rank 0 in lane 1 */
    assert_int_equal(copies_at(g, 16 * lag), WINDOW);
    assert_int_equal(g->done, WINDOW);
}

static void test_so_much_is_copied_at_once(void **state)
{
    struct scene *g = *state;
    assert_int_equal(copies_at(g, 1), 0); /* nobody has them */
    for (int i = 0; i < WINDOW; i++)
        have(g, OWN, i);
    assert_int_equal(copies_at(g, 2), 7);
    assert_int_equal(g->done, 7);
    assert_int_equal(copies_at(g, 2 + 6), 7);
    assert_int_equal(copies_at(g, 2 + 8), 8); /* before the lag is over */
    assert_int_equal(g->done, WINDOW);
}

static void test_no_more_of_what_is_longer(void **state)
{
    struct scene *g = *state;
    assert_int_equal(copies_at(g, 1), 0);
    for (int i = 0; i < WINDOW; i++)
        have(g, OWN, i);
    assert_int_equal(copies_at(g, 2), 0); /* 64 ms of the rate are 0.9 of them */
    assert_int_equal(copies_at(g, 2 + 8), 0);
}

static void test_all_that_is_awaited_is_copied_at_once(void **state)
{
    struct scene *g = *state;
    begin_sends(g, 1);
    engine_await_send(g->engine, &g->send[0]);
    assert_int_equal(copies_at(g, 1), 0); /* nobody has it */
    have(g, OWN, 0);
    assert_int_equal(copies_at(g, 1), 1);
    assert_int_equal(g->done, 1);
}

static void test_not_while_the_program_goes_on(void **state)
{
    struct scene *g = *state;
    begin_sends(g, 1);
    have(g, OWN, 0);
    assert_int_equal(copies_at(g, 1), 0);
    engine_await_send(g->engine, &g->send[0]);
    assert_int_equal(copies_at(g, 1), 1);
}

/* One more, which the program waits for, and which the receiver in the own lane has. */
static void send_and_wait(struct scene *g)
{
    const int i = g->begun;
    begin_sends(g, i + 1);
    engine_await_send(g->engine, &g->send[i]);
    have(g, OWN, i);
}

static void test_not_one_of_several(void **state)
{
    struct scene *g = *state;
    begin_sends(g, 2);
    for (int i = 0; i < 2; i++) {
        engine_await_send(g->engine, &g->send[i]);
        have(g, OWN, i);
    }
    assert_int_equal(copies_at(g, 1), 0);
    have(g, OTHER, 0);
    assert_int_equal(copies_at(g, 1), 1);
    assert_int_equal(g->done, 2);
}

static void test_not_a_long_one(void **state)
{
    struct scene *g = *state;
    send_and_wait(g);
    assert_int_equal(copies_at(g, 1), 0);
}

/* Their word takes longer than the copy. */
static void test_a_long_one_for_other_hosts(void **state)
{
    struct scene *g = *state;
    send_and_wait(g);
    assert_int_equal(copies_at(g, 1), 1);
    assert_int_equal(g->done, 1);
}

/* Lanes would drift apart by all of the log. */
static void test_a_few_long_ones_for_other_hosts(void **state)
{
    struct scene *g = *state;
    for (int i = 0; i < 2; i++) {
        send_and_wait(g);
        assert_int_equal(copies_at(g, 1), 1);
    }
    assert_int_equal(g->done, 1);
    have(g, OTHER, 0);
    have(g, THIRD, 0);
    assert_int_equal(copies_at(g, 1), 2);
    assert_int_equal(g->done, 2);
}

static void test_not_a_long_one_before_this_host_has_it(void **state)
{
    struct scene *g = *state;
    send_and_wait(g);
    assert_int_equal(copies_at(g, 1), 0);
    have(g, OTHER, 0);
    assert_int_equal(copies_at(g, 2), 1);
}

static void eager(struct scene *g, int number)
{
    uint8_t header[HEADER_BYTES], byte = 0;
    struct header h = g->rts[0];
    h.kind = HEADER_EAGER;
    h.length = 1;
    h.number = (uint64_t)number;
    h.extent = 0;
    header_write(header, &h);
    engine_arrived(g->engine, OWN, header, &byte);
}

/* As in an exchange: what it waits for besides may be what the other lane waits for. */
static void test_not_while_a_receive_is_under_way(void **state)
{
    struct scene *g = *state;
    uint8_t byte;
    struct engine_receive r[3];
    for (int i = 0; i < 3; i++) {
        r[i] = (struct engine_receive){.comm = g->comm,
                                       .from = 1,
                                       .tag = i < 2 ? TAG : TAG + 1,
                                       .capacity = 1,
                                       .data = &byte,
                                       .agents = i == 2};
        engine_receive(g->engine, &r[i]);
    }
    send_and_wait(g);
    assert_int_equal(copies_at(g, 1), 0);
    assert_int_equal(engine_cancel(g->engine, &r[1]), 1);
    assert_int_equal(copies_at(g, 1), 0);
    eager(g, 0);
    assert_true(r[0].done);
    assert_int_equal(copies_at(g, 1), 1); /* an agent's is always there */
}

static void test_a_probed_message_is_no_longer_under_way(void **state)
{
    struct scene *g = *state;
    struct engine_status status;
    struct engine_message *probed = NULL;
    uint8_t byte;
    struct engine_receive r = {
        .comm = g->comm, .from = 1, .tag = TAG, .capacity = 1, .data = &byte};
    begin_sends(g, 1);
    eager(g, 0);
    assert_int_equal(engine_probe(g->engine, g->comm, 1, TAG, false, &status, &probed), 1);
    engine_message_receive(g->engine, probed, &r);
    assert_true(r.done);
    engine_await_send(g->engine, &g->send[0]);
    have(g, OWN, 0);
    assert_int_equal(copies_at(g, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_copy_while_the_lane_receives, begin, end),
        cmocka_unit_test_setup_teardown(test_a_copy_when_nothing_comes, begin, end),
        {"test_so_much_is_copied_at_once_of_an_exchange", test_so_much_is_copied_at_once,
         begin_exchange_with_rate, end, NULL},
        {"test_eight_times_as_much_of_what_goes_one_way", test_so_much_is_copied_at_once,
         begin_one_way_with_an_eighth, end, NULL},
        cmocka_unit_test_setup_teardown(test_no_more_of_what_is_longer, begin_one_way_too_long,
                                        end),
        cmocka_unit_test_setup_teardown(test_the_time_of_the_own_lane_does_not_count, begin, end),
        cmocka_unit_test_setup_teardown(test_no_copy_before_any_receiver_has_it, begin_three, end),
        cmocka_unit_test_setup_teardown(test_a_copy_when_a_dead_receiver_had_it, begin_three, end),
        cmocka_unit_test_setup_teardown(test_time_without_a_turn_hardly_counts, begin, end),
        cmocka_unit_test_setup_teardown(test_a_lane_without_turns_is_waited_for_so_long, begin,
                                        end),
        cmocka_unit_test_setup_teardown(test_all_that_is_awaited_is_copied_at_once, begin_alone,
                                        end),
        cmocka_unit_test_setup_teardown(test_not_while_the_program_goes_on, begin_alone, end),
        cmocka_unit_test_setup_teardown(test_not_one_of_several, begin_alone, end),
        cmocka_unit_test_setup_teardown(test_not_a_long_one, begin_too_long, end),
        cmocka_unit_test_setup_teardown(test_a_long_one_for_other_hosts, begin_long_to_others, end),
        cmocka_unit_test_setup_teardown(test_not_a_long_one, begin_too_long_to_others, end),
        cmocka_unit_test_setup_teardown(test_a_few_long_ones_for_other_hosts, begin_few_to_others,
                                        end),
        cmocka_unit_test_setup_teardown(test_not_a_long_one_before_this_host_has_it,
                                        begin_long_to_this_and_others, end),
        cmocka_unit_test_setup_teardown(test_not_while_a_receive_is_under_way, begin_alone, end),
        cmocka_unit_test_setup_teardown(test_a_probed_message_is_no_longer_under_way, begin_alone,
                                        end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
