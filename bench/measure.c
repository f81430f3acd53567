/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c -- what is asked of the simulated grid, and the truth beside it. */
#include "measure.h"
#include "test/sim/sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUERIES = 1000,
    SEARCHES = 25,
    NEED = 64,
    WANT = 96, /* these are then measured, and the best of them taken: as p2pd does */
    RECORDS_MAX = 200,
    JOIN_S = 32,
    SETTLE_S = 600, /* ads find their cells, coordinates their place */
    IDLE_S = 60,
    PATIENCE_S = 4,
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

/* Peers come one after the other, each through any one that is there, within half a minute. */
static struct sim *grow(struct measured *r, uint64_t seed)
{
    struct sim_setup setup = {.seed = seed,
                              .peers = r->peers,
                              .lost_permille = 1,
                              .jitter_permille = 100,
                              .skew_ppm = 100,
                              .fits = has_cores};
    struct sim *sim = sim_new(&setup);
    sim_start(sim, 0);
    for (unsigned i = 1; i < r->peers; i++) {
        sim_join(sim, i, (unsigned)(sim_random(sim) % (i / 2 + 1)));
        sim_wait(sim, (uint64_t)JOIN_S * SIM_SECOND / r->peers);
    }
    r->joined_s = (unsigned)(sim_now(sim) / SIM_SECOND);
    const char *wrong = "";
    for (unsigned s = 0; s < 300 && wrong != NULL; s++) {
        sim_wait(sim, SIM_SECOND);
        wrong = sim_check_ring(sim, true);
    }
    r->formed_s = (unsigned)(sim_now(sim) / SIM_SECOND);
    if (wrong != NULL)
        printf("  the ring of %u did not form: %s\n", r->peers, wrong);
    for (unsigned i = 0; i < r->peers; i++) {
        struct ad ad = {.peer = i, .cores = cores_of(i)};
        sim_publish(sim, i, &ad, sizeof ad);
    }
    sim_wait(sim, (uint64_t)SETTLE_S * SIM_SECOND);
    return sim;
}

/* --- measuring --- */

static void measure_idle(struct sim *sim, struct measured *r)
{
    uint64_t messages = sim_messages(sim), bytes = sim_bytes(sim);
    sim_wait(sim, (uint64_t)IDLE_S * SIM_SECOND);
    r->idle_messages = (double)(sim_messages(sim) - messages) / IDLE_S / r->peers;
    r->idle_bytes = (double)(sim_bytes(sim) - bytes) / IDLE_S / r->peers;
}

