/* SPDX-License-Identifier: BSD-3-Clause */
/* decision.c -- a replica that can do nothing before another one's word comes says so: one that
 * follows and asks, one that leads and holds a message back. A leader's program that is far ahead
 * waits. One that looks at a clock more often than another copy waits for that no longer than until
 * it has gone on. A receive that is cancelled takes nothing. A leader whose choice makes no sense
 * is declared dead. */
#include "src/replica/engine.h"
#include "src/replica/header.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 2, LANES = 2, TAG = 3, LARGE = 17000 };

struct replica {
    struct engine *engine;
    struct engine_comm *comm;
    struct header last, last_decide; /* that it wrote */
    uint8_t payload[LARGE + 64];
    const char *why; /* another one is lost; NULL: none is */
};

static int on_send(void *ctx, int replica, const uint8_t *header, const void *payload,
                   size_t length, void *cookie)
{
    struct replica *r = ctx;
    (void)replica, (void)cookie;
    assert_true(header_read(&r->last, header));
    assert_true(length <= sizeof r->payload);
    if (r->last.kind == HEADER_DECIDE)
        r->last_decide = r->last;
    if (length > 0)
        memcpy(r->payload, payload, length);
    return 1;
}

static void on_lost(void *ctx, int replica, const char *why)
{
    (void)replica;
    ((struct replica *)ctx)->why = why;
}

