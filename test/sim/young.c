/* SPDX-License-Identifier: BSD-3-Clause */
/* young.c -- a grid that has just come up is one ring soon, and what was in reach of a walk stays
 * so; a peer that leaves and comes again at once is known to all again before another one dies. */
#include "sim.h"
#include <stdio.h>

enum { PEERS = 8, SEEDS = 300, MS = 1000, EXACT_S = 3, LOOK_MS = 10, UP_MS = 100 };

/* What a walk does: visits those that the visited ones know. */
struct tour {
    const struct sim *sim;
    bool seen[PEERS];
    unsigned at[PEERS], count;
};

static void add_stop(struct tour *t, const struct part_peer *peer)
{
    unsigned i = sim_number(peer);
    if (t->seen[i] || !sim_alive(t->sim, i))
        return;
    t->seen[i] = true;
    t->at[t->count++] = i;
}

static unsigned reach(const struct sim *sim, unsigned from)
{
    struct tour t = {.sim = sim};
    const struct part_peer *p;
    add_stop(&t, ring_self(sim_ring(sim, from)));
    for (unsigned at = 0; at < t.count; at++) {
        const struct ring *ring = sim_ring(sim, t.at[at]);
        for (unsigned i = 0; (p = ring_successor(ring, i)) != NULL; i++)
            add_stop(&t, p);
        for (unsigned i = 0; (p = ring_finger(ring, i)) != NULL; i++)
            add_stop(&t, p);
        if ((p = ring_predecessor(ring)) != NULL)
            add_stop(&t, p);
    }
    return t.count;
}

static struct sim *begin(unsigned seed)
{
    struct sim_setup setup = {.seed = seed, .peers = PEERS, .flat_us = 100, .jitter_permille = 900};
    struct sim *sim = sim_new(&setup);
    sim_start(sim, 0);
    sim_wait(sim, 200 * MS);
    return sim;
}

/* Until each peer in turn reaches all, as contrib/grid waits. */
static void come_up(struct sim *sim, unsigned gap_ms)
{
    for (unsigned i = 1; i < PEERS; i++) {
        sim_join(sim, i, 0);
        sim_wait(sim, sim_random(sim) % (gap_ms * MS));
    }
    for (unsigned k = 0; k < PEERS && sim_now(sim) < 60 * SIM_SECOND;) {
        sim_wait(sim, LOOK_MS * MS);
        if (reach(sim, k) == PEERS)
            k++;
        else
            sim_wait(sim, UP_MS * MS);
    }
}

static const char *grow(unsigned seed, unsigned gap_ms)
{
    struct sim *sim = begin(seed);
    const char *wrong = NULL;
    come_up(sim, gap_ms);
    for (uint64_t end = sim_now(sim) + EXACT_S * SIM_SECOND; wrong == NULL && sim_now(sim) < end;) {
        sim_wait(sim, LOOK_MS * MS);
        if (reach(sim, 0) < PEERS)
            wrong = "a peer is out of reach again";
    }
    if (wrong == NULL)
        wrong = sim_check_ring(sim, true);
    sim_free(sim);
    return wrong;
}

/* Of three, one leaves and comes again, and then another one dies. */
static const char *come_again(unsigned seed, unsigned gap_ms)
{
    struct sim *sim = begin(seed);
    const char *wrong = NULL;
    sim_join(sim, 1, 0);
    sim_join(sim, 2, 0);
    sim_wait(sim, 10 * SIM_SECOND);
    sim_leave(sim, 1);
    sim_wait(sim, sim_random(sim) % (gap_ms * MS));
    sim_join(sim, 1, 0);
    sim_join(sim, 1, 2);
    sim_wait(sim, SIM_SECOND / 2);
    if (reach(sim, 0) < 3 || reach(sim, 2) < 3)
        wrong = "a peer that has come again is not known to all";
    sim_kill(sim, 2);
    for (unsigned i = 0; wrong == NULL && i < 50; i++) {
        sim_wait(sim, 100 * MS);
        if (ring_standing(sim_ring(sim, 0)) == RING_ALONE)
            wrong = "a peer takes itself for alone";
    }
    if (wrong == NULL)
        wrong = sim_check_ring(sim, true);
    sim_free(sim);
    return wrong;
}

static int for_all(const char *what, unsigned gap_ms, const char *(*run)(unsigned, unsigned))
{
    unsigned failed = 0;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        const char *wrong = run(seed, gap_ms);
        if (wrong != NULL && ++failed <= 3)
            printf("FAILED: %s, seed %u: %s\n", what, seed, wrong);
    }
    printf("%s: %s, at most %u ms apart: %u of %u\n", failed == 0 ? "ok" : "FAILED", what, gap_ms,
           SEEDS - failed, SEEDS);
    return failed != 0;
}

int main(void)
{
    int failed = for_all("eight come up", 1, grow);
    failed += for_all("eight come up", 20, grow);
    failed += for_all("eight come up", 200, grow);
    failed += for_all("one comes again", 300, come_again);
    if (failed > 0)
        printf("again: test/sim/young\n"); /* the seeds are in it */
    return failed != 0;
}
