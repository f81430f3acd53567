/* SPDX-License-Identifier: BSD-3-Clause */
/* synchronous.c -- what the sender of a synchronous message is told, and when its send is done; and
 * that a lane which is far behind costs each of its words no more than one that keeps up. */
#include "src/replica/engine.h"
#include "src/replica/hash.h"
#include "src/replica/header.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

enum { RANKS = 2, LANES = 2, TAG = 3, LENGTH = 24, MOST = 16 };
enum { OWN = 1, OTHER = 1 + RANKS, TWIN = RANKS }; /* rank 1's replicas; rank 0 in lane 1 */

struct scene {
    struct engine *engine;
    struct engine_comm *comm;
    struct header sent, said[MOST]; /* the last message; words about one, */
    struct header said_beside;      /* and to the sender in the other lane */
    int count, to_twin;             /* HAVE to rank 1 in lane 0; decisions */
    bool survives;
};

static int on_send(void *ctx, int replica, const uint8_t *header, const void *payload,
                   size_t length, void *cookie)
{
    struct scene *g = ctx;
    struct header h;
    (void)payload, (void)length, (void)cookie;
    assert_true(header_read(&h, header));
    if (h.kind == HEADER_EAGER)
        g->sent = h;
    if (h.kind == HEADER_HAVE && replica == OWN && g->count < MOST)
        g->said[g->count++] = h;
    if (h.kind == HEADER_HAVE && replica == OTHER)
        g->said_beside = h;
    g->to_twin += replica == TWIN && h.kind == HEADER_DECIDE;
    return 1;
}

static bool on_survives(void *ctx, int replica)
{
    (void)replica;
    return ((struct scene *)ctx)->survives;
}

static void on_done(void *ctx, struct engine_send *s)
{
    (void)ctx, (void)s;
}

static void on_received(void *ctx, struct engine_receive *r)
{
    (void)ctx, (void)r;
}

static void on_lost(void *ctx, int replica, const char *why)
{
    (void)ctx, (void)replica, (void)why;
}

static void on_stop(void *ctx, int status, const char *line)
{
    (void)ctx, (void)status;
    fail_msg("stopped: %s", line);
}

static void scene_begin(struct scene *g, int lane)
{
    static const struct engine_callbacks callbacks = {.send = on_send,
                                                      .survives = on_survives,
                                                      .lost = on_lost,
                                                      .sent = on_done,
                                                      .received = on_received,
                                                      .stop = on_stop};
    static const int members[RANKS] = {0, 1};
    struct engine_limits limits = engine_default_limits;
    limits.log = SIZE_MAX / 4;
    *g = (struct scene){.survives = true};
    g->engine = engine_create(RANKS, LANES, 0, lane, NULL, &limits, &callbacks, g);
    g->comm = engine_comm_add(g->engine, members, RANKS, NULL, 0, false);
    engine_progress(g->engine, 1000);
}

static int begin(void **state)
{
    static struct scene scene;
    *state = &scene;
    scene_begin(&scene, 0);
    return 0;
}

static int end(void **state)
{
    engine_destroy(((struct scene *)*state)->engine);
    return 0;
}

static void put(struct scene *g, int from, const struct header *h, const uint8_t *payload)
{
    uint8_t header[HEADER_BYTES];
    header_write(header, h);
    engine_arrived(g->engine, from, header, payload);
}

/* --- the receiver --- */

static void receive(struct scene *g, struct engine_receive *r, uint8_t *bytes)
{
    *r = (struct engine_receive){
        .comm = g->comm, .from = 1, .tag = TAG, .capacity = LENGTH, .data = bytes};
    engine_receive(g->engine, r);
}

static void receive_awaited(struct scene *g, struct engine_receive *r, uint8_t *bytes)
{
    receive(g, r, bytes);
    engine_await(g->engine, r);
}

/* The name of the communicator is in what this process sends. */
static struct header message_of_rank_1(struct scene *g)
{
    static const uint8_t none[LENGTH];
    engine_send_now(g->engine, g->comm, 1, TAG, none, LENGTH);
    struct header h = g->sent;
    h.flags = HEADER_SYNC;
    h.number = 0;
    return h;
}

static void arrive(struct scene *g)
{
    static const uint8_t bytes[LENGTH] = "synchronous";
    const struct header h = message_of_rank_1(g);
    put(g, OWN, &h, bytes);
}

