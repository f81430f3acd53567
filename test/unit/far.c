/* SPDX-License-Identifier: BSD-3-Clause */
/* far.c -- a large message that goes over a network is copied to the log when its receiver asks for
 * it, and its send is done; the rest is sent from there. Its head goes before. */
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

enum { RANKS = 2, LANES = 2, TAG = 3, FRAGMENT = 64, LENGTH = 32 * FRAGMENT, MOST = 16 };
enum { OWN = 1, OTHER = 1 + RANKS, TWIN = RANKS }; /* the receiver's replicas; rank 0 in lane 1 */

struct scene {
    struct engine *engine;
    struct engine_comm *comm;
    struct engine_send send;
    uint8_t bytes[LENGTH], got[LANES][LENGTH];
    struct header rts;
    size_t arrived[LANES]; /* bytes of it */
    size_t head[LANES];    /* those that nobody had asked for */
    void *flying[MOST];    /* what was not written yet, */
    int count;
    bool far, full; /* full: there is no room for a piece */
};

static int on_send(void *ctx, int replica, const uint8_t *header, const void *payload,
                   size_t length, void *cookie)
{
    struct scene *g = ctx;
    const int lane = replica / RANKS;
    struct header h;
    assert_true(header_read(&h, header));
    if (h.kind == HEADER_RTS)
        g->rts = h;
    if (h.kind != HEADER_DATA)
        return 1;
    if (g->full)
        return -EAGAIN;
    assert_true(g->count < MOST && h.extent + length <= LENGTH);
    assert_int_equal(h.flags & HEADER_HEAD, cookie ? 0 : HEADER_HEAD);
    if (!cookie) {
        assert_int_equal(h.extent, 0);
        memcpy(g->got[lane], payload, length);
        g->head[lane] += length;
        return 0;
    }
    memcpy(g->got[lane] + h.extent, payload, length);
    g->arrived[lane] += length;
    g->flying[g->count++] = cookie;
    return 0;
}

static bool on_is_far(void *ctx, int replica)
{
    (void)replica;
    return ((struct scene *)ctx)->far;
}

static void on_lost(void *ctx, int replica, const char *why)
{
    (void)ctx, (void)why;
    assert_int_equal(replica, TWIN);
}

static void on_sent(void *ctx, struct engine_send *s)
{
    assert_ptr_equal(s, &((struct scene *)ctx)->send);
}

static void on_stop(void *ctx, int status, const char *line)
{
    (void)ctx, (void)status;
    fail_msg("stopped: %s", line);
}

static int begin_with_log(void **state, size_t log)
{
    static const struct engine_callbacks callbacks = {
        .send = on_send, .is_far = on_is_far, .lost = on_lost, .sent = on_sent, .stop = on_stop};
    static const int members[RANKS] = {0, 1};
    static struct scene scene;
    struct scene *g = *state = &scene;
    struct engine_limits limits = engine_default_limits;
    limits.eager = limits.fragment = FRAGMENT;
    limits.copy_rate = 0;
    limits.log = log;
    *g = (struct scene){.far = true};
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
    return begin_with_log(state, 2 * LENGTH);
}

static void write_one(struct scene *g)
{
    void *cookie = g->flying[0];
    memmove(g->flying, g->flying + 1, (size_t)--g->count * sizeof *g->flying);
    engine_wrote(g->engine, cookie);
}

static void write_all(struct scene *g)
{
    while (g->count > 0)
        write_one(g);
}

static int end(void **state)
{
    struct scene *g = *state;
    write_all(g);
    engine_destroy(g->engine);
    return 0;
}

static void send_large(struct scene *g, bool synchronous)
{
    memset(g->bytes, 7, sizeof g->bytes);
    g->send = (struct engine_send){.comm = g->comm,
                                   .to = 1,
                                   .tag = TAG,
                                   .length = LENGTH,
                                   .data = g->bytes,
                                   .span = {g->bytes, LENGTH},
                                   .synchronous = synchronous};
    engine_send(g->engine, &g->send);
}

static void answer_with(struct scene *g, int replica, uint8_t kind, uint8_t flags)
{
    uint8_t header[HEADER_BYTES];
    struct header h = g->rts;
    h.kind = kind;
    h.flags |= kind == HEADER_CTS ? flags : 0;
    h.length = 0;
    h.extent = hash_roll(0, TAG, LENGTH); /* for HAVE */
    header_write(header, &h);
    engine_arrived(g->engine, replica, header, NULL);
}

static void answer(struct scene *g, int replica, uint8_t kind)
{
    answer_with(g, replica, kind, 0);
}

static void expect_all_in(const struct scene *g, int lane)
{
    assert_int_equal(g->arrived[lane], LENGTH);
    for (int i = 0; i < LENGTH; i++)
        assert_int_equal(g->got[lane][i], 7);
}

