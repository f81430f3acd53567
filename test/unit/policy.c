/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/rmaps_locality/policy.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct policy_node node(int peer, unsigned slots, unsigned rtt, const char *site)
{
    struct policy_node n = {.free = slots, .rtt_us = rtt, .site = site};
    n.peer.b[0] = (uint8_t)peer;
    n.addr.ip[10] = n.addr.ip[11] = 0xff;
    n.addr.ip[12] = 10;
    n.addr.ip[14] = (uint8_t)peer; /* every peer in a subnet of its own */
    n.addr.ip[15] = 1;
    return n;
}

static unsigned place(const struct policy_node *nodes, unsigned count, unsigned ranks,
                      unsigned lanes, bool spread, unsigned *out)
{
    const struct policy_job job = {
        .nodes = nodes, .node_count = count, .ranks = ranks, .lanes = lanes, .spread = spread};
    return (unsigned)-policy_place(&job, out, NULL);
}

static void test_near_first(void **state)
{
    (void)state;
    unsigned at[4];
    const struct policy_node n[] = {node(1, 2, 300, ""), node(2, 2, 100, ""), node(3, 2, 200, "")};
    assert_int_equal(place(n, 3, 4, 1, false, at), 0);
    const unsigned wanted[] = {1, 1, 2, 2};
    assert_memory_equal(at, wanted, sizeof wanted);
}

static void test_spread(void **state)
{
    (void)state;
    unsigned at[5];
    const struct policy_node n[] = {node(1, 2, 300, ""), node(2, 2, 100, ""), node(3, 1, 200, "")};
    assert_int_equal(place(n, 3, 5, 1, true, at), 0);
    const unsigned wanted[] = {1, 2, 0, 1, 0};
    assert_memory_equal(at, wanted, sizeof wanted);
}

static void test_too_few_slots(void **state)
{
    (void)state;
    unsigned at[4];
    const struct policy_node n[] = {node(1, 1, 1, ""), node(2, 2, 1, "")};
    assert_int_equal(place(n, 2, 4, 1, false, at), ENOSPC);
    assert_int_equal(place(n, 2, 2, 2, false, at), ENOSPC);
}

/* No node more than its slots; no two copies of a rank in one domain (peer, or site). */
static void assert_sound(const struct policy_node *n, unsigned count, unsigned ranks,
                         unsigned lanes, const unsigned *at, bool sites)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned used = 0;
        for (unsigned v = 0; v < ranks * lanes; v++)
            used += at[v] == i;
        assert_true(used <= n[i].free);
    }
    for (unsigned v = 0; v < ranks * lanes; v++) {
        for (unsigned w = v % ranks; w < v; w += ranks) {
            assert_false(id_equal(&n[at[v]].peer, &n[at[w]].peer));
            assert_false(sites && strcmp(n[at[v]].site, n[at[w]].site) == 0);
        }
    }
}

static void test_copies_on_different_peers(void **state)
{
    (void)state;
    unsigned at[6];
    /* Filling the near peer with both copies of nothing: greed would leave rank 2 without room. */
    const struct policy_node n[] = {node(1, 1, 1, ""), node(2, 2, 2, ""), node(3, 3, 3, "")};
    assert_int_equal(place(n, 3, 3, 2, false, at), 0);
    assert_sound(n, 3, 3, 2, at, false);
}

static void test_two_leases_of_one_peer(void **state)
{
    (void)state;
    unsigned at[4];
    const struct policy_node n[] = {node(1, 1, 1, ""), node(1, 1, 1, ""), node(2, 1, 2, ""),
                                    node(2, 1, 2, "")};
    assert_int_equal(place(n, 4, 2, 2, false, at), 0);
    assert_sound(n, 4, 2, 2, at, false);
    const struct policy_node m[] = {node(1, 1, 1, ""), node(1, 1, 1, ""), node(1, 1, 2, ""),
                                    node(2, 1, 2, "")};
    assert_int_equal(place(m, 4, 2, 2, false, at), ENOSPC);
}

