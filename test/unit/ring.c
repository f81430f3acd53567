/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/ring/ring.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { PEERS = 12, QUEUE = 4096, SECOND = 1000 * 1000 };

struct frame {
    unsigned from, to;
    uint32_t length;
    uint8_t *bytes;
};

/* Rings that hear each other at once, unless one is dead. */
struct net {
    struct ring *rings[PEERS]; /* NULL: dead */
    uint64_t now;
    struct frame queue[QUEUE];
    unsigned queued;
    /* the last answers */
    bool found, stored, got, done, failed, left;
    struct part_peer owner;
    unsigned records, ads;
    uint8_t value[RING_VALUE_MAX];
};

static struct part_peer peer(unsigned n)
{
    struct part_peer p = {.addr = {.port = 7117}};
    p.id.b[0] = (uint8_t)(n * 20 + 5);
    p.addr.ip[15] = (uint8_t)n;
    return p;
}

static void perform(struct net *net, unsigned i, const struct ring_action *a)
{
    switch (a->kind) {
    case RING_SEND:
        assert_true(net->queued < QUEUE);
        net->queue[net->queued] =
            (struct frame){.from = i, .to = a->peer.addr.ip[15], .length = a->frame_length};
        net->queue[net->queued].bytes = malloc(a->frame_length);
        memcpy(net->queue[net->queued++].bytes, a->frame, a->frame_length);
        break;
    case RING_FOUND:
        net->found = true;
        net->owner = a->peer;
        break;
    case RING_STORED:
        net->stored = true;
        break;
    case RING_RECORDS:
        net->got = true;
        net->records = a->count;
        if (a->count > 0)
            memcpy(net->value, a->records[0].value, a->records[0].value_length);
        break;
    case RING_NEAR:
        net->ads += a->count;
        break;
    case RING_DONE:
        net->done = true;
        break;
    case RING_FAILED:
        net->failed = true;
        break;
    case RING_LEFT:
        net->left = true;
        break;
    case RING_NEIGHBOURS:
    case RING_SILENT:
        break;
    }
}

static void step(struct net *net, unsigned i, const struct ring_event *event)
{
    static struct ring_out out;
    ring_step(net->rings[i], event, net->now, &out);
    for (unsigned k = 0; k < out.count; k++)
        perform(net, i, &out.action[k]);
}

static void deliver_all(struct net *net)
{
    static struct message m;
    for (unsigned i = 0; i < net->queued; i++) {
        struct frame f = net->queue[i];
        net->now += 50;
        struct ring_event event = {.kind = RING_MESSAGE, .peer = peer(f.from), .message = &m};
        assert_true(message_decode(&m, f.bytes, f.length));
        if (net->rings[f.to] != NULL)
            step(net, f.to, &event);
        free(f.bytes);
        if (i > QUEUE / 2) { /* what was handled makes room */
            memmove(net->queue, net->queue + i + 1, (net->queued - i - 1) * sizeof *net->queue);
            net->queued -= i + 1;
            i = UINT32_MAX;
        }
    }
    net->queued = 0;
}

static void run(struct net *net, unsigned seconds)
{
    uint64_t until = net->now + (uint64_t)seconds * SECOND;
    deliver_all(net);
    while (net->now < until) {
        unsigned first = PEERS;
        for (unsigned i = 0; i < PEERS; i++)
            if (net->rings[i] != NULL &&
                (first == PEERS || ring_deadline(net->rings[i]) < ring_deadline(net->rings[first])))
                first = i;
        if (ring_deadline(net->rings[first]) > net->now)
            net->now = ring_deadline(net->rings[first]);
        step(net, first, &(struct ring_event){.kind = RING_TICK});
        deliver_all(net);
    }
}

static bool needs_two_cores(void *context, const uint8_t *ad, uint32_t length, const char *require)
{
    (void)context;
    return length > 1 && ad[1] >= 2 && strcmp(require, "cores >= 2") == 0;
}

static void start(struct net *net, unsigned i)
{
    struct ring_setup setup = {.self = peer(i),
                               .seed = i + 1,
                               .record_bytes = RING_RECORDS_MIN,
                               .searches = 1,
                               .fits = needs_two_cores};
    net->rings[i] = ring_init(malloc(ring_size(&setup)), &setup, net->now);
}

