/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c -- what must hold of the ring at every moment, and what must hold in the end.
 *
 * At every moment (Zave's invariant): each list goes up the circle without coming back; the first
 * living successors of all members form one cycle, once round; a member that is not on it leads
 * onto it. In the end: nobody is off the cycle, each list holds exactly the members that follow,
 * and so does each predecessor. */
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char text[160];

bool sim_is_member(const struct sim *sim, unsigned i)
{
    if (!sim_alive(sim, i))
        return false;
    enum ring_standing standing = ring_standing(sim_ring(sim, i));
    return standing == RING_MEMBER || (standing == RING_ALONE && sim_is_founder(sim, i));
}

static const char *check_list(const struct sim *sim, unsigned i)
{
    const struct ring *ring = sim_ring(sim, i);
    struct id self = sim_id(sim, i), last = self;
    const struct part_peer *s;
    for (unsigned k = 0; (s = ring_successor(ring, k)) != NULL; k++) {
        if (!id_between(&s->id, &last, &self)) {
            snprintf(text, sizeof text, "peer %u: successor %u is out of order", i, k);
            return text;
        }
        last = s->id;
    }
    return NULL;
}

/* The first successor that is a living member; the peer itself when there is none. */
static unsigned best_successor(const struct sim *sim, unsigned i)
{
    const struct part_peer *s;
    for (unsigned k = 0; (s = ring_successor(sim_ring(sim, i), k)) != NULL; k++)
        if (sim_is_member(sim, sim_number(s)))
            return sim_number(s);
    return i;
}

/* Walks from `start` until it comes back to a peer already on the way; its mark tells which walk.
 */
static unsigned walk(const struct sim *sim, unsigned start, unsigned *mark, unsigned name)
{
    unsigned i = start;
    while (mark[i] == 0) {
        mark[i] = name;
        i = best_successor(sim, i);
    }
    return i;
}

static const char *check_cycle(const struct sim *sim, unsigned on_cycle, unsigned *size)
{
    unsigned i = on_cycle, wraps = 0;
    *size = 0;
    do {
        unsigned next = best_successor(sim, i);
        struct id a = sim_id(sim, i), b = sim_id(sim, next);
        wraps += id_compare(&b, &a) <= 0;
        i = next;
        ++*size;
    } while (i != on_cycle);
    if (wraps == 1)
        return NULL;
    snprintf(text, sizeof text, "the ring goes round %u times", wraps);
    return text;
}

static const char *check_one_cycle(const struct sim *sim, unsigned members, bool whole)
{
    unsigned n = sim_peers(sim), name = 0, size = 0, cycle = UINT32_MAX;
    unsigned *mark = calloc(n, sizeof *mark);
    const char *wrong = mark == NULL ? "no memory" : NULL;
    for (unsigned i = 0; i < n && wrong == NULL; i++) {
        if (!sim_is_member(sim, i) || mark[i] != 0)
            continue;
        unsigned end = walk(sim, i, mark, ++name);
        if (mark[end] != name)
            continue; /* onto an earlier walk */
        if (cycle != UINT32_MAX) {
            snprintf(text, sizeof text, "two rings: of peer %u and of peer %u", cycle, end);
            wrong = text;
        } else {
            cycle = end;
            wrong = check_cycle(sim, cycle, &size);
        }
    }
    if (wrong == NULL && whole && size != members) {
        snprintf(text, sizeof text, "%u of %u members are off the ring", members - size, members);
        wrong = text;
    }
    free(mark);
    return wrong;
}

struct place {
    struct id id;
    unsigned peer;
};

static int by_id(const void *a, const void *b)
{
    return id_compare(&((const struct place *)a)->id, &((const struct place *)b)->id);
}

static const char *check_exact(const struct sim *sim, const struct place *order, unsigned n,
                               unsigned at)
{
    const struct ring *ring = sim_ring(sim, order[at].peer);
    const struct part_peer *p = ring_predecessor(ring);
    for (unsigned k = 0; k < RING_SUCCESSORS && k + 1 < n; k++) {
        const struct part_peer *s = ring_successor(ring, k);
        if (s == NULL || sim_number(s) != order[(at + k + 1) % n].peer) {
            snprintf(text, sizeof text, "peer %u: successor %u is wrong", order[at].peer, k);
            return text;
        }
    }
    if (n > 1 && (p == NULL || sim_number(p) != order[(at + n - 1) % n].peer)) {
        snprintf(text, sizeof text, "peer %u: wrong predecessor", order[at].peer);
        return text;
    }
    return NULL;
}

static const char *check_all_exact(const struct sim *sim)
{
    unsigned n = 0;
    struct place *order = calloc(sim_peers(sim), sizeof *order);
    const char *wrong = order == NULL ? "no memory" : NULL;
    for (unsigned i = 0; wrong == NULL && i < sim_peers(sim); i++)
        if (sim_alive(sim, i))
            order[n++] = (struct place){.id = sim_id(sim, i), .peer = i};
    if (wrong == NULL)
        qsort(order, n, sizeof *order, by_id);
    for (unsigned i = 0; wrong == NULL && i < n; i++)
        wrong = check_exact(sim, order, n, i);
    free(order);
    return wrong;
}

const char *sim_check_ring(struct sim *sim, bool whole)
{
    const char *wrong = NULL;
    unsigned members = 0;
    for (unsigned i = 0; wrong == NULL && i < sim_peers(sim); i++) {
        if (!sim_is_member(sim, i))
            continue;
        members++;
        wrong = check_list(sim, i);
    }
    if (wrong == NULL && members > 0)
        wrong = check_one_cycle(sim, members, whole);
    return wrong == NULL && whole ? check_all_exact(sim) : wrong;
}

enum { REPAIR_S = 10, OTHERS = 2 }; /* a list that is on its way may be as old as one more death */

static bool all_list_others(const struct sim *sim, unsigned victim)
{
    for (unsigned i = 0; i < sim_peers(sim); i++) {
        const struct part_peer *s;
        unsigned left = 0, had = 0;
        if (i == victim || !sim_is_member(sim, i))
            continue;
        for (unsigned k = 0; (s = ring_successor(sim_ring(sim, i), k)) != NULL; k++) {
            had += sim_number(s) == victim;
            left += sim_number(s) != victim && sim_is_member(sim, sim_number(s));
        }
        if (had > 0 && left < OTHERS)
            return false;
    }
    return true;
}

/* How many are gone since a moment ago, up to r members away from the victim on one side. */
static unsigned gone_lately(const struct sim *sim, unsigned victim, bool after)
{
    struct id at = sim_id(sim, victim), far[RING_SUCCESSORS];
    unsigned n = 0, gone = 0;
    for (unsigned i = 0; i < sim_peers(sim); i++) { /* distances of the nearest members */
        struct id id = sim_id(sim, i), d = after ? id_distance(&at, &id) : id_distance(&id, &at);
        unsigned k = n;
        if (i == victim || !sim_is_member(sim, i))
            continue;
        for (; k > 0 && id_compare(&d, &far[k - 1]) < 0; k--)
            if (k < RING_SUCCESSORS)
                far[k] = far[k - 1];
        if (k < RING_SUCCESSORS)
            far[k] = d;
        n += n < RING_SUCCESSORS;
    }
    for (unsigned i = 0; i < sim_peers(sim); i++) {
        struct id id = sim_id(sim, i), d = after ? id_distance(&at, &id) : id_distance(&id, &at);
        bool lately = sim_gone_at(sim, i) > 0 &&
                      sim_now(sim) - sim_gone_at(sim, i) < (uint64_t)REPAIR_S * SIM_SECOND;
        gone += lately && n > 0 && id_compare(&d, &far[n - 1]) < 0;
    }
    return gone;
}

bool sim_may_kill(const struct sim *sim, unsigned victim)
{
    return gone_lately(sim, victim, false) + gone_lately(sim, victim, true) + 1 < RING_SUCCESSORS &&
           all_list_others(sim, victim);
}

unsigned sim_owner(const struct sim *sim, const struct id *key)
{
    unsigned best = UINT32_MAX;
    struct id best_distance = {{0}};
    for (unsigned i = 0; i < sim_peers(sim); i++) {
        if (!sim_alive(sim, i))
            continue;
        struct id at = sim_id(sim, i), distance = id_distance(key, &at);
        if (best == UINT32_MAX || id_compare(&distance, &best_distance) < 0) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}
