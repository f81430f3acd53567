/* SPDX-License-Identifier: BSD-3-Clause */
/* acks.c -- when a receiver tells the other lanes of its sender what has come: after so many
 * messages, bytes or milliseconds, and where all of them are on other hosts, after many more. */
#include "src/replica/engine.h"
#include "src/replica/header.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 2, LANES_MOST = 3, TAG = 3, SENDER = 0, RECEIVER = 1, BEGIN_MS = 1000 };
enum { MESSAGES = 32, BYTES = 64 * 1024, DELAY_MS = 2, PIECE = 4096 };
enum { PATIENCE = 32, PATIENCE_BYTES = 8, PATIENCE_TIME = 4 }; /* to other hosts */
enum { MANY = 48, SHARE = 64 * 1024 * 1024 / 4 / MANY };       /* so many ranks share the log */

struct process {
    struct engine *engine;
    struct engine_comm *comm;
};

static struct process process[RANKS];
static int acks, near; /* of the receiver; a lane on its own host, or 0 */

static int on_send(void *ctx, int replica, const uint8_t *header, const void *payload,
                   size_t length, void *cookie)
{
    struct header h;
    (void)length, (void)cookie;
    assert_true(header_read(&h, header));
    acks += ctx == &process[RECEIVER] && h.kind == HEADER_ACK;
    if (ctx == &process[SENDER] && replica == RECEIVER)
        engine_arrived(process[RECEIVER].engine, SENDER, header, payload);
    return 1;
}

static bool on_is_far(void *ctx, int replica)
{
    (void)ctx;
    return replica / RANKS != near;
}

static void on_lost(void *ctx, int replica, const char *why)
{
    (void)ctx, (void)replica;
    fail_msg("lost: %s", why);
}

static void on_sent(void *ctx, struct engine_send *s)
{
    (void)ctx, (void)s;
}

static void on_stop(void *ctx, int status, const char *line)
{
    (void)ctx, (void)status;
    fail_msg("stopped: %s", line);
}

static void begin_ranks(int ranks, int lanes, int lane_near)
{
    static const struct engine_callbacks callbacks = {
        .send = on_send, .is_far = on_is_far, .lost = on_lost, .sent = on_sent, .stop = on_stop};
    static const int members[RANKS] = {SENDER, RECEIVER};
    acks = 0;
    near = lane_near;
    for (int i = 0; i < RANKS; i++) {
        struct process *p = &process[i];
        p->engine = engine_create(ranks, lanes, i, 0, NULL, &engine_default_limits, &callbacks, p);
        p->comm = engine_comm_add(p->engine, members, RANKS, NULL, 0, false);
        engine_progress(p->engine, BEGIN_MS);
    }
}

static void begin_lanes(int lanes, int lane_near)
{
    begin_ranks(RANKS, lanes, lane_near);
}

static int begin_near(void **state)
{
    (void)state;
    begin_lanes(2, 1);
    return 0;
}

static int begin_far(void **state)
{
    (void)state;
    begin_lanes(2, 0);
    return 0;
}

static int begin_many(void **state)
{
    (void)state;
    begin_ranks(MANY, 2, 0);
    return 0;
}

static int begin_mixed(void **state)
{
    (void)state;
    begin_lanes(LANES_MOST, 2);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < RANKS; i++)
        engine_destroy(process[i].engine);
    return 0;
}

static void send_some(int count, size_t length)
{
    static const uint8_t bytes[PIECE];
    for (int i = 0; i < count; i++) {
        struct engine_send s = {.comm = process[SENDER].comm,
                                .to = RECEIVER,
                                .tag = TAG,
                                .data = bytes,
                                .length = length};
        engine_send(process[SENDER].engine, &s);
    }
}

static void wait_ms(uint64_t ms)
{
    engine_progress(process[RECEIVER].engine, BEGIN_MS + ms);
}

static void test_after_so_many(void **state)
{
    (void)state;
    send_some(MESSAGES - 1, 8);
    assert_int_equal(acks, 0);
    send_some(1, 8);
    assert_int_equal(acks, 1);
}

static void test_after_so_many_bytes(void **state)
{
    (void)state;
    send_some(BYTES / PIECE - 1, PIECE);
    assert_int_equal(acks, 0);
    send_some(1, PIECE);
    assert_int_equal(acks, 1);
}

static void test_after_so_long(void **state)
{
    (void)state;
    send_some(1, 8);
    wait_ms(DELAY_MS - 1);
    assert_int_equal(acks, 0);
    wait_ms(DELAY_MS);
    assert_int_equal(acks, 1);
}

static void test_to_another_host_after_more(void **state)
{
    (void)state;
    send_some(PATIENCE * MESSAGES - 1, 8);
    assert_int_equal(acks, 0);
    send_some(1, 8);
    assert_int_equal(acks, 1);
}

static void test_to_another_host_after_more_bytes(void **state)
{
    (void)state;
    send_some(PATIENCE_BYTES * BYTES / PIECE - 1, PIECE);
    assert_int_equal(acks, 0);
    send_some(1, PIECE);
    assert_int_equal(acks, 1);
}

/* Else the log of a sender that talks to all of them would be full. */
static void test_to_another_host_after_a_share_of_the_log(void **state)
{
    (void)state;
    send_some(SHARE / PIECE, PIECE);
    assert_int_equal(acks, 0);
    send_some(1, PIECE);
    assert_int_equal(acks, 1);
}

static void test_to_another_host_after_longer(void **state)
{
    (void)state;
    send_some(1, 8);
    wait_ms(PATIENCE_TIME * DELAY_MS - 1);
    assert_int_equal(acks, 0);
    wait_ms(PATIENCE_TIME * DELAY_MS);
    assert_int_equal(acks, 1);
}

/* Two lanes have to know it, one of them here. */
static void test_one_that_is_near_is_enough(void **state)
{
    (void)state;
    send_some(MESSAGES, 8);
    assert_int_equal(acks, LANES_MOST - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_after_so_many, begin_near, end),
        cmocka_unit_test_setup_teardown(test_after_so_many_bytes, begin_near, end),
        cmocka_unit_test_setup_teardown(test_after_so_long, begin_near, end),
        cmocka_unit_test_setup_teardown(test_to_another_host_after_more, begin_far, end),
        cmocka_unit_test_setup_teardown(test_to_another_host_after_more_bytes, begin_far, end),
        cmocka_unit_test_setup_teardown(test_to_another_host_after_a_share_of_the_log, begin_many,
                                        end),
        cmocka_unit_test_setup_teardown(test_to_another_host_after_longer, begin_far, end),
        cmocka_unit_test_setup_teardown(test_one_that_is_near_is_enough, begin_mixed, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
