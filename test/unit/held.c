/* SPDX-License-Identifier: BSD-3-Clause */
/* held.c -- what the program holds a request of is copied to the log when it asks for that, and not
 * if the other lane has acknowledged it before. */
#include "src/replica/engine.h"
#include "src/replica/hash.h"
#include "src/replica/header.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 2, LANES = 2, TAG = 3, LENGTH = 1000, USER = INT32_MIN };
enum { OWN = 1, OTHER = 1 + RANKS, TWIN = RANKS }; /* the receiver's replicas; rank 0 in lane 1 */

struct scene {
    struct engine *engine;
    struct engine_comm *comm;
    struct engine_send send;
    struct engine_receive receive;
    uint8_t bytes[LENGTH], got[LENGTH];
    struct header sent, rts; /* the message, and a large one, as they went to the own lane */
    int done, received, to_other;
    bool full;
};

static int on_send(void *ctx, int replica, const uint8_t *header, const void *payload,
                   size_t length, void *cookie)
{
    struct scene *g = ctx;
    struct header h;
    (void)cookie;
    assert_true(header_read(&h, header));
    if (h.kind == HEADER_RTS)
        g->rts = h;
    if (h.kind != HEADER_EAGER)
        return 1;
    if (g->full)
        return -EAGAIN;
    assert_int_equal(length, LENGTH);
    if (replica == OTHER)
        memcpy(g->got, payload, length);
    g->to_other += replica == OTHER;
    g->sent = h;
    return 1;
}

static void on_lost(void *ctx, int replica, const char *why)
{
    (void)ctx, (void)why;
    assert_int_equal(replica, TWIN);
}

static void on_sent(void *ctx, struct engine_send *s)
{
    struct scene *g = ctx;
    g->done += s == &g->send;
}

static void on_received(void *ctx, struct engine_receive *r)
{
    (void)r;
    ((struct scene *)ctx)->received++;
}

static void on_stop(void *ctx, int status, const char *line)
{
    (void)ctx, (void)status;
    fail_msg("stopped: %s", line);
}

static void send_held_as(struct scene *g, struct engine_send *s)
{
    memset(g->bytes, 7, sizeof g->bytes);
    *s = (struct engine_send){.comm = g->comm,
                              .to = 1,
                              .tag = TAG,
                              .length = LENGTH,
                              .data = g->bytes,
                              .span = {g->bytes, LENGTH},
                              .held = true};
    engine_send(g->engine, s);
}

static void send_held(struct scene *g)
{
    send_held_as(g, &g->send);
}

static int begin_with_log(void **state, size_t log)
{
    static const struct engine_callbacks callbacks = {.send = on_send,
                                                      .lost = on_lost,
                                                      .sent = on_sent,
                                                      .received = on_received,
                                                      .stop = on_stop};
    static const int members[RANKS] = {0, 1};
    static struct scene scene;
    struct scene *g = *state = &scene;
    struct engine_limits limits = engine_default_limits;
    limits.copy_rate = 0;
    limits.log = log;
    *g = (struct scene){0};
    g->engine = engine_create(RANKS, LANES, 0, 0, NULL, &limits, &callbacks, g);
    g->comm = engine_comm_add(g->engine, members, RANKS, NULL, 0, false);
    engine_progress(g->engine, 1000);
    return 0;
}

static int begin(void **state)
{
    return begin_with_log(state, engine_default_limits.log);
}

static int begin_with_small_log(void **state)
{
    return begin_with_log(state, LENGTH);
}

static int end(void **state)
{
    struct scene *g = *state;
    engine_destroy(g->engine);
    return 0;
}

/* All messages below this number. */
static void acknowledge(struct scene *g, uint64_t number)
{
    uint64_t hash = 0;
    uint8_t header[HEADER_BYTES], record[HEADER_ACK_BYTES];
    header_write(header, &(struct header){.kind = HEADER_ACK, .length = sizeof record});
    bytes_put_u64(record, g->sent.group);
    bytes_put_u32(record + 8, g->sent.count);
    bytes_put_u32(record + 12, (uint32_t)USER);
    bytes_put_u64(record + 16, number);
    for (uint64_t i = 0; i < number; i++)
        hash = hash_roll(hash, TAG, LENGTH);
    bytes_put_u64(record + 24, hash);
    engine_arrived(g->engine, OTHER, header, record);
}

static void expect(const struct scene *g, int done, unsigned copies)
{
    assert_int_equal(g->done, done);
    assert_int_equal(g->send.done, done);
    assert_int_equal(engine_counts(g->engine)->late_copies, copies);
    assert_true((engine_counts(g->engine)->log_bytes >= LENGTH) == (copies > 0));
}

static void test_a_copy_when_the_program_asks(void **state)
{
    struct scene *g = *state;
    send_held(g);
    engine_progress(g->engine, 1000 + engine_default_limits.lag_ms - 1);
    expect(g, 0, 0);
    engine_await_send(g->engine, &g->send);
    expect(g, 1, 1);
    memset(g->bytes, 9, sizeof g->bytes); /* they are the program's again */
    engine_dead(g->engine, TWIN);
    engine_progress(g->engine, 1010);
    assert_int_equal(g->to_other, 1);
    for (int i = 0; i < LENGTH; i++)
        assert_int_equal(g->got[i], 7);
}

static void test_no_copy_of_what_all_have(void **state)
{
    struct scene *g = *state;
    send_held(g);
    acknowledge(g, 1);
    expect(g, 1, 0);
    engine_await_send(g->engine, &g->send);
    expect(g, 1, 0);
}

