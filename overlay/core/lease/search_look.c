/* SPDX-License-Identifier: BSD-3-Clause */
/* search_look.c -- where a search's candidates come from: near peers that the ring names, all
 * there are, or those of a reservation. */
#include "search_state.h"

static void begin_look(struct search *s, bool named, uint64_t now)
{
    s->phase = SEARCH_LOOKING;
    s->candidates.count = 0;
    s->claim.peer_count = 0;
    s->tries = 0;
    s->cut = s->named = named;
    s->promised = 0;
    s->heard_ms = now;
    s->looks = true;
    s->due_ms = UINT64_MAX;
}

void search_look_all(struct search *s, uint64_t now)
{
    const uint32_t half = s->request.timeout_ms / 2;
    const uint32_t most = s->again > 0 ? SEARCH_NEAR_MS : SEARCH_WALK_MS;
    begin_look(s, false, now);
    search_do(s, SEARCH_LOOK_ALL)->within_ms = half < most ? half : most;
}

/* A grid that is too large to be walked in a moment has its ring name peers that are near and fit.
 */
void search_look(struct search *s, bool small, uint64_t now)
{
    const unsigned want = 2 * (s->request.slots + s->request.spares);
    if (s->request.use != LEASE_WITHIN && small) {
        search_look_all(s, now);
        return;
    }
    begin_look(s, s->request.use != LEASE_WITHIN, now);
    struct search_action *a = search_do(s, s->named ? SEARCH_LOOK_NEAR : SEARCH_LOOK_RESERVED);
    a->within_ms = SEARCH_NEAR_MS;
    a->count = want < SEARCH_NAMED_MIN ? SEARCH_NAMED_MIN : want;
    s->naming = s->named;
}

void search_stop_looking(struct search *s)
{
    if (s->looks)
        search_do(s, SEARCH_STOP_LOOKING);
    s->looks = s->naming = false;
}

bool search_has_seen_enough(const struct search *s, uint64_t now)
{
    if (!s->looks)
        return true;
    if (s->patient || now < s->heard_ms + SEARCH_QUIET_MS)
        return false;
    return candidates_suffice(&s->candidates, &s->request);
}

/* What the nearest had is not enough: all there are is looked at. */
bool search_look_further(struct search *s, uint64_t now)
{
    if (!s->cut)
        return false;
    search_give_back(s);
    s->patient = true;
    search_look_all(s, now);
    return true;
}

/* A ring that has lost a peer, or has just taken some in, may for a moment not list all that are
 * there; and what a job has given back is free when its rooms have ended. So what is missed is
 * looked for again: once, or while the ring changes and slots come back. */
bool search_look_again(struct search *s, const struct search_event *event, uint64_t now)
{
    const bool missed = s->again == 0 && (s->silent > 0 || event->has_lost);
    s->unsettled = event->unsettled;
    if ((!missed && !event->unsettled && !event->gives_back) || s->again == SEARCH_AGAIN_MOST ||
        s->request.use == LEASE_WITHIN)
        return false;
    search_give_back(s);
    s->again++;
    s->patient = false;
    s->claim.peer_count = 0;
    s->phase = SEARCH_MISSING;
    s->until_ms = s->asked_ms + s->again * SEARCH_AGAIN_MS;
    search_wake(s, s->until_ms > now ? s->until_ms : now);
    return true;
}
