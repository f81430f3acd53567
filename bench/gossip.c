/* SPDX-License-Identifier: BSD-3-Clause */
/* gossip.c -- round robin gossip, a period at a time. A heartbeat is kept as the period it was made
 * in. What is known of one peer does not depend on what is known of another, so of a large grid a
 * part of the heartbeats is followed, in the tables of all. */
#include "gossip.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    PERIODS_PER_SECOND = 2,
    ENTRY_BYTES = 8, /* a peer's number and its heartbeat: as small as can be */
    HEAD_BYTES = 5,
    FOLLOWED_MAX = 1024,
};

struct gossip {
    unsigned peers, cleanup;
    unsigned followed; /* peers 0, step, 2 * step ... */
    unsigned step;
    int16_t *beat; /* [holder * followed + about / step] */
    bool *gone;    /* [peer] */
    uint64_t random;
};

static unsigned chance(struct gossip *g)
{
    g->random = g->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(g->random >> 33) % 1000;
}

static int16_t *table(const struct gossip *g, unsigned holder)
{
    return g->beat + (size_t)holder * g->followed;
}

static void send(struct gossip *g, unsigned from, unsigned to)
{
    const int16_t *sent = table(g, from);
    int16_t *kept = table(g, to);
    for (unsigned i = 0; i < g->followed; i++)
        kept[i] = sent[i] > kept[i] ? sent[i] : kept[i];
}

static void period(struct gossip *g, int now, unsigned log2, unsigned lost_permille)
{
    unsigned distance = 1u << (unsigned)now % log2;
    for (unsigned i = 0; i < g->followed; i++)
        if (!g->gone[i * g->step])
            table(g, i * g->step)[i] = (int16_t)now;
    for (unsigned i = 0; i < g->peers; i++) {
        unsigned to = (i + distance) % g->peers;
        if (!g->gone[i] && !g->gone[to] && chance(g) >= lost_permille)
            send(g, i, to);
    }
}

/* How many living peers are held for dead; *unaware: some dead one is still held for alive. */
static unsigned judge(const struct gossip *g, int now, bool *unaware)
{
    unsigned wrong = 0, late = 0;
    for (unsigned holder = 0; holder < g->peers; holder++) {
        if (g->gone[holder])
            continue;
        const int16_t *beat = table(g, holder);
        for (unsigned i = 0; i < g->followed; i++) {
            bool dead = now - beat[i] > (int)g->cleanup, gone = g->gone[i * g->step];
            wrong += dead & !gone;
            late += !dead & gone;
        }
    }
    *unaware = late > 0;
    return wrong;
}

struct gossip_result gossip_measure(unsigned peers, unsigned seconds, unsigned lost_permille,
                                    unsigned vanish_percent)
{
    unsigned log2 = 1;
    while (1u << log2 < peers)
        log2++;
    struct gossip g = {.peers = peers,
                       .cleanup = 2 * log2,
                       .random = peers,
                       .step = (peers + FOLLOWED_MAX - 1) / FOLLOWED_MAX,
                       .gone = calloc(peers, sizeof(bool))};
    struct gossip_result r = {.bytes_per_second = (double)PERIODS_PER_SECOND *
                                                  (HEAD_BYTES + (double)ENTRY_BYTES * peers)};
    g.followed = peers / g.step;
    g.beat = calloc((size_t)peers * g.followed, sizeof(int16_t));
    bool unaware = true;
    int now = 1, steady = (int)(seconds * PERIODS_PER_SECOND);
    if (g.beat == NULL || g.gone == NULL)
        abort();
    for (; now < steady; now++) {
        period(&g, now, log2, lost_permille);
        if (now > (int)(3 * log2))
            r.false_deaths += judge(&g, now, &unaware);
    }
    for (unsigned left = peers * vanish_percent / 100; left > 0;) {
        unsigned i = (chance(&g) * 1000 + chance(&g)) % peers;
        left -= !g.gone[i];
        g.gone[i] = true;
    }
    for (unaware = true; unaware && now < steady + 400; now++) {
        period(&g, now, log2, lost_permille);
        judge(&g, now, &unaware);
    }
    r.forgotten_s = (double)(now - steady) / PERIODS_PER_SECOND;
    r.node_hours = (double)g.followed * seconds / 3600;
    free(g.beat);
    free(g.gone);
    return r;
}