/* The other lane's receiver had it from its own lane before it was sent here. */
static void test_done_at_once_in_the_lane_behind(void **state)
{
    struct scene *g = *state;
    send_held(g);
    acknowledge(g, 2);
    expect(g, 1, 0);
    send_held(g);
    assert_true(g->send.done);
    assert_int_equal(g->done, 2);
    engine_await_send(g->engine, &g->send);
    assert_int_equal(engine_counts(g->engine)->late_copies, 0);
}

static void have_large(struct scene *g, uint64_t hash)
{
    uint8_t header[HEADER_BYTES];
    struct header h = g->rts;
    h.kind = HEADER_HAVE;
    h.length = 0;
    h.extent = hash;
    header_write(header, &h);
    engine_arrived(g->engine, OWN, header, NULL);
}

/* The clock of the lag is not read for them, and begins with the first large one. */
static void test_a_large_one_has_a_lag_of_its_own(void **state)
{
    enum { HELD = 5, LARGE = 128 * 1024 };
    static uint8_t bytes[LARGE];
    struct scene *g = *state;
    const uint64_t lag = engine_default_limits.lag_ms;
    struct engine_send held[HELD];
    struct engine_send large = {
        .comm = g->comm, .to = 1, .tag = TAG, .length = LARGE, .data = bytes};
    uint64_t now = 1000, hash = 0;
    for (int i = 0; i < HELD; i++) { /* one of them always waits */
        send_held_as(g, &held[i]);
        hash = hash_roll(hash, TAG, LENGTH);
        engine_progress(g->engine, now += lag - 2);
    }
    engine_send(g->engine, &large);
    have_large(g, hash_roll(hash, TAG, LARGE));
    engine_progress(g->engine, now + lag - 1);
    assert_false(large.done);
    engine_progress(g->engine, now + lag);
    assert_true(large.done);
}

static void test_a_copy_after_the_lag(void **state)
{
    struct scene *g = *state;
    send_held(g);
    engine_progress(g->engine, 1000 + engine_default_limits.lag_ms);
    expect(g, 1, 1);
}

static void test_no_copy_while_the_link_is_full(void **state)
{
    struct scene *g = *state;
    g->full = true;
    send_held(g);
    engine_await_send(g->engine, &g->send);
    engine_progress(g->engine, 1001);
    expect(g, 0, 0);
    g->full = false;
    engine_progress(g->engine, 1002);
    expect(g, 1, 1);
}

static void test_a_full_link_is_waited_for_so_long(void **state)
{
    struct scene *g = *state;
    g->full = true;
    send_held(g);
    engine_await_send(g->engine, &g->send);
    engine_progress(g->engine, 1000 + engine_default_limits.lag_ms);
    expect(g, 1, 1);
}

static void test_no_copy_without_room_in_the_log(void **state)
{
    struct scene *g = *state;
    send_held(g);
    engine_await_send(g->engine, &g->send);
    engine_progress(g->engine, 1000 + engine_default_limits.lag_ms);
    expect(g, 0, 0);
    acknowledge(g, 1);
    expect(g, 1, 0);
}

/* The link to the receiver is not what it waits for. So much of decisions does not go along. */
static void test_a_copy_while_a_decision_is_told(void **state)
{
    static const char much[17000];
    struct scene *g = *state;
    assert_false(engine_follows(g->engine));
    engine_decision_give(g->engine, DECIDE_OTHER, much, sizeof much);
    send_held(g);
    engine_await_send(g->engine, &g->send);
    expect(g, 1, 1);
    assert_int_equal(g->sent.kind, 0); /* lane 1 may not know the decision */
}

/* What has come goes to where the send still reads. */
static void test_a_copy_for_a_receive(void **state)
{
    struct scene *g = *state;
    uint8_t header[HEADER_BYTES], byte = 5;
    send_held(g);
    g->receive = (struct engine_receive){.comm = g->comm,
                                         .from = 1,
                                         .tag = TAG,
                                         .capacity = LENGTH,
                                         .data = g->bytes,
                                         .span = {g->bytes, LENGTH},
                                         .awaited = true};
    engine_receive(g->engine, &g->receive);
    struct header h = g->sent;
    h.number = 0;
    h.length = 1;
    header_write(header, &h);
    engine_arrived(g->engine, OWN, header, &byte);
    assert_int_equal(g->received, 0);
    assert_int_equal(g->bytes[0], 7);
    engine_progress(g->engine, 1001);
    expect(g, 1, 1);
    assert_int_equal(g->received, 1);
    assert_int_equal(g->bytes[0], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_copy_when_the_program_asks, begin, end),
        cmocka_unit_test_setup_teardown(test_no_copy_of_what_all_have, begin, end),
        cmocka_unit_test_setup_teardown(test_done_at_once_in_the_lane_behind, begin, end),
        cmocka_unit_test_setup_teardown(test_a_large_one_has_a_lag_of_its_own, begin, end),
        cmocka_unit_test_setup_teardown(test_a_copy_after_the_lag, begin, end),
        cmocka_unit_test_setup_teardown(test_no_copy_while_the_link_is_full, begin, end),
        cmocka_unit_test_setup_teardown(test_a_full_link_is_waited_for_so_long, begin, end),
        cmocka_unit_test_setup_teardown(test_no_copy_without_room_in_the_log, begin_with_small_log,
                                        end),
        cmocka_unit_test_setup_teardown(test_a_copy_while_a_decision_is_told, begin, end),
        cmocka_unit_test_setup_teardown(test_a_copy_for_a_receive, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
