/* SPDX-License-Identifier: BSD-3-Clause */
/* head.c -- a receiver keeps the head of a large message until a receive is posted, within limits,
 * and tells the process that it asks for the rest whether a head counts. */
#include "src/replica/engine.h"
#include "src/replica/header.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 2, LANES = 2, TAG = 3, HEAD = 64, LENGTH = 4 * HEAD, FEW = 3 };
enum { SENDER = 1, TWIN = 1 + RANKS }; /* rank 1's replicas */

struct scene {
    struct engine *engine;
    struct engine_comm *comm;
    struct engine_send send;
    struct engine_receive receive;
    uint8_t bytes[LENGTH];
    struct header like, cts; /* a message that this process has sent */
    int asked, asked_of;     /* how often, and whom last */
};

static int on_send(void *ctx, int replica, const uint8_t *header, const void *payload,
                   size_t length, void *cookie)
{
    struct scene *g = ctx;
    struct header h;
    (void)payload, (void)length, (void)cookie;
    assert_true(header_read(&h, header));
    if (h.kind == HEADER_EAGER)
        g->like = h;
    if (h.kind != HEADER_CTS)
        return 1;
    g->cts = h;
    g->asked++;
    g->asked_of = replica;
    return 1;
}

static void on_lost(void *ctx, int replica, const char *why)
{
    (void)ctx, (void)why;
    assert_int_equal(replica, SENDER);
}

static void on_received(void *ctx, struct engine_receive *r)
{
    assert_ptr_equal(r, &((struct scene *)ctx)->receive);
}

static void on_stop(void *ctx, int status, const char *line)
{
    (void)ctx, (void)status;
    fail_msg("stopped: %s", line);
}

static int begin(void **state)
{
    static const struct engine_callbacks callbacks = {
        .send = on_send, .lost = on_lost, .received = on_received, .stop = on_stop};
    static const int members[RANKS] = {0, 1};
    static struct scene scene;
    struct scene *g = *state = &scene;
    struct engine_limits limits = engine_default_limits;
    limits.eager = limits.fragment = HEAD;
    limits.log = 4 * FEW * HEAD;
    *g = (struct scene){.asked_of = -1};
    g->engine = engine_create(RANKS, LANES, 0, 0, NULL, &limits, &callbacks, g);
    g->comm = engine_comm_add(g->engine, members, RANKS, NULL, 0, false);
    engine_progress(g->engine, 1000);
    g->send = (struct engine_send){.comm = g->comm, .to = 1, .tag = TAG, .length = 1, .data = ""};
    engine_send(g->engine, &g->send);
    return 0;
}

static int end(void **state)
{
    engine_destroy(((struct scene *)*state)->engine);
    return 0;
}

static void arrives(struct scene *g, int replica, uint64_t number, uint8_t kind, uint8_t flags,
                    size_t extent, size_t length)
{
    uint8_t header[HEADER_BYTES], payload[LENGTH];
    struct header h = g->like;
    memset(payload, (int)number + 1, sizeof payload);
    h.kind = kind;
    h.flags |= flags;
    h.number = number;
    h.extent = extent;
    h.length = (uint32_t)length;
    header_write(header, &h);
    engine_arrived(g->engine, replica, header, payload);
}

static void rts(struct scene *g, int replica, uint64_t number)
{
    arrives(g, replica, number, HEADER_RTS, 0, LENGTH, 0);
}

static void head(struct scene *g, int replica, uint64_t number)
{
    arrives(g, replica, number, HEADER_DATA, HEADER_HEAD, 0, HEAD);
}

/* In pieces whose places tell whether a head was counted. */
static void rest(struct scene *g, int replica, uint64_t number, size_t from)
{
    for (size_t at = from, n; at < LENGTH; at += n) {
        n = LENGTH - at < 2 * HEAD ? LENGTH - at : 2 * HEAD;
        assert_false(g->receive.done);
        arrives(g, replica, number, HEADER_DATA, 0, at, n);
    }
}

static void receive(struct scene *g)
{
    memset(g->bytes, 0, sizeof g->bytes);
    g->receive = (struct engine_receive){.comm = g->comm,
                                         .from = 1,
                                         .tag = TAG,
                                         .capacity = LENGTH,
                                         .data = g->bytes,
                                         .span = {g->bytes, LENGTH},
                                         .firm = true};
    engine_receive(g->engine, &g->receive);
    engine_await(g->engine, &g->receive);
}

