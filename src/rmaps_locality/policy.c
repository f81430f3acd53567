/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.c -- places ranks one after the other, never in a way that leaves a later rank without
 * slots.
 *
 * The copies of a rank must sit in different domains: sites if that works out for all ranks, else
 * subnets, else peers. Whether the rest still fits is a question about a bipartite graph with
 * degrees (ranks: their copies; domains: their free slots, at most one copy of each rank). With m
 * ranks of R copies left it fits if and only if sum over domains of min(free, m) >= m * R (Gale and
 * Ryser, 1957); for unequal copies the same is asked of the m highest, for each m. */
#include "policy.h"
#include "overlay/core/lease/domain.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct plan {
    const struct policy_job *job;
    unsigned *order;      /* nodes, nearest first */
    unsigned *domain;     /* of each node */
    unsigned *free_slots; /* of each domain */
    unsigned *used;       /* processes placed on each node */
    bool *taken;          /* domain has a copy of the rank that is being placed */
    unsigned *rest;       /* copies of the ranks after it, falling */
    unsigned *scratch;
};

static unsigned copies_of(const struct policy_job *job, unsigned rank)
{
    return job->copies != NULL ? job->copies[rank] : job->lanes;
}

static bool same_domain(const struct policy_node *a, const struct policy_node *b,
                        enum domain_scheme scheme)
{
    return domain_same(&(struct domain_place){.peer = &a->peer, .addr = &a->addr, .site = a->site},
                       &(struct domain_place){.peer = &b->peer, .addr = &b->addr, .site = b->site},
                       scheme);
}

static void find_domains(struct plan *p, enum domain_scheme scheme)
{
    const struct policy_job *job = p->job;
    memset(p->free_slots, 0, job->node_count * sizeof p->free_slots[0]);
    for (unsigned i = 0; i < job->node_count; i++) {
        p->domain[i] = i;
        for (unsigned j = 0; j < i; j++) {
            if (same_domain(&job->nodes[i], &job->nodes[j], scheme)) {
                p->domain[i] = p->domain[j];
                break;
            }
        }
        p->free_slots[p->domain[i]] += job->nodes[i].free;
    }
}

static int copies_falling(const void *a, const void *b)
{
    const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x < y) - (x > y);
}

/* Do `count` ranks with p->rest copies fit into the slots of the domains? */
static bool rest_fits(const struct plan *p, const unsigned *slots, unsigned count)
{
    unsigned long wanted = 0;
    for (unsigned m = 1; m <= count; m++) {
        wanted += p->rest[m - 1];
        /* With equal copies only the last m can be the one that fails. */
        if (m < count && p->rest[m] == p->rest[0])
            continue;
        unsigned long there = 0;
        for (unsigned d = 0; d < p->job->node_count; d++)
            there += slots[d] < m ? slots[d] : m;
        if (there < wanted)
            return false;
    }
    return true;
}

/* Can `more` copies of the present rank and all of the `count` ranks after it still be placed? The
 * present one does best to take the domains with most slots. */
static bool still_fits(struct plan *p, unsigned more, unsigned count)
{
    const unsigned domains = p->job->node_count;
    memcpy(p->scratch, p->free_slots, domains * sizeof p->free_slots[0]);
    bool *gone = calloc(domains, sizeof *gone);
    bool fits = gone != NULL;
    for (unsigned k = 0; fits && k < more; k++) {
        unsigned best = domains;
        for (unsigned d = 0; d < domains; d++)
            if (!p->taken[d] && !gone[d] && p->scratch[d] > 0 &&
                (best == domains || p->scratch[d] > p->scratch[best]))
                best = d;
        fits = best < domains;
        if (fits) {
            gone[best] = true;
            p->scratch[best]--;
        }
    }
    free(gone);
    return fits && rest_fits(p, p->scratch, count);
}

/* Nodes worth trying, best first: near ones, or those with least on them and then near ones. */
static unsigned next_node(const struct plan *p, const bool *tried)
{
    const struct policy_job *job = p->job;
    unsigned best = POLICY_NOWHERE;
    for (unsigned k = 0; k < job->node_count; k++) {
        const unsigned n = p->order[k];
        if (tried[n] || p->used[n] >= job->nodes[n].free || p->taken[p->domain[n]])
            continue;
        if (!job->spread)
            return n;
        if (best == POLICY_NOWHERE || p->used[n] < p->used[best])
            best = n;
    }
    return best;
}

/* Puts one copy somewhere; `more` copies of its rank and `count` ranks come after it. */
static unsigned place_one(struct plan *p, unsigned more, unsigned count)
{
    bool *tried = calloc(p->job->node_count, sizeof *tried);
    unsigned n = POLICY_NOWHERE;
    while (tried != NULL && (n = next_node(p, tried)) != POLICY_NOWHERE) {
        const unsigned d = p->domain[n];
        p->free_slots[d]--;
        p->taken[d] = true;
        if (still_fits(p, more, count)) {
            p->used[n]++;
            break;
        }
        p->free_slots[d]++;
        p->taken[d] = false;
        tried[n] = true;
    }
    free(tried);
    return n;
}