static void on_sent(void *ctx, struct engine_send *s)
{
    (void)ctx, (void)s;
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

static const struct engine_callbacks callbacks = {
    .send = on_send, .lost = on_lost, .sent = on_sent, .received = on_received, .stop = on_stop};

static void begin_of(struct replica *r, int lanes, int rank, int lane,
                     const struct engine_limits *limits)
{
    const int members[RANKS] = {0, 1};
    *r = (struct replica){0};
    r->engine = engine_create(RANKS, lanes, rank, lane, NULL, limits, &callbacks, r);
    r->comm = engine_comm_add(r->engine, members, RANKS, NULL, 0, false);
}

static void begin_rank(struct replica *r, int rank, int lane, const struct engine_limits *limits)
{
    begin_of(r, LANES, rank, lane, limits);
}

/* Rank 0 in this lane. */
static void begin(struct replica *r, int lane)
{
    begin_rank(r, 0, lane, &engine_default_limits);
}

/* What `from` wrote last goes to the other one. */
static void pass(struct replica *from, int from_vpid, struct replica *to)
{
    uint8_t header[HEADER_BYTES], payload[sizeof from->payload];
    header_write(header, &from->last);
    memcpy(payload, from->payload, sizeof payload);
    engine_arrived(to->engine, from_vpid, header, payload);
}

static int probe(struct replica *r)
{
    struct engine_status status;
    return engine_probe(r->engine, r->comm, ENGINE_ANY_SOURCE, TAG, false, &status, NULL);
}

static void test_who_follows(void **state)
{
    (void)state;
    struct replica leader, follower;
    begin(&leader, 0);
    begin(&follower, 1);
    assert_false(engine_waits_for_others(follower.engine));
    assert_int_equal(probe(&follower), -EAGAIN);
    assert_true(engine_waits_for_others(follower.engine));
    assert_int_equal(probe(&leader), 0);
    engine_progress(leader.engine, 1);
    assert_int_equal(leader.last.kind, HEADER_DECIDE);
    pass(&leader, 0, &follower);
    assert_int_equal(probe(&follower), 0);
    assert_null(follower.why);
    assert_false(engine_waits_for_others(follower.engine));
    engine_destroy(leader.engine);
    engine_destroy(follower.engine);
}

static void test_who_leads(void **state)
{
    (void)state;
    struct replica leader, follower;
    static const char large[LARGE]; /* more than goes along with the message */
    struct engine_send s = {.to = 1, .tag = TAG, .data = "x", .length = 1};
    begin(&leader, 0);
    begin(&follower, 1);
    assert_false(engine_follows(leader.engine));
    engine_decision_give(leader.engine, DECIDE_OTHER, large,
                         LARGE); /* the message may depend on that */
    s.comm = leader.comm;
    engine_send(leader.engine, &s);
    assert_int_equal(leader.last.kind, HEADER_DECIDE);
    assert_true(engine_waits_for_others(leader.engine));
    pass(&leader, 0, &follower);
    assert_int_equal(follower.last.kind, HEADER_DECIDED);
    pass(&follower, RANKS, &leader);
    engine_progress(leader.engine, 1);
    assert_int_equal(leader.last.kind, HEADER_EAGER);
    assert_false(engine_waits_for_others(leader.engine));
    assert_null(leader.why);
    engine_destroy(leader.engine);
    engine_destroy(follower.engine);
}

static void read_clock(struct replica *r)
{
    double time = 1;
    if (engine_follows(r->engine))
        assert_int_equal(engine_decision_take(r->engine, DECIDE_TIME, &time, sizeof time),
                         sizeof time);
    else
        engine_decision_give(r->engine, DECIDE_TIME, &time, sizeof time);
}

/* One more than it may be ahead by; all are told. */
static void get_ahead(struct replica *leader, struct replica *follower)
{
    enum { READS = 8, RECORD = 5 + sizeof(double) };
    struct engine_limits limits = engine_default_limits;
    limits.lead = READS * RECORD;
    begin_rank(leader, 0, 0, &limits);
    begin_rank(follower, 0, 1, &limits);
    for (int i = 0; i < READS; i++)
        read_clock(leader);
    assert_false(engine_is_ahead(leader->engine));
    read_clock(leader);
    assert_true(engine_is_ahead(leader->engine));
    engine_progress(leader->engine, 1);
    pass(leader, 0, follower);
    assert_int_equal(follower->last.kind, HEADER_DECIDED);
}

/* The follower's program is slower: that it holds the decisions is not enough. */
static void test_who_is_ahead(void **state)
{
    (void)state;
    struct replica leader, follower;
    get_ahead(&leader, &follower);
    pass(&follower, RANKS, &leader);
    assert_true(engine_is_ahead(leader.engine));
    assert_false(engine_is_ahead(follower.engine));
    follower.last = (struct header){0};
    read_clock(&follower);
    assert_int_equal(follower.last.kind, 0);
    read_clock(&follower);
    assert_int_equal(follower.last.kind, HEADER_DECIDED); /* a quarter is used */
    pass(&follower, RANKS, &leader);
    assert_false(engine_is_ahead(leader.engine));
    engine_destroy(leader.engine);
    engine_destroy(follower.engine);
}

static void test_nobody_is_ahead_of_the_dead(void **state)
{
    (void)state;
    struct replica leader, follower;
    get_ahead(&leader, &follower);
    engine_dead(leader.engine, RANKS);
    engine_progress(leader.engine, 2);
    assert_false(engine_is_ahead(leader.engine));
    engine_destroy(leader.engine);
    engine_destroy(follower.engine);
}

static void send_step(struct replica *r)
{
    assert_true(engine_send_now(r->engine, r->comm, 1, TAG, "x", 1));
}

static int look(struct replica *r)
{
    double time;
    return engine_decision_take(r->engine, DECIDE_TIME, &time, sizeof time);
}

/* From the first time that it finds nothing on; it asks then. */
static void look_in_vain(struct replica *r, uint64_t from_ms)
{
    enum { TIMES = 10 };
    for (int i = 0; i < TIMES; i++) {
        engine_progress(r->engine, from_ms + (uint64_t)i);
        assert_int_equal(look(r), -EAGAIN);
    }
    engine_progress(r->engine, from_ms + TIMES);
}

static void test_a_leader_that_looks_no_more(void **state)
{
    (void)state;
    struct replica leader, follower;
    begin(&leader, 0);
    begin(&follower, 1);
    look_in_vain(&follower, 1);
    assert_int_equal(follower.last.kind, HEADER_LOOKS);
    pass(&follower, RANKS, &leader);
    engine_progress(leader.engine, 1);
    assert_int_equal(leader.last.kind, 0); /* it is at the same place */
    assert_int_equal(look(&follower), -EAGAIN);
    send_step(&leader);
    engine_progress(leader.engine, 2);
    assert_int_equal(leader.last.kind, HEADER_PAST);
    pass(&leader, 0, &follower);
    assert_int_equal(look(&follower), -ENOENT);
    assert_int_equal(look(&follower), -EAGAIN); /* before it is known where the program is */
    assert_int_equal(look(&follower), -ENOENT);
    send_step(&follower);
    look_in_vain(&follower, 12);
    engine_destroy(leader.engine);
    engine_destroy(follower.engine);
}

/* What it has seen before it left the place goes before its answer. */
static void test_a_leader_tells_what_it_has_seen_first(void **state)
{
    (void)state;
    struct replica leader, follower;
    begin(&leader, 0);
    begin(&follower, 1);
    look_in_vain(&follower, 1);
    read_clock(&leader);
    send_step(&leader);
    pass(&follower, RANKS, &leader);
    assert_int_equal(leader.last.kind, HEADER_PAST);
    assert_int_equal(leader.last_decide.length, 5 + sizeof(double));
    engine_destroy(leader.engine);
    engine_destroy(follower.engine);
}

/* Its program has gone on from where its leader looks again and again. */
static void test_nobody_is_ahead_of_one_that_is_past(void **state)
{
    (void)state;
    struct replica leader, follower;
    get_ahead(&leader, &follower);
    pass(&follower, RANKS, &leader);
    for (uint64_t ms = 2; ms < 12; ms++)
        engine_progress(leader.engine, ms);
    assert_int_equal(leader.last.kind, HEADER_LOOKS);
    follower.last = (struct header){0};
    pass(&leader, 0, &follower);
    engine_progress(follower.engine, 2);
    assert_int_equal(follower.last.kind, 0);
    assert_true(engine_is_ahead(leader.engine));
    send_step(&follower);
    engine_progress(follower.engine, 3);
    assert_int_equal(follower.last.kind, HEADER_PAST);
    pass(&follower, RANKS, &leader);
    assert_false(engine_is_ahead(leader.engine));
    engine_destroy(leader.engine);
    engine_destroy(follower.engine);
}

/* One of three copies of rank 0, which hear from each other what the test says. */
static void begin_of_three(struct replica *r, int lane)
{
    begin_of(r, 3, 0, lane, &engine_default_limits);
}

static void hear(struct replica *r, int lane, struct header h)
{
    uint8_t header[HEADER_BYTES];
    header_write(header, &h);
    engine_arrived(r->engine, lane * RANKS, header, NULL);
}

static void test_only_the_leaders_answer_counts(void **state)
{
    (void)state;
    struct replica r;
    begin_of_three(&r, 2);
    look_in_vain(&r, 1);
    hear(&r, 1, (struct header){.kind = HEADER_PAST, .extent = 5});
    assert_int_equal(look(&r), -EAGAIN);
    hear(&r, 0, (struct header){.kind = HEADER_PAST, .extent = 5});
    assert_int_equal(look(&r), -ENOENT);
    send_step(&r);
    assert_int_equal(look(&r), -EAGAIN);
    assert_int_equal(look(&r), -EAGAIN); /* about this place it has not asked */
    engine_destroy(r.engine);
}

/* The next one may look where the last one did not. */
static void test_an_answer_ends_with_its_leader(void **state)
{
    (void)state;
    struct replica r;
    begin_of_three(&r, 2);
    look_in_vain(&r, 1);
    hear(&r, 0, (struct header){.kind = HEADER_PAST, .extent = 5});
    engine_dead(r.engine, 0);
    for (uint64_t ms = 12; ms < 32; ms++) {
        engine_progress(r.engine, ms);
        assert_int_equal(look(&r), -EAGAIN);
    }
    assert_int_equal(r.last.kind, HEADER_LOOKS);
    hear(&r, 1, (struct header){.kind = HEADER_PAST, .extent = 5});
    assert_int_equal(look(&r), -ENOENT);
    engine_destroy(r.engine);
}

static void test_who_answers(void **state)
{
    (void)state;
    struct replica r;
    begin_of_three(&r, 1);
    send_step(&r);
    r.last = (struct header){0};
    hear(&r, 2, (struct header){.kind = HEADER_LOOKS}); /* it takes this one for its leader */
    engine_progress(r.engine, 1);
    assert_int_equal(r.last.kind, 0);
    hear(&r, 0, (struct header){.kind = HEADER_LOOKS, .number = 1}); /* the leader is far ahead */
    assert_int_equal(r.last.kind, HEADER_PAST);
    engine_destroy(r.engine);
}

/* Its memory may have been that of another one, which was cancelled, too. */
static void test_a_cancelled_receive_takes_nothing(void **state)
{
    (void)state;
    struct replica to, from;
    struct engine_receive r = {.from = 1, .tag = TAG};
    struct engine_send s = {.to = 0, .tag = TAG, .data = "x", .length = 1};
    begin(&to, 0);
    begin_rank(&from, 1, 0, &engine_default_limits);
    r.comm = to.comm;
    s.comm = from.comm;
    for (int i = 0; i < 2; i++) {
        engine_receive(to.engine, &r);
        assert_false(r.done);
        assert_int_equal(engine_cancel(to.engine, &r), 1);
        assert_true(r.done && r.status.cancelled);
    }
    engine_send(from.engine, &s);
    pass(&from, 1, &to);
    assert_true(r.status.cancelled);
    assert_int_equal(probe(&to), 1);
    engine_receive(to.engine, &r);
    assert_true(r.done);
    assert_false(r.status.cancelled);
    engine_destroy(to.engine);
    engine_destroy(from.engine);
}

/* What a follower says when its leader's answer to a probe names this rank, in so many bytes. */
static const char *told_of(uint32_t source, uint32_t size)
{
    struct replica follower;
    const struct header h = {.kind = HEADER_DECIDE, .length = 5 + size};
    uint8_t header[HEADER_BYTES], record[64] = {DECIDE_PROBE};
    bytes_put_u32(record + 1, size);
    bytes_put_u32(record + 5, source);
    bytes_put_u32(record + 9, TAG);
    header_write(header, &h);
    begin(&follower, 1);
    engine_arrived(follower.engine, 0, header, record);
    engine_progress(follower.engine, 1);
    engine_destroy(follower.engine);
    return follower.why;
}

static void test_message_of_nobody(void **state)
{
    (void)state;
    static const char *const senseless = "its decisions make no sense";
    assert_null(told_of(0, 16));
    assert_null(told_of(RANKS - 1, 16));
    assert_string_equal(told_of(RANKS, 16), senseless);
    assert_string_equal(told_of(UINT32_MAX, 16), senseless);
    assert_string_equal(told_of(0, 15), senseless);
    assert_string_equal(told_of(0, 17), senseless);
    assert_string_equal(told_of(0, 0), senseless);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_who_follows),
                                       cmocka_unit_test(test_who_leads),
                                       cmocka_unit_test(test_who_is_ahead),
                                       cmocka_unit_test(test_nobody_is_ahead_of_the_dead),
                                       cmocka_unit_test(test_a_leader_that_looks_no_more),
                                       cmocka_unit_test(test_a_leader_tells_what_it_has_seen_first),
                                       cmocka_unit_test(test_nobody_is_ahead_of_one_that_is_past),
                                       cmocka_unit_test(test_only_the_leaders_answer_counts),
                                       cmocka_unit_test(test_an_answer_ends_with_its_leader),
                                       cmocka_unit_test(test_who_answers),
                                       cmocka_unit_test(test_a_cancelled_receive_takes_nothing),
                                       cmocka_unit_test(test_message_of_nobody)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
