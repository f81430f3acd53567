/* SPDX-License-Identifier: BSD-3-Clause */
/* overlay.c -- what the overlay costs and how well it does, from 64 to 16,384 peers in the
 * simulator, beside what is aimed at and beside what earlier systems did on the same network: a
 * supernode, and round robin gossip. */
#include "gossip.h"
#include "party.h"
#include "sim.h"
#include "supernode.h"
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUERIES = 1000,
    SEARCHES = 25,
    NEED = 64,
    WANT = 96, /* these are then measured, and the best of them taken: as p2pd does */
    RECORDS_MAX = 200,
    AFTER = SUPERNODE_MOMENTS, /* after peers vanished, at which lookups are judged */
    CUTS = 21,
    PATIENCE_S = 4,
};

static const unsigned moments_s[AFTER] = {2, 10, 20, 30};

struct result {
    unsigned peers, log2;
    double hops, hops_p99;
    double idle_bytes, idle_messages;
    double chain, quality, search_messages;
    double right[2][AFTER]; /* after a quarter and after half vanished */
    unsigned records, lost[2];
    size_t state_bytes;
};

struct ad {
    unsigned peer; /* first: sim_answer.ads shows it */
    unsigned cores;
    uint8_t rest[92];
};

static bool has_cores(void *context, const uint8_t *bytes, uint32_t length, const char *require)
{
    struct ad ad = {0};
    (void)context, (void)require;
    memcpy(&ad, bytes, length < sizeof ad ? length : sizeof ad);
    return ad.cores >= 4;
}