static void expect_asked(const struct scene *g, int replica, bool headed)
{
    assert_int_equal(g->asked_of, replica);
    assert_int_equal(g->cts.flags & HEADER_HEAD, headed ? HEADER_HEAD : 0);
}

static void expect_received(const struct scene *g, uint64_t number)
{
    assert_true(g->receive.done);
    for (int i = 0; i < LENGTH; i++)
        assert_int_equal(g->bytes[i], number + 1);
}

static void test_before_the_receive(void **state)
{
    struct scene *g = *state;
    rts(g, SENDER, 0);
    head(g, SENDER, 0);
    assert_int_equal(g->asked, 0);
    receive(g);
    expect_asked(g, SENDER, true);
    rest(g, SENDER, 0, HEAD);
    expect_received(g, 0);
}

static void test_after_the_receive(void **state)
{
    struct scene *g = *state;
    receive(g);
    rts(g, SENDER, 0);
    expect_asked(g, SENDER, true);
    head(g, SENDER, 0);
    rest(g, SENDER, 0, HEAD);
    expect_received(g, 0);
}

/* As far as it is this sender's word: it may have had no room for a head. */
static void test_no_head_comes(void **state)
{
    struct scene *g = *state;
    receive(g);
    rts(g, SENDER, 0);
    expect_asked(g, SENDER, true);
    rest(g, SENDER, 0, 0);
    expect_received(g, 0);
}

static void test_few_are_kept(void **state)
{
    struct scene *g = *state;
    for (uint64_t i = 0; i <= FEW; i++) {
        rts(g, SENDER, i);
        head(g, SENDER, i);
    }
    for (uint64_t i = 0; i <= FEW; i++) {
        receive(g);
        expect_asked(g, SENDER, i < FEW);
        rest(g, SENDER, i, i < FEW ? HEAD : 0);
        expect_received(g, i);
    }
    rts(g, SENDER, FEW + 1);
    head(g, SENDER, FEW + 1);
    receive(g);
    expect_asked(g, SENDER, true);
}

/* The other replica's head was not taken while the first one lived, nor is it when it comes after
 * that one's death was heard of. */
static void test_another_goes_on(void **state)
{
    struct scene *g = *state;
    rts(g, SENDER, 0);
    head(g, SENDER, 0);
    receive(g);
    rts(g, TWIN, 0);
    engine_dead(g->engine, SENDER);
    engine_progress(g->engine, 1001);
    expect_asked(g, TWIN, false);
    head(g, TWIN, 0);
    rest(g, TWIN, 0, 0);
    expect_received(g, 0);
}

static void test_its_sender_dies_before_the_receive(void **state)
{
    struct scene *g = *state;
    rts(g, SENDER, 0);
    head(g, SENDER, 0);
    rts(g, TWIN, 0);
    engine_dead(g->engine, SENDER);
    engine_progress(g->engine, 1001);
    receive(g);
    expect_asked(g, TWIN, false);
    rest(g, TWIN, 0, 0);
    expect_received(g, 0);
}

static void test_no_sender_sends_such(void **state)
{
    struct scene *g = *state;
    rts(g, SENDER, 0);
    arrives(g, SENDER, 0, HEADER_DATA, HEADER_HEAD, 0, LENGTH);
    receive(g);
    expect_asked(g, SENDER, false);
    rest(g, SENDER, 0, 0);
    expect_received(g, 0);
    rts(g, SENDER, 1);
    arrives(g, SENDER, 1, HEADER_DATA, HEADER_HEAD, 0, 0);
    head(g, SENDER, 1);
    receive(g);
    expect_asked(g, SENDER, false);
    rest(g, SENDER, 1, 0);
    expect_received(g, 1);
}

/* Of a message that nobody receives, and of one to a communicator that is no more. */
static void test_nobody_receives_it(void **state)
{
    struct scene *g = *state;
    rts(g, SENDER, 0);
    head(g, SENDER, 0);
    engine_comm_free(g->engine, g->comm);
    head(g, SENDER, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)
        TEST(test_before_the_receive),   TEST(test_after_the_receive),
        TEST(test_no_head_comes),        TEST(test_few_are_kept),
        TEST(test_another_goes_on),      TEST(test_its_sender_dies_before_the_receive),
        TEST(test_no_sender_sends_such), TEST(test_nobody_receives_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
