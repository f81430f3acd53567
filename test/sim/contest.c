/* SPDX-License-Identifier: BSD-3-Clause */
/* contest.c -- two submitters want the same slots, a thousand times, each time another way: both
 * end, with sets that are disjoint and whole, or refused and with nothing. What they have they keep
 * for as long as they renew it, and all of it is free when they give it back. */
#include "overlay/base/random.h"
#include "overlay/core/lease/lease.h"
#include "market.h"
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

enum { PEERS_MAX = 40, SLOTS_MAX = 4, LIMIT_US = 60 * 1000 * 1000, TIMEOUT_MS = 15000 };

struct topology {
    uint64_t random;
    uint32_t rtt_us[2][PEERS_MAX];
};

static uint64_t chance(uint64_t *state)
{
    return splitmix64(state);
}

static uint32_t rtt_us(void *ctx, unsigned bidder, unsigned peer)
{
    const struct topology *t = ctx;
    return t->rtt_us[bidder][peer];
}

static const char *judge(const struct market *m, const struct market_setup *s,
                         const struct request want[2])
{
    unsigned held[2] = {0, 0};
    for (unsigned peer = 0; peer < s->peers; peer++) {
        unsigned a = market_held(m, 0, peer), b = market_held(m, 1, peer);
        held[0] += a;
        held[1] += b;
        if (a + b > s->slots || market_lent(m, peer) != a + b)
            return "a slot was given twice, or lost";
        if (a != market_believed(m, 0, peer) || b != market_believed(m, 1, peer))
            return "a holder and a peer do not agree";
    }
    for (unsigned i = 0; i < 2; i++) {
        bool won = market_state(m, i) == BID_WON;
        if (won ? held[i] < want[i].slots : held[i] != 0)
            return won ? "a winner holds too little" : "one that was refused holds something";
        if (held[i] > want[i].slots + want[i].spares)
            return "a winner holds too much";
        if (market_lost(m, i) != 0)
            return "a lease was lost that was renewed";
    }
    return NULL;
}

static const char *judge_end(struct market *m, const struct market_setup *s)
{
    market_give_back(m);
    market_run(m, 2 * LIMIT_US);
    for (unsigned peer = 0; peer < s->peers; peer++)
        if (market_lent(m, peer) != 0)
            return "what was given back is not free";
    return NULL;
}

struct churn {
    unsigned both, one, none;
    uint64_t longest_us;
};

static const char *contest(uint64_t seed, struct churn *churn)
{
    struct topology t = {.random = seed};
    struct market_find peers[PEERS_MAX] = {0}; /* all found at once */
    struct market_setup setup = {.seed = seed,
                                 .peers = 2 + (unsigned)(chance(&t.random) % (PEERS_MAX - 1)),
                                 .slots = 1 + (unsigned)(chance(&t.random) % SLOTS_MAX),
                                 .bidders = 2,
                                 .hold_us = 2000 * (uint64_t)LEASE_TTL_MS,
                                 .rtt_us = rtt_us,
                                 .ctx = &t};
    unsigned all = setup.peers * setup.slots;
    struct request want[2];
    struct market *m = market_new(&setup);
    for (unsigned k = 0; k < setup.peers; k++)
        peers[k].peer = k;
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned k = 0; k < setup.peers; k++)
            t.rtt_us[i][k] = 100 + (uint32_t)(chance(&t.random) % 40000);
        want[i] = (struct request){.slots = 1 + (unsigned)(chance(&t.random) % all),
                                   .spares = (unsigned)(chance(&t.random) % 3),
                                   .strategy =
                                       (enum share_strategy)(chance(&t.random) % SHARE_STRATEGIES),
                                   .timeout_ms = TIMEOUT_MS};
        market_bid(m, i, &want[i], true, peers, setup.peers, chance(&t.random) % 50000);
    }
    const char *wrong = market_run(m, LIMIT_US) ? judge(m, &setup, want) : "it does not end";
    if (wrong == NULL)
        wrong = judge_end(m, &setup);
    unsigned won = (market_state(m, 0) == BID_WON) + (market_state(m, 1) == BID_WON);
    if (won == 0 && want[0].slots <= all && want[1].slots <= all)
        churn->none++;
    churn->one += won == 1;
    churn->both += won == 2;
    for (unsigned i = 0; i < 2; i++)
        if (market_took_us(m, i) > churn->longest_us)
            churn->longest_us = market_took_us(m, i);
    market_free(m);
    return wrong;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    unsigned long *o = state->input;
    if (key != 's' && key != 'c')
        return ARGP_ERR_UNKNOWN;
    o[key == 'c'] = strtoul(arg, NULL, 10);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"seed", 's', "N", 0, "of the first contest (1)", 0},
        {"contests", 'c', "N", 0, "one seed after the other (1000)", 0},
        {0},
    };
    static const struct argp argp = {options, parse, NULL, "Contests for slots in the simulator.",
                                     NULL,    NULL,  NULL};
    unsigned long o[2] = {1, 1000};
    struct churn churn = {0};
    argp_parse(&argp, argc, argv, 0, NULL, o);
    for (unsigned long i = 0; i < o[1]; i++) {
        const char *wrong = contest(o[0] + i, &churn);
        if (wrong == NULL)
            continue;
        printf("%s; again: test/sim/contest --seed %lu --contests 1\n", wrong, o[0] + i);
        return 1;
    }
    printf("%lu contests: both had what they wanted in %u, one in %u, none in %u; the longest took "
           "%.2f s\n",
           o[1], churn.both, churn.one, churn.none, (double)churn.longest_us / 1e6);
    return 0;
}
