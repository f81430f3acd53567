/* SPDX-License-Identifier: BSD-3-Clause */
/* adrift.c -- a member whom nobody takes for a successor meets the one before it. */
#include "overlay/core/ring/ring.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { NOW = 1000 * 1000 };

static struct part_peer peer(unsigned n)
{
    struct part_peer p = {.addr = {.port = 7117}};
    p.id.b[0] = (uint8_t)(n * 20 + 5);
    p.addr.ip[15] = (uint8_t)n;
    return p;
}

/* The message of that kind that the last step sent. */
static struct message *sent(const struct ring_out *out, enum message_kind kind)
{
    static struct message m;
    for (unsigned i = 0; i < out->count; i++)
        if (out->action[i].kind == RING_SEND &&
            message_decode(&m, out->action[i].frame, out->action[i].frame_length) && m.kind == kind)
            return &m;
    return NULL;
}

/* Peer 1 takes peer 8 for its successor. Peer 4 looks for its own place; after it comes `next`. */
static struct ring *meet(unsigned next)
{
    static struct ring_out out;
    static struct message m;
    struct ring_setup setup = {.self = peer(1), .record_bytes = RING_RECORDS_MIN, .searches = 1};
    struct ring *ring = ring_init(malloc(ring_size(&setup)), &setup, NOW);
    struct ring_event event = {.kind = RING_MESSAGE, .peer = peer(8), .message = &m};
    m = (struct message){.kind = MSG_ring_ask, .ring_ask = {.flags = 1}}; /* my successor */
    ring_step(ring, &event, NOW, &out);
    assert_int_equal(ring_successor(ring, 0)->addr.ip[15], 8);
    m = (struct message){.kind = MSG_ring_find,
                         .ring_find = {.origin = peer(4), .target = peer(4).id, .hops = 3}};
    ring_step(ring, &event, NOW, &out);
    const struct message *found = sent(&out, MSG_ring_found);
    assert_non_null(found);
    assert_int_equal(found->ring_found.successors[0].addr.ip[15], 8);
    const struct message *ask = sent(&out, MSG_ring_ask);
    assert_non_null(ask);
    m = (struct message){.kind = MSG_ring_state,
                         .ring_state = {.stamp = ask->ring_ask.stamp,
                                        .member = 1,
                                        .listed = 1,
                                        .successors_count = 1,
                                        .successors = {peer(next)}}};
    event.peer = peer(4);
    ring_step(ring, &event, NOW + 100, &out);
    return ring;
}

static void test_who_is_adrift_is_taken_in(void **state)
{
    (void)state;
    struct ring *ring = meet(8);
    assert_int_equal(ring_successor(ring, 0)->addr.ip[15], 4);
    assert_int_equal(ring_successor(ring, 1)->addr.ip[15], 8);
    free(ring);
}

static void test_nobody_is_left_out_for_who_is_adrift(void **state)
{
    (void)state;
    struct ring *ring = meet(10); /* peer 8 would be */
    assert_int_equal(ring_successor(ring, 0)->addr.ip[15], 8);
    free(ring);
}

static bool asks_within_a_minute(struct ring *ring, struct part_peer whom)
{
    static struct ring_out out;
    static uint64_t now = NOW;
    struct ring_event event = {.kind = RING_TICK};
    bool asked = false;
    for (uint64_t end = now + 60 * NOW; now < end && !asked; now += NOW / 10) {
        ring_step(ring, &event, now, &out);
        for (unsigned i = 0; i < out.count; i++)
            asked = asked ||
                    (out.action[i].kind == RING_SEND && id_equal(&out.action[i].peer.id, &whom.id));
    }
    return asked;
}

/* A link that breaks names its peer and no address; a member without any other asks it again where
 * it was.
 */
static void test_asked_again_where_it_was(void **state)
{
    (void)state;
    static struct ring_out out;
    static struct message m;
    struct ring_setup setup = {.self = peer(1), .record_bytes = RING_RECORDS_MIN, .searches = 1};
    struct ring *ring = ring_init(malloc(ring_size(&setup)), &setup, NOW);
    struct ring_event event = {.kind = RING_MESSAGE, .peer = peer(8), .message = &m};
    struct part_peer kept;
    m = (struct message){.kind = MSG_ring_ask, .ring_ask = {.flags = 1}};
    ring_step(ring, &event, NOW, &out);
    assert_int_equal(ring_known(ring, &kept, 1), 1);
    event = (struct ring_event){.kind = RING_UNREACHABLE, .peer.id = peer(8).id};
    ring_step(ring, &event, NOW, &out);
    assert_int_equal(ring_standing(ring), RING_ALONE);
    assert_int_equal(ring_known(ring, &kept, 1), 1); /* for the list on disk, too */
    assert_int_equal(kept.addr.port, 7117);
    assert_true(asks_within_a_minute(ring, peer(8)));
    free(ring);
}

/* Desktops that were given new keys: this one, and another. Nobody dials what they were before. */
static void test_former_peers_are_not_asked(void **state)
{
    (void)state;
    static struct ring_out out;
    static struct message m;
    struct ring_setup setup = {.self = peer(1), .record_bytes = RING_RECORDS_MIN, .searches = 1};
    struct ring *ring = ring_init(malloc(ring_size(&setup)), &setup, NOW);
    struct part_peer former = peer(9), before = peer(10), now = peer(11);
    struct ring_event event = {.kind = RING_JOIN, .peer = former};
    event.peer.addr = peer(1).addr;
    ring_step(ring, &event, NOW, &out);
    assert_false(asks_within_a_minute(ring, former));
    event.peer = before;
    ring_step(ring, &event, NOW, &out);
    m = (struct message){.kind = MSG_ring_ask};
    event = (struct ring_event){.kind = RING_UNREACHABLE, .peer = before};
    ring_step(ring, &event, NOW, &out);
    assert_true(asks_within_a_minute(ring, before));
    event = (struct ring_event){.kind = RING_MESSAGE, .peer = now, .message = &m};
    event.peer.addr = before.addr;
    ring_step(ring, &event, 60 * NOW, &out);
    event = (struct ring_event){.kind = RING_UNREACHABLE, .peer = before};
    ring_step(ring, &event, 60 * NOW, &out);
    assert_false(asks_within_a_minute(ring, before));
    free(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asked_again_where_it_was),
        cmocka_unit_test(test_former_peers_are_not_asked),
        cmocka_unit_test(test_who_is_adrift_is_taken_in),
        cmocka_unit_test(test_nobody_is_left_out_for_who_is_adrift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