static unsigned cores_of(unsigned peer)
{
    return peer % 3 == 0 ? 2 : 8;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static unsigned any(struct sim *sim)
{
    unsigned i;
    do {
        i = (unsigned)(sim_random(sim) % sim_peers(sim));
    } while (!sim_alive(sim, i));
    return i;
}

static struct id random_key(struct sim *sim)
{
    struct id key;
    for (unsigned i = 0; i < ID_BYTES; i++)
        key.b[i] = (uint8_t)(sim_random(sim) >> 20);
    return key;
}

/* --- growing --- */

static struct sim *grow(unsigned peers, uint64_t seed)
{
    struct sim_setup setup = {.seed = seed,
                              .peers = peers,
                              .lost_permille = 1,
                              .jitter_permille = 100,
                              .skew_ppm = 100,
                              .fits = has_cores};
    struct sim *sim = sim_new(&setup);
    sim_start(sim, 0);
    for (unsigned i = 1; i < peers; i++) {
        sim_join(sim, i, (unsigned)(sim_random(sim) % (i / 2 + 1)));
        if (i % (peers / 32) == 0)
            sim_wait(sim, SIM_SECOND);
    }
    for (unsigned s = 0; s < 300 && sim_check_ring(sim, true) != NULL; s++)
        sim_wait(sim, SIM_SECOND);
    const char *wrong = sim_check_ring(sim, true);
    if (wrong != NULL)
        printf("  the ring of %u did not form: %s\n", peers, wrong);
    for (unsigned i = 0; i < peers; i++) {
        struct ad ad = {.peer = i, .cores = cores_of(i)};
        sim_publish(sim, i, &ad, sizeof ad);
    }
    sim_wait(sim, 240 * SIM_SECOND);
    return sim;
}

/* --- measuring --- */

static void measure_idle(struct sim *sim, struct result *r)
{
    uint64_t messages = sim_messages(sim), bytes = sim_bytes(sim);
    sim_wait(sim, 60 * SIM_SECOND);
    r->idle_messages = (double)(sim_messages(sim) - messages) / 60 / r->peers;
    r->idle_bytes = (double)(sim_bytes(sim) - bytes) / 60 / r->peers;
}

static void measure_hops(struct sim *sim, struct result *r)
{
    static uint32_t hops[QUERIES];
    double sum = 0;
    for (unsigned i = 0; i < QUERIES; i++) {
        struct id key = random_key(sim);
        const struct sim_answer *a = sim_lookup(sim, any(sim), &key);
        sim_wait_for(sim, a);
        hops[i] = a->hops;
        sum += a->hops;
    }
    qsort(hops, QUERIES, sizeof hops[0], by_number);
    r->hops = sum / QUERIES;
    r->hops_p99 = hops[QUERIES * 99 / 100];
}

static double mean_of_nearest(uint32_t *rtt, unsigned n)
{
    double sum = 0;
    unsigned need = n < NEED ? n : NEED;
    qsort(rtt, n, sizeof *rtt, by_number);
    for (unsigned i = 0; i < need; i++)
        sum += rtt[i];
    return sum / (need > 0 ? need : 1);
}

/* Those that are near by coordinate are measured, and the best of them count: as p2pd does. */
static double found_mean(struct sim *sim, unsigned from, const struct sim_answer *a, unsigned *got)
{
    uint32_t *rtt = calloc(a->count + 1, sizeof *rtt);
    bool *seen = calloc(sim_peers(sim), sizeof *seen);
    if (rtt == NULL || seen == NULL)
        abort();
    *got = 0;
    for (unsigned i = 0; i < a->count; i++) {
        if (seen[a->ads[i]])
            continue;
        seen[a->ads[i]] = true;
        rtt[(*got)++] = sim_rtt_us(sim, from, a->ads[i]);
    }
    double mean = mean_of_nearest(rtt, *got);
    free(rtt);
    free(seen);
    return mean;
}

static double true_mean(struct sim *sim, unsigned from, unsigned *fit)
{
    uint32_t *rtt = calloc(sim_peers(sim), sizeof *rtt);
    if (rtt == NULL)
        abort();
    *fit = 0;
    for (unsigned i = 0; i < sim_peers(sim); i++)
        if (sim_alive(sim, i) && cores_of(i) >= 4)
            rtt[(*fit)++] = sim_rtt_us(sim, from, i);
    double mean = mean_of_nearest(rtt, *fit);
    free(rtt);
    return mean;
}

static void measure_search(struct sim *sim, struct result *r)
{
    double chain = 0, quality = 0, messages = 0;
    for (unsigned i = 0; i < SEARCHES; i++) {
        unsigned from = any(sim), got, fit;
        uint64_t before = sim_messages(sim);
        const struct sim_answer *a = sim_nearest(sim, from, WANT, "cores >= 4");
        sim_wait_for(sim, a);
        double idle = r->idle_messages * r->peers * (double)a->took_us / SIM_SECOND;
        messages += (double)(sim_messages(sim) - before) - idle;
        chain += a->chain;
        double found = found_mean(sim, from, a, &got), best = true_mean(sim, from, &fit);
        unsigned need = fit < NEED ? fit : NEED;
        quality += got < need ? 9.99 : best > 0 ? found / best : 1;
    }
    r->chain = chain / SEARCHES;
    r->quality = quality / SEARCHES;
    r->search_messages = messages / SEARCHES;
}

static struct part_record record(unsigned n)
{
    static uint8_t value[100];
    struct part_record r = {.version = 1, .value = value, .value_length = sizeof value};
    uint64_t z = n + 1;
    for (unsigned i = 0; i < ID_BYTES; i++) {
        z = z * 6364136223846793005u + 1442695040888963407u;
        r.key.b[i] = (uint8_t)(z >> 33);
    }
    return r;
}

static void put_records(struct sim *sim, unsigned records)
{
    for (unsigned n = 0; n < records; n++) {
        struct part_record r = record(n);
        sim_wait_for(sim, sim_put(sim, any(sim), &r));
    }
    sim_wait(sim, 2 * SIM_SECOND);
}

static unsigned lost_records(struct sim *sim, unsigned records)
{
    unsigned lost = 0;
    for (unsigned n = 0; n < records; n++) {
        struct part_record r = record(n);
        const struct sim_answer *a = sim_get(sim, any(sim), &r.key);
        sim_wait_for(sim, a);
        lost += a->failed || a->count == 0;
    }
    return lost;
}

/* Lookups begun at one moment, of which so many are answered, and right, when the time is up: in
 * PATIENCE_S a lookup has been begun again if its answer was lost. */
static double share_right(struct sim *sim, uint64_t until)
{
    enum { AT_ONCE = 200 };
    const struct sim_answer *answers[AT_ONCE];
    struct id keys[AT_ONCE];
    unsigned right = 0;
    for (unsigned i = 0; i < AT_ONCE; i++) {
        keys[i] = random_key(sim);
        answers[i] = sim_lookup(sim, any(sim), &keys[i]);
    }
    sim_wait(sim, until - sim_now(sim));
    for (unsigned i = 0; i < AT_ONCE; i++)
        right +=
            answers[i]->done && !answers[i]->failed && answers[i]->peer == sim_owner(sim, &keys[i]);
    return 100.0 * right / AT_ONCE;
}

static void vanish(struct sim *sim, struct result *r, unsigned which, unsigned percent)
{
    unsigned alive = 0, kill;
    for (unsigned i = 0; i < r->peers; i++)
        alive += sim_alive(sim, i);
    for (kill = alive * percent / 100; kill > 0; kill--)
        sim_kill(sim, any(sim));
    uint64_t since = sim_now(sim);
    for (unsigned m = 0; m < AFTER; m++) {
        unsigned patience = moments_s[m] / 2 < PATIENCE_S ? moments_s[m] / 2 : PATIENCE_S;
        sim_wait(sim, since + (moments_s[m] - patience) * SIM_SECOND - sim_now(sim));
        r->right[which][m] = share_right(sim, since + moments_s[m] * SIM_SECOND);
    }
    r->lost[which] = lost_records(sim, r->records);
    sim_wait(sim, 60 * SIM_SECOND);
}

static struct result measure(unsigned peers, uint64_t seed)
{
    struct ring_setup setup = {.record_bytes = RING_RECORDS_MIN, .searches = 1};
    struct result r = {.peers = peers, .state_bytes = ring_size(&setup)};
    r.records = peers / 4 < RECORDS_MAX ? peers / 4 : RECORDS_MAX;
    while (1u << (r.log2 + 1) <= peers)
        r.log2++;
    struct sim *sim = grow(peers, seed);
    measure_idle(sim, &r);
    measure_hops(sim, &r);
    measure_search(sim, &r);
    put_records(sim, r.records);
    vanish(sim, &r, 0, 25);
    vanish(sim, &r, 1, 50);
    sim_free(sim);
    return r;
}

/* --- printing --- */

static void print_result(const struct result *r)
{
    printf("\n%u peers, %zu bytes of state each (at most 16384)\n", r->peers, r->state_bytes);
    printf("  hops of a lookup              mean %5.2f  p99 %2.0f         (aim: mean %.1f)\n",
           r->hops, r->hops_p99, r->log2 / 2.0 + 1);
    printf("  idle, a peer                  %5.0f bytes/s, %.1f messages/s\n", r->idle_bytes,
           r->idle_messages);
    printf("  64 nearest that fit           %5.1f messages in a row  (aim: %u), %.0f in all\n",
           r->chain, 2 * r->log2, r->search_messages);
    printf("    their mean distance         %5.3f of the true nearest (aim: 1.100)\n", r->quality);
    for (unsigned w = 0; w < 2; w++) {
        printf("  %s vanished at once:", w == 0 ? "a quarter" : "half     ");
        for (unsigned m = 0; m < AFTER; m++)
            printf("  %5.1f%% right after %u s", r->right[w][m], moments_s[m]);
        printf("; %u of %u records lost\n", r->lost[w], r->records);
    }
}

static void print_supernode(unsigned peers)
{
    printf("  supernode: 2 messages a lookup, %u for the 64 nearest: all have to be pinged\n",
           2 + 2 * peers);
    for (unsigned w = 0; w < 2; w++) {
        struct supernode_result r = supernode_measure(peers, 1, w == 0 ? 25 : 50, moments_s);
        if (w == 0)
            printf("    idle %.0f bytes/s a peer, %.0f at the supernode; none right from its death "
                   "on\n",
                   r.peer_bytes, r.supernode_bytes);
        printf("    %s vanished at once:", w == 0 ? "a quarter" : "half     ");
        for (unsigned m = 0; m < AFTER; m++)
            printf("  %5.1f%% right after %u s", r.right[m], moments_s[m]);
        printf("\n");
    }
}

static void print_gossip(unsigned peers)
{
    struct gossip_result g = gossip_measure(peers, 60, 1, 25);
    printf("  gossip:    0 messages a lookup; %.0f bytes/s a peer; a quarter that vanished is "
           "forgotten by all "
           "after %.1f s; %u false deaths in 60 s\n",
           g.bytes_per_second, g.forgotten_s, g.false_deaths);
}

static void bench_group(const char *what, unsigned members, unsigned busy, unsigned hours)
{
    uint32_t took[CUTS];
    for (unsigned i = 0; i < CUTS; i++) {
        struct party_setup setup = {.seed = 100 + i,
                                    .members = members,
                                    .latency_us = 150,
                                    .lost_permille = 1,
                                    .busy_permille = busy,
                                    .pause_ms = 100};
        struct party *p = party_new(&setup);
        party_wait(p, 3000 * 1000 + i * 13000);
        party_cut(p, 0);
        party_wait(p, 10 * SIM_SECOND);
        took[i] = (uint32_t)party_detected_us(p, 0);
        took[i] = took[i] == 0 ? 10 * SIM_SECOND : took[i];
        party_free(p);
    }
    qsort(took, CUTS, sizeof took[0], by_number);
    struct party_setup setup = {.seed = 5,
                                .members = members,
                                .latency_us = 150,
                                .lost_permille = 1,
                                .busy_permille = busy,
                                .pause_ms = 100};
    struct party *p = party_new(&setup);
    party_wait(p, (uint64_t)hours * 3600 * SIM_SECOND);
    double node_hours = (double)members * hours;
    printf("  %-34s declared by all: median %.2f s, worst %.2f s (aim: 1.00)\n", what,
           took[CUTS / 2] / 1e6, took[CUTS - 1] / 1e6);
    printf("  %-34s false deaths: %.1f per 1000 node-hours; %.0f bytes/s a member\n", "",
           party_false_deaths(p) * 1000.0 / node_hours,
           (double)party_bytes(p) / members / hours / 3600);
    party_free(p);
}

struct options {
    unsigned min, max, hours;
    unsigned long seed;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'n':
        o->min = (unsigned)strtoul(arg, NULL, 10);
        return o->min >= 64 ? 0 : EINVAL;
    case 'm':
        o->max = (unsigned)strtoul(arg, NULL, 10);
        return 0;
    case 'h':
        o->hours = (unsigned)strtoul(arg, NULL, 10);
        return o->hours > 0 ? 0 : EINVAL;
    case 's':
        o->seed = strtoul(arg, NULL, 10);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"min", 'n', "N", 0, "peers to begin with, at least 64 (64)", 0},
        {"max", 'm', "N", 0, "peers to end with (16384)", 0},
        {"hours", 'h', "N", 0, "simulated, for false deaths (4)", 0},
        {"seed", 's', "N", 0, "where all chance comes from (1)", 0},
        {0},
    };
    static const struct argp argp = {options, parse, NULL, "Measures the overlay in the simulator.",
                                     NULL,    NULL,  NULL};
    struct options o = {.min = 64, .max = 16384, .hours = 4, .seed = 1};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("The overlay in the simulator: 64 sites, 1 permille of messages lost; seed %lu\n",
           o.seed);
    for (unsigned n = o.min; n <= o.max; n *= 4) {
        struct result r = measure(n, o.seed);
        print_result(&r);
        print_supernode(n);
        print_gossip(n);
    }
    printf("\nThe peers of one job watch each other\n");
    bench_group("16 peers", 16, 0, o.hours);
    bench_group("16 peers, a third of them busy", 16, 333, o.hours);
    bench_group("64 peers", 64, 0, o.hours);
    return 0;
}
