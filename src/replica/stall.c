/* SPDX-License-Identifier: BSD-3-Clause */
/* stall.c -- a process that others wait for, and that gives no sign of life, is declared dead: a
 * suspended desktop. One that answers is only slow, and is waited for. */
#include "state.h"

enum { PATIENCE_MS = 50, PING_MS = 1000 };

static void stall_wait_for(struct engine *e, int replica)
{
    struct link *link = &e->link[replica];
    if (link->dead || link->finished || replica == e->self)
        return;
    link->wanted = true;
}

/* A lane lags when any of its processes does: the answers to PING show which. */
static void stall_wait_for_lane(struct engine *e, int lane)
{
    for (int i = 0; i < e->ranks; i++)
        if (engine_has_met(e, i))
            stall_wait_for(e, replica_of(e, i, lane));
}

static lanes_t entry_lanes_behind(const struct engine *e, const struct entry *entry)
{
    const struct channel *c = entry->channel;
    lanes_t set = entry->have_not & e->by_rank[c->world].living;
    FOR_LANES (k, e->by_rank[c->world].living)
        if (lane_in(e->duty, k) ? c->view[k].next != NULL : c->view[k].acked <= entry->number)
            set |= lane_bit(k);
    return set;
}

/* A lane that lags shows in what it has not acknowledged. As long as no send waits, there is time.
 */
static void stall_find_lagging(struct engine *e)
{
    bool waits = !TAILQ_EMPTY(&e->waiting) || e->finishing;
    uint64_t patience = waits ? PATIENCE_MS : e->limits.drop_after_ms;
    lanes_t lagging = 0;
    struct channel *c;
    for (int i = 0; i < e->ranks; i++)
        TAILQ_FOREACH (c, &e->by_rank[i].busy, busy) {
            const struct entry *entry = TAILQ_FIRST(&c->entries);
            if (e->now_ms - entry->since_ms >= patience)
                lagging |= entry_lanes_behind(e, entry);
        }
    FOR_LANES (k, lagging)
        stall_wait_for_lane(e, k);
}

static void stall_find_wanted(struct engine *e)
{
    stall_find_lagging(e);
    if (decision_is_awaited(e))
        stall_wait_for_lane(e,
                            e->leader); /* the leader may itself wait for a process of its lane */
    if (e->polls_since_ms && e->now_ms - e->polls_since_ms >= PATIENCE_MS)
        stall_wait_for_lane(e, e->lane); /* testing in a loop is waiting */
    FOR_LANES (k, e->by_rank[e->rank].living)
        if (e->holds[k] < e->decide.told ||
            (e->leader == e->lane && !e->leads && !lane_in(e->agreed, k)))
            stall_wait_for(e, replica_of(e, e->rank, k));
    FOR_LANES (k, e->awaited)
        stall_wait_for(e, replica_of(e, e->rank, k));
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].asked || e->link[i].recalling)
            stall_wait_for(e, i);
    for (int i = 0; i < e->ranks; i++)
        if (e->by_rank[i].settling > 0)
            stall_wait_for(e, e->by_rank[i].settling - 1);
}

static void stall_ping(struct engine *e, int replica)
{
    struct header h = {.kind = HEADER_PING};
    uint32_t drop = e->limits.drop_after_ms,
             every = drop && drop / 4 < PING_MS ? drop / 4 : PING_MS;
    if (e->now_ms - e->link[replica].pinged_ms < every)
        return;
    e->link[replica].pinged_ms = e->now_ms;
    link_put(e, replica, &h, NULL, NULL);
}

static void stall_check_replica(struct engine *e, int replica)
{
    struct link *link = &e->link[replica];
    if (!link->wanted) {
        link->waited_ms = 0;
        return;
    }
    link->wanted = false;
    if (link->waited_ms == 0 || link->heard)
        link->waited_ms = e->now_ms;
    link->heard = false;
    stall_ping(e, replica);
    if (e->limits.drop_after_ms && e->now_ms - link->waited_ms >= e->limits.drop_after_ms)
        death_declare(e, replica, "it keeps others waiting and gives no sign of life");
}

/* Time in which this process itself did not look, since it computed or was stopped, does not count.
 */
static void stall_excuse_own_absence(struct engine *e)
{
    uint64_t gap = e->now_ms - e->checked_ms;
    for (int i = 0; gap > 2 * PATIENCE_MS && i < e->ranks * e->lanes; i++)
        if (e->link[i].waited_ms > 0)
            e->link[i].waited_ms += gap - PATIENCE_MS;
}

int stall_check(struct engine *e)
{
    if (e->now_ms - e->checked_ms < PATIENCE_MS)
        return 0;
    stall_excuse_own_absence(e);
    e->checked_ms = e->now_ms;
    stall_find_wanted(e);
    for (int i = 0; i < e->ranks * e->lanes; i++)
        stall_check_replica(e, i);
    return 0;
}