static void measure_hops(struct sim *sim, struct measured *r)
{
    const struct sim_answer *answers[QUERIES];
    uint32_t hops[QUERIES];
    double sum = 0;
    for (unsigned i = 0; i < QUERIES; i++) {
        struct id key = random_key(sim);
        answers[i] = sim_lookup(sim, any(sim), &key);
        sim_wait(sim, SIM_SECOND / 200);
    }
    for (unsigned i = 0; i < QUERIES; i++) {
        sim_wait_for(sim, answers[i]);
        hops[i] = answers[i]->hops;
        sum += hops[i];
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

static void measure_search(struct sim *sim, struct measured *r)
{
    double chain = 0, quality = 0, messages = 0;
    for (unsigned i = 0; i < SEARCHES; i++) {
        unsigned from = any(sim), got, fit;
        const struct sim_answer *a = sim_nearest(sim, from, WANT, "cores >= 4");
        sim_wait_for(sim, a);
        messages += a->messages;
        chain += a->chain;
        r->chain_most = a->chain > r->chain_most ? a->chain : r->chain_most;
        double found = found_mean(sim, from, a, &got), best = true_mean(sim, from, &fit);
        unsigned need = fit < NEED ? fit : NEED;
        quality += got < need ? 9.99 : best > 0 ? found / best : 1;
    }
    r->chain = chain / SEARCHES;
    r->quality = quality / SEARCHES;
    r->search_messages = messages / SEARCHES;
}

/* --- records --- */

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
    const struct sim_answer *answers[RECORDS_MAX];
    for (unsigned n = 0; n < records; n++) {
        struct part_record r = record(n);
        answers[n] = sim_put(sim, any(sim), &r);
    }
    for (unsigned n = 0; n < records; n++)
        sim_wait_for(sim, answers[n]);
    sim_wait(sim, 2 * SIM_SECOND);
}

static unsigned lost_records(struct sim *sim, unsigned records)
{
    const struct sim_answer *answers[RECORDS_MAX];
    unsigned lost = 0;
    for (unsigned n = 0; n < records; n++) {
        struct part_record r = record(n);
        answers[n] = sim_get(sim, any(sim), &r.key);
    }
    for (unsigned n = 0; n < records; n++) {
        sim_wait_for(sim, answers[n]);
        lost += answers[n]->failed || answers[n]->count == 0;
    }
    return lost;
}

struct place {
    struct id id;
    unsigned peer;
};

static int by_id(const void *a, const void *b)
{
    return id_compare(&((const struct place *)a)->id, &((const struct place *)b)->id);
}

/* The living in the order of the circle. */
static unsigned in_order(const struct sim *sim, struct place *order)
{
    unsigned n = 0;
    for (unsigned i = 0; i < sim_peers(sim); i++)
        if (sim_alive(sim, i))
            order[n++] = (struct place){.id = sim_id(sim, i), .peer = i};
    qsort(order, n, sizeof *order, by_id);
    return n;
}

/* Of the n that were in order, did all go that held the record? Not one that was lost before. */
static bool all_gone(const struct sim *sim, const struct place *order, unsigned n,
                     const struct id *key)
{
    unsigned first = 0;
    while (first < n && id_compare(&order[first].id, key) < 0)
        first++;
    for (unsigned k = 0; k < RING_COPIES; k++)
        if (sim_alive(sim, order[(first + k) % n].peer))
            return false;
    return true;
}

/* --- losing many at once --- */

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

static void vanish(struct sim *sim, const struct measured *r, unsigned percent,
                   const unsigned moments_s[MEASURE_MOMENTS], struct vanished *v)
{
    struct place *order = calloc(r->peers, sizeof *order);
    if (order == NULL)
        abort();
    unsigned alive = in_order(sim, order);
    for (unsigned kill = alive * percent / 100; kill > 0; kill--)
        sim_kill(sim, any(sim));
    for (unsigned n = 0; n < r->records; n++) {
        struct part_record record_n = record(n);
        v->forced += all_gone(sim, order, alive, &record_n.key);
    }
    free(order);
    uint64_t since = sim_now(sim);
    for (unsigned m = 0; m < MEASURE_MOMENTS; m++) {
        unsigned patience = moments_s[m] / 2 < PATIENCE_S ? moments_s[m] / 2 : PATIENCE_S;
        sim_wait(sim, since + (moments_s[m] - patience) * SIM_SECOND - sim_now(sim));
        v->right[m] = share_right(sim, since + moments_s[m] * SIM_SECOND);
    }
    v->lost = lost_records(sim, r->records);
}

struct measured measure(unsigned peers, uint64_t seed, const unsigned moments_s[MEASURE_MOMENTS])
{
    struct ring_setup setup = {.record_bytes = RING_RECORDS_MIN, .searches = 1};
    struct measured r = {.peers = peers, .state_bytes = ring_size(&setup)};
    r.records = peers / 4 < RECORDS_MAX ? peers / 4 : RECORDS_MAX;
    while (1u << (r.log2 + 1) <= peers)
        r.log2++;
    struct sim *sim = grow(&r, seed);
    measure_idle(sim, &r);
    measure_hops(sim, &r);
    measure_search(sim, &r);
    put_records(sim, r.records);
    vanish(sim, &r, 25, moments_s, &r.quarter);
    sim_wait(sim, 30ull * SIM_SECOND);
    put_records(sim, r.records); /* what was lost is there again */
    vanish(sim, &r, 50, moments_s, &r.half);
    sim_free(sim);
    return r;
}