static void test_copies_on_different_sites(void **state)
{
    (void)state;
    unsigned at[4];
    const struct policy_node n[] = {node(1, 1, 1, "a"), node(2, 1, 2, "b"), node(3, 1, 3, "c"),
                                    node(4, 1, 4, "c")};
    assert_int_equal(place(n, 4, 2, 2, false, at), 0);
    assert_sound(n, 4, 2, 2, at, true);
}

static void test_copies_in_different_subnets(void **state)
{
    (void)state;
    unsigned at[4];
    struct policy_node n[] = {node(1, 1, 1, ""), node(2, 1, 2, ""), node(3, 1, 3, ""),
                              node(4, 1, 4, "")};
    n[1].addr = n[0].addr;
    n[1].addr.ip[15] = 2;
    n[3].addr = n[2].addr;
    n[3].addr.ip[15] = 2;
    assert_int_equal(place(n, 4, 2, 2, false, at), 0);
    for (unsigned rank = 0; rank < 2; rank++)
        assert_true((at[rank] < 2) != (at[2 + rank] < 2));
}

static void test_levels_by_rank(void **state)
{
    (void)state;
    unsigned at[6];
    const unsigned copies[] = {3, 1};
    const struct policy_node n[] = {node(1, 2, 1, ""), node(2, 1, 2, ""), node(3, 1, 3, "")};
    const struct policy_job job = {
        .nodes = n, .node_count = 3, .ranks = 2, .lanes = 3, .copies = copies};
    assert_int_equal(policy_place(&job, at, NULL), 0);
    const unsigned wanted[] = {0, 0, 1, POLICY_NOWHERE, 2, POLICY_NOWHERE};
    assert_memory_equal(at, wanted, sizeof wanted);
}

/* Random fields against the one thing that can be known without placing: by Gale and Ryser copies
 * fit if and only if sum of min(slots of a peer, ranks) is at least ranks * lanes. */
static void test_places_whatever_fits(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (unsigned round = 0; round < 3000; round++) {
        struct policy_node n[8];
        unsigned at[12 * 3], fits = 0;
        const unsigned count = 1 + (unsigned)rand_r(&seed) % 8;
        const unsigned ranks = 1 + (unsigned)rand_r(&seed) % 12;
        const unsigned lanes = 2 + (unsigned)rand_r(&seed) % 2;
        for (unsigned i = 0; i < count; i++) {
            n[i] = node((int)i + 1, (unsigned)rand_r(&seed) % 10, (unsigned)rand_r(&seed) % 50, "");
            fits += n[i].free < ranks ? n[i].free : ranks;
        }
        const unsigned rc = place(n, count, ranks, lanes, round % 2 != 0, at);
        assert_int_equal(rc, fits >= ranks * lanes ? 0 : ENOSPC);
        if (rc == 0)
            assert_sound(n, count, ranks, lanes, at, false);
    }
}

/* Neighbouring ranks are on the same site: its farther peers come before another site's. */
static void test_sites_stay_together(void **state)
{
    (void)state;
    unsigned at[8];
    const struct policy_node n[] = {node(1, 2, 10, "lab"), node(2, 2, 20, "hall"),
                                    node(3, 2, 30, "lab"), node(4, 2, 40, "hall")};
    assert_int_equal(place(n, 4, 8, 1, false, at), 0);
    const unsigned wanted[] = {0, 0, 2, 2, 1, 1, 3, 3};
    assert_memory_equal(at, wanted, sizeof wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_first),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_too_few_slots),
        cmocka_unit_test(test_copies_on_different_peers),
        cmocka_unit_test(test_two_leases_of_one_peer),
        cmocka_unit_test(test_copies_on_different_sites),
        cmocka_unit_test(test_copies_in_different_subnets),
        cmocka_unit_test(test_levels_by_rank),
        cmocka_unit_test(test_places_whatever_fits),
        cmocka_unit_test(test_sites_stay_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