static void expect_words(const struct scene *g, int n, uint8_t flags)
{
    assert_int_equal(g->count, n);
    assert_int_equal(g->said[n - 1].flags & HEADER_FIRM, flags);
}

static void test_one_word_for_a_receive_that_is_awaited_at_once(void **state)
{
    struct scene *g = *state;
    struct engine_receive r;
    uint8_t bytes[LENGTH];
    receive(g, &r, bytes);
    arrive(g);
    engine_progress(g->engine, 1001); /* of the poll that brought it */
    assert_true(r.done && engine_owes(g->engine));
    assert_int_equal(g->count, 0);
    engine_await(g->engine, &r);
    expect_words(g, 1, HEADER_FIRM);
    assert_false(engine_owes(g->engine));
    for (int i = 2; i < 10; i++)
        engine_progress(g->engine, 1000 + i);
    assert_int_equal(g->count, 1);
}

static void test_awaited_before_it_comes(void **state)
{
    struct scene *g = *state;
    struct engine_receive r;
    uint8_t bytes[LENGTH];
    receive_awaited(g, &r, bytes);
    arrive(g);
    expect_words(g, 1, HEADER_FIRM);
    assert_int_equal(g->said[0].flags & HEADER_BESIDE, 0);
    assert_int_equal(g->said_beside.kind, 0); /* that goes with the acknowledgement */
    engine_progress(g->engine, 1010);
    assert_int_equal(g->said_beside.flags, HEADER_FIRM | HEADER_BESIDE);
    assert_int_equal(g->count, 1);
}

static void test_a_word_that_waits_goes_when_its_other_is_dead(void **state)
{
    struct scene *g = *state;
    struct engine_receive r;
    uint8_t bytes[LENGTH];
    receive_awaited(g, &r, bytes);
    arrive(g);
    assert_int_equal(g->said_beside.kind, 0);
    engine_dead(g->engine, TWIN);
    engine_progress(g->engine, 1000);
    assert_int_equal(g->said_beside.flags, HEADER_FIRM);
}

/* Its own receiver is dead, or its own lane's sender is. */
static void expect_hurry_without(struct scene *g, int dead)
{
    struct engine_receive r;
    uint8_t bytes[LENGTH];
    receive_awaited(g, &r, bytes);
    const struct header h = message_of_rank_1(g);
    engine_dead(g->engine, dead);
    engine_progress(g->engine, 1001);
    put(g, dead == OWN ? OTHER : OWN, &h, (const uint8_t[LENGTH]){0});
    assert_int_equal(g->said_beside.flags & (HEADER_FIRM | HEADER_BESIDE), HEADER_FIRM);
}

static void test_a_word_that_has_no_other_beside_it_hurries(void **state)
{
    expect_hurry_without(*state, TWIN);
}

static void test_a_word_to_one_that_took_over_hurries(void **state)
{
    expect_hurry_without(*state, OWN);
}

static void test_a_program_that_does_not_ask_tells_it_all_the_same(void **state)
{
    struct scene *g = *state;
    struct engine_receive r;
    uint8_t bytes[LENGTH];
    receive(g, &r, bytes);
    arrive(g);
    assert_true(engine_has_timed_work(g->engine));
    engine_progress(g->engine, 1000);
    assert_int_equal(g->count, 0);
    engine_progress(g->engine, 1000);
    expect_words(g, 1, 0);
    engine_progress(g->engine, 1000);
    assert_int_equal(g->count, 1);
    engine_await(g->engine, &r);
    expect_words(g, 2, HEADER_FIRM);
}

/* Its sender may have waited for long, and the program may compute now. */
static void test_a_message_that_was_there_before_is_answered_at_once(void **state)
{
    struct scene *g = *state;
    struct engine_receive r;
    uint8_t bytes[LENGTH];
    arrive(g);
    receive(g, &r, bytes);
    assert_true(r.done);
    expect_words(g, 1, 0);
    engine_await(g->engine, &r);
    expect_words(g, 2, HEADER_FIRM);
}

/* What the program waits for follows from its decisions: they go along, or if they are long the
 * other lane must have them. */
