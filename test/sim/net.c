/* SPDX-License-Identifier: BSD-3-Clause */
/* net.c -- the network between the rings: where each peer is, how long a message takes, and whether
 * it comes at all. */
#include "overlay/base/random.h"
#include "sim_state.h"
#include <stdlib.h>
#include <string.h>

uint64_t net_random(uint64_t *state)
{
    return splitmix64(state);
}

uint64_t sim_random(struct sim *sim)
{
    return net_random(&sim->random);
}

static bool chance(struct sim *sim, unsigned permille)
{
    return permille > 0 && sim_random(sim) % 1000 < permille;
}

/* Sites lie in a plane 80 ms wide; desktops of one site within half a millisecond, each with its
 * own way to the core of the network; and each pair has its own detour, so no plane fits exactly.
 */
void net_settle(struct sim *sim, unsigned i)
{
    struct peer *p = &sim->peers[i];
    uint64_t r = sim->setup.seed * 31 + 7, own = sim->setup.seed ^ (i + 1) * 0x2545f4914f6cdd1dull;
    p->site = (unsigned)(net_random(&own) % SIM_SITES);
    r += p->site * 0x9e3779b97f4a7c15;
    net_random(&r);
    p->x = (int32_t)(net_random(&r) % 80000) - 40000 + (int32_t)(net_random(&own) % 500);
    p->y = (int32_t)(net_random(&r) % 80000) - 40000 + (int32_t)(net_random(&own) % 500);
    p->height = 100 + (uint32_t)(net_random(&own) % 2000);
    if (sim->setup.skew_ppm > 0)
        p->skew_ppm =
            (int32_t)(net_random(&own) % (2 * sim->setup.skew_ppm)) - (int32_t)sim->setup.skew_ppm;
    for (unsigned k = 0; k < ID_BYTES; k++)
        p->id.b[k] = (uint8_t)(net_random(&own) >> 24);
}

static uint32_t root(uint64_t n)
{
    if (n < 2)
        return (uint32_t)n;
    uint64_t r = 1ull << (64 - (unsigned)__builtin_clzll(n) + 1) / 2, last; /* not below the root */
    do {
        last = r;
        r = (r + n / r) / 2;
    } while (r < last);
    return (uint32_t)last;
}

uint32_t sim_rtt_us(const struct sim *sim, unsigned a, unsigned b)
{
    if (a == b)
        return 0;
    if (sim->setup.flat_us > 0)
        return 2 * sim->setup.flat_us;
    const struct peer *p = &sim->peers[a], *q = &sim->peers[b];
    int64_t dx = p->x - q->x, dy = p->y - q->y;
    uint64_t rtt = root((uint64_t)(dx * dx + dy * dy));
    unsigned low = p->site < q->site ? p->site : q->site, high = p->site + q->site - low;
    uint64_t pair = sim->setup.seed + low * SIM_SITES + high;
    rtt += rtt * (net_random(&pair) % 150) / 1000; /* the detour of this pair of sites */
    return (uint32_t)rtt + p->height + q->height;
}

static uint64_t latency(struct sim *sim, unsigned a, unsigned b)
{
    uint64_t us = sim_rtt_us(sim, a, b) / 2;
    if (sim->setup.jitter_permille > 0)
        us += us * (sim_random(sim) % sim->setup.jitter_permille) / 1000;
    if (chance(sim, sim->setup.late_permille))
        us += 1000 + sim_random(sim) % 200000;
    return us + sim->peers[b].slow_us;
}

unsigned sim_number(const struct part_peer *peer)
{
    return (unsigned)peer->addr.ip[13] << 16 | (unsigned)peer->addr.ip[14] << 8 | peer->addr.ip[15];
}

struct part_peer net_address(const struct sim *sim, unsigned i)
{
    struct part_peer p = {.id = sim->peers[i].id, .addr = {.port = 7117}};
    p.addr.ip[13] = (uint8_t)(i >> 16);
    p.addr.ip[14] = (uint8_t)(i >> 8);
    p.addr.ip[15] = (uint8_t)i;
    return p;
}

void net_send(struct sim *sim, unsigned from, const struct ring_action *a, unsigned chain)
{
    unsigned to = sim_number(&a->peer);
    const struct peer *p = &sim->peers[from], *q = &sim->peers[to];
    sim->messages++;
    sim->bytes += a->frame_length;
    if (sim->cause != 0)
        sim->answers[sim->cause]->messages++;
    if (q->ring == NULL || (sim->parted && p->other_side != q->other_side) ||
        (from != to && chance(sim, sim->setup.lost_permille)))
        return;
    unsigned copies = from != to && chance(sim, sim->setup.twice_permille) ? 2 : 1;
    for (unsigned i = 0; i < copies; i++) {
        struct event e = {.at = sim->now + latency(sim, from, to),
                          .kind = DELIVER,
                          .to = to,
                          .from = from,
                          .life = q->life,
                          .chain = chain,
                          .cause = sim->cause,
                          .length = a->frame_length};
        e.frame = must(malloc(a->frame_length));
        memcpy(e.frame, a->frame, a->frame_length);
        queue_push(&sim->queue, e);
    }
}

/* --- faults --- */

void sim_slow(struct sim *sim, unsigned i, uint64_t us)
{
    sim->peers[i].slow_us = us;
}

void sim_partition(struct sim *sim, bool (*side)(unsigned peer))
{
    for (unsigned i = 0; i < sim->setup.peers; i++)
        sim->peers[i].other_side = side(i);
    sim->parted = true;
}

void sim_heal(struct sim *sim)
{
    sim->parted = false;
}