static void grow(struct net *net, unsigned peers)
{
    memset(net, 0, sizeof *net);
    net->now = SECOND;
    for (unsigned i = 0; i < peers; i++) {
        start(net, i);
        struct ring_event join = {.kind = RING_JOIN, .peer = peer(0)};
        if (i > 0)
            step(net, i, &join);
        run(net, 2);
    }
    run(net, 30);
}

static void end(struct net *net)
{
    for (unsigned i = 0; i < PEERS; i++)
        free(net->rings[i]);
}

static void expect_ring(const struct net *net)
{
    for (unsigned i = 0; i < PEERS; i++) {
        unsigned next = i;
        if (net->rings[i] == NULL)
            continue;
        do
            next = (next + 1) % PEERS;
        while (net->rings[next] == NULL);
        assert_int_equal(ring_standing(net->rings[i]), RING_MEMBER);
        assert_int_equal(ring_successor(net->rings[i], 0)->addr.ip[15], next);
        assert_int_equal(ring_predecessor(net->rings[next])->addr.ip[15], i);
    }
}

static void test_state_is_small(void **state)
{
    (void)state;
    struct ring_setup setup = {.record_bytes = RING_RECORDS_MIN, .searches = 1};
    assert_in_range(ring_size(&setup), 1, 16 * 1024);
}

static void test_alone(void **state)
{
    (void)state;
    struct net net;
    grow(&net, 1);
    assert_int_equal(ring_standing(net.rings[0]), RING_ALONE);
    assert_null(ring_successor(net.rings[0], 0));
    struct ring_event look = {.kind = RING_LOOKUP, .token = 1, .key = {{99}}};
    step(&net, 0, &look);
    deliver_all(&net);
    assert_true(net.found);
    assert_int_equal(net.owner.addr.ip[15], 0);
    end(&net);
}

static void test_joins_become_a_ring(void **state)
{
    (void)state;
    struct net net;
    grow(&net, PEERS);
    expect_ring(&net);
    struct part_peer known[64];
    assert_int_equal(ring_known(net.rings[3], known, 4), 4);
    assert_in_range(ring_known(net.rings[3], known, 64), RING_SUCCESSORS, PEERS - 1);
    end(&net);
}

static void test_lookups_find_the_owner(void **state)
{
    (void)state;
    struct net net;
    grow(&net, PEERS);
    for (unsigned n = 0; n < 250; n += 7) {
        unsigned owner = (n + 14) / 20 < PEERS ? (n + 14) / 20 : 0;
        struct ring_event look = {.kind = RING_LOOKUP, .token = n + 1, .key = {{(uint8_t)n}}};
        net.found = false;
        step(&net, n % PEERS, &look);
        deliver_all(&net);
        assert_true(net.found);
        assert_int_equal(net.owner.addr.ip[15], owner);
    }
    end(&net);
}

static void test_a_record_outlives_its_owner(void **state)
{
    (void)state;
    struct net net;
    uint8_t value[] = "kept";
    struct part_record r = {
        .key = {{60}}, .version = 1, .value = value, .value_length = sizeof value};
    grow(&net, PEERS);
    step(&net, 9, &(struct ring_event){.kind = RING_PUT, .token = 1, .record = &r});
    deliver_all(&net);
    assert_true(net.stored);
    for (unsigned i = 3; i < 6; i++) { /* the owner of 60 and the two after it, without a word */
        free(net.rings[i]);
        net.rings[i] = NULL;
    }
    run(&net, 40);
    expect_ring(&net);
    step(&net, 10, &(struct ring_event){.kind = RING_GET, .token = 2, .key = r.key});
    deliver_all(&net);
    assert_true(net.got);
    assert_int_equal(net.records, 1);
    assert_memory_equal(net.value, value, sizeof value);
    end(&net);
}

static void test_an_older_version_does_not_win(void **state)
{
    (void)state;
    struct net net;
    uint8_t old[] = "old", new[] = "new";
    struct part_record r = {.key = {{60}}, .version = 2, .value = new, .value_length = 4};
    grow(&net, 4);
    step(&net, 1, &(struct ring_event){.kind = RING_PUT, .token = 1, .record = &r});
    deliver_all(&net);
    r.version = 1;
    r.value = old;
    step(&net, 2, &(struct ring_event){.kind = RING_PUT, .token = 2, .record = &r});
    deliver_all(&net);
    step(&net, 3, &(struct ring_event){.kind = RING_GET, .token = 3, .key = r.key});
    deliver_all(&net);
    assert_memory_equal(net.value, new, 4);
    end(&net);
}

