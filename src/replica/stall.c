/* SPDX-License-Identifier: BSD-3-Clause */
/* stall.c -- a process that keeps others waiting and shows no sign of life is dropped: a suspended
 * desktop. One that answers is only slow, and is waited for. */
#include "state.h"

enum { PATIENCE_MS = 50, PING_MS = 1000 };

static void wait_for(struct engine *e, int vpid)
{
    struct link *link = &e->link[vpid];
    if (link->dead || link->finished || vpid == e->self)
        return;
    link->wanted = true;
}

/* A lane lags when any of its processes does: which one, the answers will tell. */
static void wait_for_lane(struct engine *e, int lane)
{
    for (int i = 0; i < e->ranks; i++)
        if (engine_has_met(e, i))
            wait_for(e, vpid_of(e, i, lane));
}

static lanes_t behind(const struct engine *e, const struct entry *entry)
{
    const struct channel *c = entry->channel;
    lanes_t set = entry->have_not & e->of[c->world].living;
    FOR_LANES (k, e->of[c->world].living)
        if (has(e->duty, k) ? c->view[k].next != NULL : c->view[k].acked <= entry->number)
            set |= only(k);
    return set;
}

/* Who lags shows in what it has not acknowledged. As long as no send waits, there is time. */
static void find_lagging(struct engine *e)
{
    bool waits = !TAILQ_EMPTY(&e->waiting) || e->finishing;
    uint64_t patience = waits ? PATIENCE_MS : e->limits.drop_after_ms;
    lanes_t lagging = 0;
    struct channel *c;
    for (int i = 0; i < e->ranks; i++)
        TAILQ_FOREACH (c, &e->of[i].busy, busy) {
            const struct entry *entry = TAILQ_FIRST(&c->entries);
            if (e->now_ms - entry->since_ms >= patience)
                lagging |= behind(e, entry);
        }
    FOR_LANES (k, lagging)
        wait_for_lane(e, k);
}

/* A receive from any source waits to be bound. */
static bool waits_for_choice(const struct engine *e)
{
    const struct engine_comm *c;
    if (!e->leads)
        LIST_FOREACH (c, &e->comms, all)
            if (c->match.unbound > 0)
                return true;
    return false;
}

static void find_wanted(struct engine *e)
{
    find_lagging(e);
    if (e->waits_for_leader || waits_for_choice(e))
        wait_for_lane(e, e->leader); /* it may itself wait for one of its lane */
    if (e->polls_since_ms && e->now_ms - e->polls_since_ms >= PATIENCE_MS)
        wait_for_lane(e, e->lane); /* a test in a loop is a wait */
    FOR_LANES (k, e->of[e->rank].living)
        if (e->holds[k] < e->decide.told || (e->leader == e->lane && !e->leads))
            wait_for(e, vpid_of(e, e->rank, k));
    FOR_LANES (k, e->awaited)
        wait_for(e, vpid_of(e, e->rank, k));
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].asked)
            wait_for(e, i);
}

static void ping(struct engine *e, int vpid)
{
    struct header h = {.kind = HEADER_PING};
    uint32_t drop = e->limits.drop_after_ms,
             every = drop && drop / 4 < PING_MS ? drop / 4 : PING_MS;
    if (e->now_ms - e->link[vpid].pinged_ms < every)
        return;
    e->link[vpid].pinged_ms = e->now_ms;
    engine_put(e, vpid, &h, NULL, NULL);
}

static void check(struct engine *e, int vpid)
{
    struct link *link = &e->link[vpid];
    if (!link->wanted) {
        link->waited_ms = 0;
        return;
    }
    link->wanted = false;
    if (link->waited_ms == 0 || link->heard)
        link->waited_ms = e->now_ms;
    link->heard = false;
    ping(e, vpid);
    if (e->limits.drop_after_ms && e->now_ms - link->waited_ms >= e->limits.drop_after_ms)
        engine_declare(e, vpid, "it keeps others waiting and gives no sign of life");
}

/* Time when this process did not look, since it computed or was stopped itself, does not count. */
static void excuse_own_absence(struct engine *e)
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
    excuse_own_absence(e);
    e->checked_ms = e->now_ms;
    find_wanted(e);
    for (int i = 0; i < e->ranks * e->lanes; i++)
        check(e, i);
    return 0;
}