static void test_for_good_only_with_the_decisions_before(void **state)
{
    struct scene *g = *state;
    struct engine_receive r;
    uint8_t bytes[LENGTH];
    static const uint8_t decided[64 * 1024];
    receive(g, &r, bytes);
    arrive(g);
    g->survives = false;
    engine_decision_give(g->engine, DECIDE_OTHER, decided, sizeof decided);
    engine_await(g->engine, &r);
    assert_int_equal(g->count, 0);
    engine_progress(g->engine, 1002);
    assert_true(g->to_twin > 0);
    const struct header h = {.kind = HEADER_DECIDED, .number = 1};
    put(g, TWIN, &h, NULL);
    expect_words(g, 1, HEADER_FIRM);
}

static void test_a_good_bye_owes_nothing(void **state)
{
    struct scene *g = *state;
    struct engine_receive r;
    uint8_t bytes[LENGTH];
    receive(g, &r, bytes);
    arrive(g);
    engine_finish(g->engine);
    expect_words(g, 1, 0);
}

/* --- the sender --- */

static void say_have(struct scene *g, int from, uint64_t number, uint64_t hash, uint8_t flags)
{
    struct header h = g->sent;
    h.kind = HEADER_HAVE;
    h.flags = flags;
    h.length = 0;
    h.number = number;
    h.extent = hash;
    put(g, from, &h, NULL);
}

static void send_synchronous(struct scene *g, struct engine_send *s, const uint8_t *bytes)
{
    *s = (struct engine_send){.comm = g->comm,
                              .to = 1,
                              .tag = TAG,
                              .length = LENGTH,
                              .data = bytes,
                              .span = {bytes, LENGTH},
                              .synchronous = true};
    engine_send(g->engine, s);
}

static void test_done_by_its_own_lanes_word(void **state)
{
    struct scene *g = *state;
    struct engine_send s;
    static const uint8_t bytes[LENGTH];
    const uint64_t hash = hash_roll(0, TAG, LENGTH);
    send_synchronous(g, &s, bytes);
    say_have(g, OWN, 0, hash, 0);
    engine_progress(g->engine, 1001);
    assert_false(s.done); /* it may yet be cancelled there */
    say_have(g, OWN, 0, hash, HEADER_FIRM);
    engine_progress(g->engine, 1002);
    assert_true(s.done);
}

static void say_firm(struct scene *g, int from, int number, const uint64_t *hash)
{
    say_have(g, from, (uint64_t)number, hash[number + 1], HEADER_FIRM);
    engine_progress(g->engine, 1001);
}

/* Processor time for so many sends, of which the other lane speaks when all are done. at_once: all
 * are under way before the own lane speaks of the first. */
static double seconds_of(int messages, bool at_once)
{
    static const uint8_t bytes[LENGTH];
    static struct scene scene;
    struct scene *g = &scene;
    struct engine_send *s = malloc((size_t)messages * sizeof *s);
    uint64_t *hash = malloc((size_t)(messages + 1) * sizeof *hash);
    const clock_t began = clock();
    scene_begin(g, 0);
    hash[0] = 0;
    for (int i = 0; i < messages; i++) {
        hash[i + 1] = hash_roll(hash[i], TAG, LENGTH);
        send_synchronous(g, &s[i], bytes);
        if (at_once)
            continue;
        say_firm(g, OWN, i, hash);
        assert_true(s[i].done);
    }
    for (int i = 0; at_once && i < messages; i++)
        say_firm(g, OWN, i, hash);
    for (int i = 0; i < messages; i++)
        assert_true(s[i].done);
    for (int i = 0; i < messages; i++)
        say_firm(g, OTHER, i, hash);
    assert_int_equal(engine_counts(g->engine)->log_bytes, 0);
    engine_destroy(g->engine);
    free(hash);
    free(s);
    return (double)(clock() - began) / CLOCKS_PER_SEC;
}

static double seconds_for(int messages)
{
    return seconds_of(messages, false);
}

static double seconds_for_many_at_once(int messages)
{
    return seconds_of(messages, true);
}

static double least_of_three(double (*of)(int), int n)
{
    double least = of(n);
    for (int i = 0; i < 2; i++) {
        const double again = of(n);
        least = again < least ? again : least;
    }
    return least;
}

/* Ten times the messages take a hundred times the time if each word, or each round, looks through
 * the log. */