static void test_done_when_it_is_asked_for(void **state)
{
    struct scene *g = *state;
    send_large(g, false);
    engine_progress(g->engine, 2000);
    assert_false(g->send.done);
    answer(g, OWN, HEADER_CTS);
    assert_true(g->send.done);
    assert_true(g->arrived[0] < LENGTH);
    memset(g->bytes, 9, sizeof g->bytes); /* they are the program's again */
    write_all(g);
    expect_all_in(g, 0);
}

static void test_the_other_lane_gets_it_from_the_log(void **state)
{
    struct scene *g = *state;
    send_large(g, false);
    answer(g, OWN, HEADER_CTS);
    memset(g->bytes, 9, sizeof g->bytes);
    write_all(g);
    answer(g, OWN, HEADER_HAVE);
    engine_dead(g->engine, TWIN);
    engine_progress(g->engine, 1001);
    answer(g, OTHER, HEADER_CTS);
    write_all(g);
    expect_all_in(g, 1);
    answer(g, OTHER, HEADER_HAVE);
    assert_int_equal(engine_counts(g->engine)->log_bytes, 0);
}

/* This process sends in the dead one's place, too. */
static void send_to_both(struct scene *g)
{
    engine_dead(g->engine, TWIN);
    engine_progress(g->engine, 1001);
    send_large(g, false);
}

/* The receiver has to be there in all lanes that this process sends to. */
static void test_not_done_for_one_lane_of_two(void **state)
{
    struct scene *g = *state;
    send_to_both(g);
    answer(g, OTHER, HEADER_CTS);
    assert_false(g->send.done);
    write_all(g);
    assert_false(g->send.done);
    answer(g, OWN, HEADER_CTS);
    assert_true(g->send.done);
}

/* What is on its way from the program's buffer stays there. */
static void test_no_copy_beside_another_transfer(void **state)
{
    struct scene *g = *state;
    send_to_both(g);
    answer(g, OTHER, HEADER_CTS);
    while (g->count > 1)
        write_one(g);
    answer(g, OTHER, HEADER_HAVE);
    answer(g, OWN, HEADER_CTS);
    assert_false(g->send.done);
}

static void test_no_copy_on_one_host(void **state)
{
    struct scene *g = *state;
    g->far = false;
    send_large(g, false);
    answer(g, OWN, HEADER_CTS);
    assert_false(g->send.done);
}

static void test_no_copy_of_a_synchronous_one(void **state)
{
    struct scene *g = *state;
    send_large(g, true);
    answer(g, OWN, HEADER_CTS);
    assert_false(g->send.done);
}

static void test_half_of_the_log_is_for_small_ones(void **state)
{
    struct scene *g = *state;
    send_large(g, false);
    answer(g, OWN, HEADER_CTS);
    assert_false(g->send.done);
}

static void test_the_head_goes_before(void **state)
{
    struct scene *g = *state;
    send_large(g, false);
    assert_int_equal(g->head[0], FRAGMENT);
    assert_int_equal(g->head[1], 0);
    answer_with(g, OWN, HEADER_CTS, HEADER_HEAD);
    write_all(g);
    assert_int_equal(g->arrived[0], LENGTH - FRAGMENT);
    for (int i = 0; i < LENGTH; i++)
        assert_int_equal(g->got[0][i], 7);
}

/* There was no room for it, or the receiver has not kept it: all of the message is sent. */
static void test_a_head_that_does_not_count(void **state)
{
    struct scene *g = *state;
    g->full = true;
    send_large(g, false);
    g->full = false;
    assert_int_equal(g->head[0], 0);
    answer_with(g, OWN, HEADER_CTS, HEADER_HEAD);
    write_all(g);
    expect_all_in(g, 0);
    engine_dead(g->engine, TWIN);
    engine_progress(g->engine, 1001);
    assert_int_equal(g->head[1], FRAGMENT);
    answer(g, OTHER, HEADER_CTS);
    write_all(g);
    expect_all_in(g, 1);
}

static void test_no_head_on_one_host(void **state)
{
    struct scene *g = *state;
    g->far = false;
    send_large(g, false);
    assert_int_equal(g->head[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)
        TEST(test_done_when_it_is_asked_for),
        TEST(test_the_other_lane_gets_it_from_the_log),
        TEST(test_not_done_for_one_lane_of_two),
        TEST(test_no_copy_beside_another_transfer),
        TEST(test_no_copy_on_one_host),
        TEST(test_the_head_goes_before),
        TEST(test_a_head_that_does_not_count),
        TEST(test_no_head_on_one_host),
        TEST(test_no_copy_of_a_synchronous_one),
        cmocka_unit_test_setup_teardown(test_half_of_the_log_is_for_small_ones,
                                        begin_with_small_log, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