/* Without copies there is nothing to keep apart. */
static bool place_single(struct plan *p, unsigned *node)
{
    const struct policy_job *job = p->job;
    bool *tried = calloc(job->node_count, sizeof *tried);
    bool done = tried != NULL;
    for (unsigned rank = 0; done && rank < job->ranks; rank++) {
        node[rank] = copies_of(job, rank) > 0 ? next_node(p, tried) : POLICY_NOWHERE;
        done = node[rank] != POLICY_NOWHERE || copies_of(job, rank) == 0;
        if (node[rank] != POLICY_NOWHERE)
            p->used[node[rank]]++;
    }
    free(tried);
    return done;
}

static bool place_copies(struct plan *p, unsigned *node)
{
    const struct policy_job *job = p->job;
    for (unsigned rank = 0; rank < job->ranks; rank++) {
        const unsigned copies = copies_of(job, rank), after = job->ranks - rank - 1;
        for (unsigned i = 0; i < after; i++)
            p->rest[i] = copies_of(job, rank + 1 + i);
        if (job->copies != NULL)
            qsort(p->rest, after, sizeof p->rest[0], copies_falling);
        memset(p->taken, 0, job->node_count * sizeof p->taken[0]);
        for (unsigned lane = 0; lane < job->lanes; lane++) {
            unsigned *mine = &node[lane * job->ranks + rank];
            *mine = lane < copies ? place_one(p, copies - lane - 1, after) : POLICY_NOWHERE;
            if (lane < copies && *mine == POLICY_NOWHERE)
                return false;
        }
    }
    return true;
}

static bool all_fit(struct plan *p, enum domain_scheme scheme)
{
    find_domains(p, scheme);
    for (unsigned i = 0; i < p->job->ranks; i++)
        p->rest[i] = copies_of(p->job, i);
    qsort(p->rest, p->job->ranks, sizeof p->rest[0], copies_falling);
    return rest_fits(p, p->free_slots, p->job->ranks);
}

static bool comes_before(const struct plan *p, unsigned a, unsigned b)
{
    const struct policy_node *nodes = p->job->nodes;
    const unsigned *nearest = p->scratch, x = p->domain[a], y = p->domain[b];
    if (x != y)
        return nearest[x] < nearest[y] || (nearest[x] == nearest[y] && x < y);
    return nodes[a].rtt_us < nodes[b].rtt_us;
}

/* Nearest first, but the nodes of a site together: neighbouring ranks have most to say to each
 * other. */
static void sort_by_distance(struct plan *p)
{
    const struct policy_job *job = p->job;
    find_domains(p, DOMAIN_SITE);
    for (unsigned i = 0; i < job->node_count; i++) {
        unsigned *nearest = &p->scratch[p->domain[i]];
        if (p->domain[i] == i || job->nodes[i].rtt_us < *nearest)
            *nearest = job->nodes[i].rtt_us;
    }
    for (unsigned i = 0; i < job->node_count; i++) {
        unsigned at = i;
        while (at > 0 && comes_before(p, i, p->order[at - 1])) {
            p->order[at] = p->order[at - 1];
            at--;
        }
        p->order[at] = i;
    }
}

static int policy_place_all(struct plan *p, unsigned *node, struct err *e)
{
    const struct policy_job *job = p->job;
    unsigned slots = 0, wanted = 0;
    for (unsigned i = 0; i < job->node_count; i++)
        slots += job->nodes[i].free;
    for (unsigned i = 0; i < job->ranks; i++)
        wanted += copies_of(job, i);
    sort_by_distance(p);
    if (slots >= wanted && job->lanes == 1) {
        find_domains(p, DOMAIN_PEER);
        memset(p->taken, 0, job->node_count * sizeof p->taken[0]);
        return place_single(p, node) ? 0 : err_set(e, ENOMEM, "out of memory");
    }
    for (enum domain_scheme s = DOMAIN_SITE; slots >= wanted && s < DOMAIN_SCHEMES; s++)
        if (all_fit(p, s))
            return place_copies(p, node) ? 0 : err_set(e, ENOMEM, "out of memory");
    return slots < wanted
               ? err_set(e, ENOSPC, "%u processes do not fit into %u free slots", wanted, slots)
               : err_set(e, ENOSPC,
                         "%u copies of each of %u ranks cannot be kept on different peers: "
                         "too many of the %u slots are on the same ones",
                         job->lanes, job->ranks, slots);
}

int policy_place(const struct policy_job *job, unsigned *node, struct err *e)
{
    const size_t nodes = job->node_count + 1, ranks = job->ranks + 1;
    struct plan p = {.job = job};
    unsigned *block = calloc(5 * nodes + ranks, sizeof *block);
    p.taken = calloc(nodes, sizeof *p.taken);
    if (block == NULL || p.taken == NULL) {
        free(block);
        free(p.taken);
        return err_set(e, ENOMEM, "out of memory");
    }
    p.order = block;
    p.domain = block + nodes;
    p.free_slots = block + 2 * nodes;
    p.used = block + 3 * nodes;
    p.scratch = block + 4 * nodes;
    p.rest = block + 5 * nodes;
    const int rc = policy_place_all(&p, node, e);
    free(block);
    free(p.taken);
    return rc;
}
