/* SPDX-License-Identifier: BSD-3-Clause */
/* allocate.c -- slots found as p2pd finds them: the ring's tree names near peers that fit, these
 * are visited and measured, and the nearest are claimed. 600 slots among 1,000 peers of one LAN
 * take at most a second; among sites far apart the chosen set is within 10% of the best there is.
 */
#include "market.h"
#include "sim.h"
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    AT_ONCE = 32, /* visits side by side, each of four round trips: the ad and three pings */
    ROUND_TRIPS = 4,
    NAMED_MIN = 16,
    SLOTS = 4, /* of each peer */
    LAN_US = 150,
    ONE_SECOND = 1000 * 1000,
};

struct ad {
    unsigned peer; /* first: sim_answer.ads shows it */
    uint8_t rest[200];
};

struct ad_search {
    uint32_t rtt_us;
    unsigned peer;
};

struct found {
    uint64_t search_us, visits_us, claim_us;
    double mean_us, best_us; /* round trips of what was chosen, and of the best */
    unsigned named, slots;
};

static int by_rtt(const void *a, const void *b)
{
    const struct ad_search *x = a, *y = b;
    return x->rtt_us < y->rtt_us ? -1 : x->rtt_us > y->rtt_us;
}

static struct sim *grow(unsigned peers, uint64_t seed, uint32_t flat_us)
{
    struct sim_setup setup = {.seed = seed,
                              .peers = peers,
                              .lost_permille = flat_us > 0 ? 0 : 1,
                              .jitter_permille = 100,
                              .flat_us = flat_us,
                              .record_bytes = 8192};
    struct sim *sim = sim_new(&setup);
    sim_start(sim, 0);
    for (unsigned i = 1; i < peers; i++) {
        sim_join(sim, i, (unsigned)(sim_random(sim) % i));
        if (i % (peers / 16) == 0)
            sim_wait(sim, SIM_SECOND);
    }
    for (unsigned s = 0; s < 120 && sim_check_ring(sim, true) != NULL; s++)
        sim_wait(sim, SIM_SECOND);
    for (unsigned i = 0; i < peers; i++) {
        struct ad ad = {.peer = i};
        sim_publish(sim, i, &ad, sizeof ad);
    }
    sim_wait(sim, 150 * SIM_SECOND);
    return sim;
}

/* The peers that were named, measured and sorted, each once. */
static unsigned measure(const struct sim *sim, unsigned from, const struct sim_answer *a,
                        struct ad_search *near)
{
    unsigned n = 0;
    bool *seen = calloc(sim_peers(sim), sizeof *seen);
    if (seen == NULL)
        abort();
    for (unsigned i = 0; i < a->count; i++) {
        if (!seen[a->ads[i]])
            near[n++] =
                (struct ad_search){.rtt_us = sim_rtt_us(sim, from, a->ads[i]), .peer = a->ads[i]};
        seen[a->ads[i]] = true;
    }
    free(seen);
    return n;
}

/* In the order of the answers, as many at once as p2pd visits. */
static uint64_t visit(const struct ad_search *near, unsigned n)
{
    uint64_t free_at[AT_ONCE] = {0}, end = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned first = 0;
        for (unsigned k = 1; k < AT_ONCE; k++)
            first = free_at[k] < free_at[first] ? k : first;
        free_at[first] += (uint64_t)ROUND_TRIPS * near[i].rtt_us;
        end = free_at[first] > end ? free_at[first] : end;
    }
    return end;
}

struct view {
    const struct sim *sim;
    unsigned from;
};

static uint32_t rtt_us(void *ctx, unsigned bidder, unsigned peer)
{
    const struct view *v = ctx;
    (void)bidder;
    return sim_rtt_us(v->sim, v->from, peer);
}

static void claim(const struct sim *sim, unsigned from, unsigned slots,
                  const struct ad_search *near, unsigned n, struct found *f)
{
    struct view view = {.sim = sim, .from = from};
    struct market_setup setup = {.seed = from,
                                 .peers = sim_peers(sim),
                                 .slots = SLOTS,
                                 .bidders = 1,
                                 .rtt_us = rtt_us,
                                 .ctx = &view};
    struct claim_want want = {.slots = slots};
    struct market *m = market_new(&setup);
    unsigned *peers = calloc(n + 1, sizeof *peers);
    if (peers == NULL)
        abort();
    for (unsigned i = 0; i < n; i++)
        peers[i] = near[i].peer;
    market_bid(m, 0, &want, peers, n, 0);
    market_run(m, 60 * ONE_SECOND);
    f->claim_us = market_took_us(m, 0);
    for (unsigned i = 0; i < sim_peers(sim); i++) {
        f->slots += market_held(m, 0, i);
        f->mean_us += (double)market_held(m, 0, i) * sim_rtt_us(sim, from, i);
    }
    f->mean_us /= f->slots > 0 ? f->slots : 1;
    free(peers);
    market_free(m);
}