static void expect_in_proportion(double (*of)(int))
{
    enum { FEW = 4000, TIMES = 10, MOST_TIMES = 40 };
    assert_true(least_of_three(of, TIMES * FEW) < MOST_TIMES * least_of_three(of, FEW));
}

static void test_a_lane_far_behind_does_not_search(void **state)
{
    (void)state;
    expect_in_proportion(seconds_for);
}

static void test_many_under_way_are_not_looked_through(void **state)
{
    (void)state;
    expect_in_proportion(seconds_for_many_at_once);
}

/* A program that tests seldom hears of each all the same. */
static void test_many_under_way_are_looked_at_when_the_clock_moves(void **state)
{
    enum { MANY = 1000 };
    struct scene *g = *state;
    static struct engine_send s[MANY];
    static const uint8_t bytes[LENGTH];
    uint64_t hash = 0;
    for (int i = 0; i < MANY; i++)
        send_synchronous(g, &s[i], bytes);
    for (int i = 0; i < 5; i++) {
        hash = hash_roll(hash, TAG, LENGTH);
        say_have(g, OWN, (uint64_t)i, hash, HEADER_FIRM);
        engine_progress(g->engine, 1002 + (uint64_t)i);
        assert_true(s[i].done);
        assert_false(s[i + 1].done);
    }
    for (int i = 5; i < MANY; i++) {
        hash = hash_roll(hash, TAG, LENGTH);
        say_have(g, OWN, (uint64_t)i, hash, HEADER_FIRM);
    }
    engine_progress(g->engine, 2000);
}

/* --- a follower that reads its leader's link late --- */

static size_t witness_of(uint8_t *p, uint64_t number)
{
    enum { RECORD = 4 + 8 };
    memset(p, 0, RECORD); /* of rank 0 */
    for (int i = 0; i < 8; i++)
        p[4 + i] = (uint8_t)(number >> 8 * i);
    p[RECORD] = DECIDE_WAIT;
    p[RECORD + 1] = 1;
    memset(p + RECORD + 2, 0, 3);
    p[RECORD + 5] = 9;
    return RECORD + 6;
}

/* Each second decision comes by a witness, before what the leader's link has. */
static double seconds_for_witnessed(int decisions)
{
    static struct scene scene;
    struct scene *g = &scene;
    const clock_t began = clock();
    uint8_t bytes[32], value;
    scene_begin(g, 1);
    for (uint64_t i = 0; i < (uint64_t)decisions; i++) {
        const size_t length = witness_of(bytes, 2 * i + 1);
        put(g, OTHER, &(struct header){.kind = HEADER_WITNESS, .length = (uint32_t)length}, bytes);
    }
    for (uint64_t i = 0; i < (uint64_t)decisions; i++) {
        const struct header h = {
            .kind = HEADER_DECIDE, .flags = HEADER_SURVIVES, .length = 6, .number = 2 * i};
        witness_of(bytes, 0);
        put(g, 0, &h, bytes + 12);
    }
    for (int i = 0; i < 2 * decisions; i++)
        assert_int_equal(engine_decision_take(g->engine, DECIDE_WAIT, &value, 1), 1);
    engine_destroy(g->engine);
    return (double)(clock() - began) / CLOCKS_PER_SEC;
}

static void test_decisions_ahead_are_not_searched_for(void **state)
{
    (void)state;
    expect_in_proportion(seconds_for_witnessed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_word_for_a_receive_that_is_awaited_at_once),
        TEST(test_awaited_before_it_comes),
        TEST(test_a_word_that_waits_goes_when_its_other_is_dead),
        TEST(test_a_word_that_has_no_other_beside_it_hurries),
        TEST(test_a_word_to_one_that_took_over_hurries),
        TEST(test_a_program_that_does_not_ask_tells_it_all_the_same),
        TEST(test_a_message_that_was_there_before_is_answered_at_once),
        TEST(test_for_good_only_with_the_decisions_before),
        TEST(test_a_good_bye_owes_nothing),
        TEST(test_done_by_its_own_lanes_word),
        TEST(test_a_lane_far_behind_does_not_search),
        TEST(test_many_under_way_are_not_looked_through),
        TEST(test_many_under_way_are_looked_at_when_the_clock_moves),
        TEST(test_decisions_ahead_are_not_searched_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