static void test_leaving_is_not_noticed(void **state)
{
    (void)state;
    struct net net;
    uint8_t value[] = "kept";
    struct part_record r = {
        .key = {{60}}, .version = 1, .copies = 1, .value = value, .value_length = sizeof value};
    grow(&net, PEERS);
    step(&net, 0, &(struct ring_event){.kind = RING_PUT, .token = 1, .record = &r});
    deliver_all(&net);
    step(&net, 3, &(struct ring_event){.kind = RING_LEAVE}); /* the owner of 60 */
    assert_true(net.left);
    assert_int_equal(ring_standing(net.rings[3]), RING_GONE);
    assert_true(ring_deadline(net.rings[3]) == UINT64_MAX);
    deliver_all(&net);
    free(net.rings[3]);
    net.rings[3] = NULL;
    assert_int_equal(ring_successor(net.rings[2], 0)->addr.ip[15], 4); /* at once */
    step(&net, 9, &(struct ring_event){.kind = RING_GET, .token = 2, .key = r.key});
    deliver_all(&net);
    assert_int_equal(net.records, 1);
    end(&net);
}

static void publish(struct net *net, unsigned i, uint8_t cores)
{
    uint8_t ad[] = {(uint8_t)i, cores, 7, 7};
    struct ring_event event = {.kind = RING_PUBLISH, .value = ad, .value_length = sizeof ad};
    step(net, i, &event);
}

static void test_ads_are_found_by_what_they_say(void **state)
{
    (void)state;
    struct net net;
    grow(&net, PEERS);
    for (unsigned i = 0; i < PEERS; i++)
        publish(&net, i, i % 3 == 0 ? 1 : 4);
    run(&net, 90);
    struct ring_event near = {
        .kind = RING_NEAREST, .token = 5, .want = 50, .require = "cores >= 2"};
    step(&net, 7, &near);
    run(&net, 5);
    assert_true(net.done);
    assert_int_equal(net.ads, 8);
    net.ads = 0;
    near.require = "cores >= 3"; /* no ad fits what needs_two_cores() does not know */
    step(&net, 7, &near);
    run(&net, 5);
    assert_int_equal(net.ads, 0);
    end(&net);
}

static void test_a_withdrawn_ad_is_gone(void **state)
{
    (void)state;
    struct net net;
    grow(&net, 4);
    for (unsigned i = 0; i < 4; i++)
        publish(&net, i, 4);
    run(&net, 90);
    step(&net, 2, &(struct ring_event){.kind = RING_PUBLISH});
    run(&net, 90); /* those that keep a copy of it have offered it again */
    struct ring_event near = {
        .kind = RING_NEAREST, .token = 5, .want = 50, .require = "cores >= 2"};
    step(&net, 1, &near);
    run(&net, 5);
    assert_int_equal(net.ads, 3);
    end(&net);
}

static void test_one_search_too_many_fails(void **state)
{
    (void)state;
    struct net net;
    grow(&net, 4);
    struct ring_event near = {.kind = RING_NEAREST, .token = 5, .want = 5, .require = ""};
    step(&net, 1, &near);
    near.token = 6;
    step(&net, 1, &near);
    assert_true(net.failed);
    step(&net, 1, &(struct ring_event){.kind = RING_CANCEL, .token = 5});
    net.failed = false;
    step(&net, 1, &near);
    assert_false(net.failed);
    deliver_all(&net);
    end(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_is_small),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_joins_become_a_ring),
        cmocka_unit_test(test_lookups_find_the_owner),
        cmocka_unit_test(test_a_record_outlives_its_owner),
        cmocka_unit_test(test_an_older_version_does_not_win),
        cmocka_unit_test(test_leaving_is_not_noticed),
        cmocka_unit_test(test_ads_are_found_by_what_they_say),
        cmocka_unit_test(test_a_withdrawn_ad_is_gone),
        cmocka_unit_test(test_one_search_too_many_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
