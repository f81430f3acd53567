/* SPDX-License-Identifier: BSD-3-Clause */
/* parted.c -- the network parts in two: each half is a ring of its own, and when the link is back
 * they become one by themselves. So do two rings that never met, when one peer of the one hears of
 * one of the other. Who sleeps for an hour wakes into the same ring. */
#include "sim.h"
#include <stdio.h>

enum { PEERS = 200, SLEEPERS = 24, MINUTE = 60 * SIM_SECOND };

static bool is_odd(unsigned peer)
{
    return peer % 2 == 1;
}

static bool whole_within(struct sim *sim, unsigned seconds, const char *what)
{
    const char *wrong = "";
    unsigned s = 0;
    for (; wrong != NULL && s < seconds; s++) {
        sim_wait(sim, SIM_SECOND);
        wrong = sim_check_ring(sim, true);
    }
    if (wrong == NULL)
        printf("ok: %s: whole after %u s\n", what, s);
    else
        printf("FAILED: %s: %s after %u s\n", what, wrong, s);
    return wrong == NULL;
}

/* Lookups begun in a half must end in that half, at the peer that is next there. */
static bool half_works(struct sim *sim, bool odd)
{
    unsigned right = 0, all = 100;
    for (unsigned n = 0; n < all; n++) {
        unsigned from = 2 * (unsigned)(sim_random(sim) % (PEERS / 2)) + odd, best = from;
        struct id key, least = {{0}};
        for (unsigned i = 0; i < ID_BYTES; i++)
            key.b[i] = (uint8_t)(sim_random(sim) >> 20);
        for (unsigned i = odd; i < PEERS; i += 2) {
            struct id at = sim_id(sim, i), d = id_distance(&key, &at);
            if (i == odd || id_compare(&d, &least) < 0) {
                least = d;
                best = i;
            }
        }
        const struct sim_answer *a = sim_lookup(sim, from, &key);
        sim_wait_for(sim, a);
        right += !a->failed && a->peer == best;
    }
    printf("%s: %u of %u lookups right in the %s half\n", right == all ? "ok" : "FAILED", right,
           all, odd ? "odd" : "even");
    return right == all;
}

static bool part_and_heal(void)
{
    struct sim_setup setup = {
        .seed = 3, .peers = PEERS, .jitter_permille = 100, .lost_permille = 2};
    struct sim *sim = sim_new(&setup);
    sim_start(sim, 0);
    for (unsigned i = 1; i < PEERS; i++) {
        sim_join(sim, i, i / 2);
        sim_wait(sim, SIM_SECOND / 10);
    }
    bool good = whole_within(sim, 60, "grown");
    sim_wait(sim, MINUTE);
    sim_partition(sim, is_odd);
    sim_wait(sim, MINUTE);
    good &= half_works(sim, false);
    good &= half_works(sim, true);
    sim_heal(sim);
    good &= whole_within(sim, 60, "healed");
    sim_free(sim);
    return good;
}

static bool two_rings_meet(void)
{
    struct sim_setup setup = {
        .seed = 4, .peers = PEERS, .jitter_permille = 100, .lost_permille = 2};
    struct sim *sim = sim_new(&setup);
    sim_start(sim, 0);
    sim_start(sim, 1);
    for (unsigned i = 2; i < PEERS; i++) {
        sim_join(sim, i, i % 2);
        sim_wait(sim, SIM_SECOND / 10);
    }
    sim_wait(sim, MINUTE);
    bool good = half_works(sim, false);
    good &= half_works(sim, true);
    sim_join(sim, 50, 101);
    good &= whole_within(sim, 120, "two rings, one has heard of the other");
    sim_free(sim);
    return good;
}

static bool sleep_an_hour(void)
{
    struct sim_setup setup = {
        .seed = 5, .peers = SLEEPERS, .jitter_permille = 100, .lost_permille = 2};
    struct sim *sim = sim_new(&setup);
    sim_start(sim, 0);
    for (unsigned i = 1; i < SLEEPERS; i++)
        sim_join(sim, i, 0);
    bool good = whole_within(sim, 60, "grown");
    sim_freeze(sim, 7, 60ull * MINUTE);
    sim_wait(sim, 60ull * MINUTE);
    good &= whole_within(sim, 10, "a laptop slept for an hour");
    sim_free(sim);
    return good;
}

int main(void)
{
    bool good = part_and_heal();
    good &= two_rings_meet();
    good &= sleep_an_hour();
    if (!good)
        printf("again: test/sim/parted\n"); /* the seeds are in it */
    return !good;
}