static double best(const struct sim *sim, unsigned from, unsigned slots)
{
    unsigned n = sim_peers(sim), left = slots;
    struct ad_search *all = calloc(n, sizeof *all);
    double sum = 0;
    if (all == NULL)
        abort();
    for (unsigned i = 0; i < n; i++)
        all[i] = (struct ad_search){.rtt_us = sim_rtt_us(sim, from, i), .peer = i};
    qsort(all, n, sizeof *all, by_rtt);
    for (unsigned i = 0; i < n && left > 0; i++) {
        unsigned take = left < SLOTS ? left : SLOTS;
        sum += (double)take * all[i].rtt_us;
        left -= take;
    }
    free(all);
    return sum / slots;
}

static struct found allocate(struct sim *sim, unsigned from, unsigned slots)
{
    struct found f = {0};
    unsigned want = 2 * slots / SLOTS;
    const struct sim_answer *a = sim_nearest(sim, from, want < NAMED_MIN ? NAMED_MIN : want, "");
    sim_wait_for(sim, a);
    struct ad_search *near = calloc(a->count + 1, sizeof *near);
    if (near == NULL)
        abort();
    f.search_us = a->took_us;
    f.named = measure(sim, from, a, near);
    f.visits_us = visit(near, f.named);
    qsort(near, f.named, sizeof *near, by_rtt);
    claim(sim, from, slots, near, f.named, &f);
    f.best_us = best(sim, from, slots);
    free(near);
    return f;
}

static bool in_a_lan(unsigned peers, unsigned slots, unsigned long seed)
{
    struct sim *sim = grow(peers, seed, LAN_US);
    struct found f = allocate(sim, (unsigned)(sim_random(sim) % peers), slots);
    double all = (double)(f.search_us + f.visits_us + f.claim_us) / ONE_SECOND;
    printf("LAN: %u of %u slots among %u peers after %.3f s: %.3f to have %u named, %.3f to visit "
           "them, %.3f to claim\n",
           f.slots, slots, peers, all, (double)f.search_us / ONE_SECOND, f.named,
           (double)f.visits_us / ONE_SECOND, (double)f.claim_us / ONE_SECOND);
    sim_free(sim);
    bool good = f.slots == slots && all <= 1;
    if (!good)
        printf("again: test/sim/allocate --topologies 0 --seed %lu --lan %u\n", seed, peers);
    return good;
}

static bool far_apart(unsigned topologies, unsigned peers, unsigned long seed)
{
    double worst = 0, sum = 0;
    bool right = true;
    for (unsigned i = 0; i < topologies; i++) {
        struct sim *sim = grow(peers, seed + i, 0);
        unsigned from = (unsigned)(sim_random(sim) % peers), slots = peers;
        struct found f = allocate(sim, from, slots); /* a quarter of what there is */
        double ratio = f.slots == slots ? f.mean_us / f.best_us : 99;
        worst = ratio > worst ? ratio : worst;
        sum += ratio;
        if (ratio > 1.1) {
            printf("%.3f of the best, %u of %u slots, %u named; again: test/sim/allocate --lan 0 "
                   "--topologies 1 --seed %lu --peers %u\n",
                   ratio, f.slots, slots, f.named, seed + i, peers);
            right = false;
        }
        sim_free(sim);
    }
    printf("%u topologies of %u peers: the mean round trip is %.3f of the best, at worst %.3f\n",
           topologies, peers, sum / (topologies > 0 ? topologies : 1), worst);
    return right;
}

struct options {
    unsigned long seed;
    unsigned lan, topologies, peers;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    unsigned long n = arg != NULL ? strtoul(arg, NULL, 10) : 0;
    switch (key) {
    case 's':
        o->seed = n;
        return 0;
    case 'l':
        o->lan = (unsigned)n;
        return 0;
    case 't':
        o->topologies = (unsigned)n;
        return 0;
    case 'p':
        o->peers = (unsigned)n;
        return n >= 16 ? 0 : EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"seed", 's', "N", 0, "where all chance comes from (1)", 0},
        {"lan", 'l', "N", 0, "peers of the LAN (300), 0 for none; 600 slots from 1000 on", 0},
        {"topologies", 't', "N", 0, "of sites far apart (6)", 0},
        {"peers", 'p', "N", 0, "in each of these (64)", 0},
        {0},
    };
    static const struct argp argp = {options, parse, NULL, "Allocations in the simulator.",
                                     NULL,    NULL,  NULL};
    struct options o = {.seed = 1, .lan = 300, .topologies = 6, .peers = 64};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    unsigned slots = o.lan >= 1000 ? 600 : o.lan * 6 / 10;
    bool right = o.lan < 16 || in_a_lan(o.lan, slots, o.seed);
    return far_apart(o.topologies, o.peers, o.seed) && right ? 0 : 1;
}
