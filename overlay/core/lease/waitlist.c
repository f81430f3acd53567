/* SPDX-License-Identifier: BSD-3-Clause */
/* waitlist.c -- those who wait for slots of one peer. */
#include "waitlist.h"
#include <string.h>

bool waiter_precedes(const struct part_waiter *a, const struct part_waiter *b)
{
    if (a->weight != b->weight)
        return a->weight < b->weight;
    if (a->since != b->since)
        return a->since < b->since;
    return memcmp(&a->wait, &b->wait, sizeof a->wait) < 0;
}

static struct waiting *waitlist_find(const struct waitlist *l, const struct id *holder,
                                     const struct id *wait)
{
    for (size_t i = 0; i < WAITLIST_MAX; i++) {
        const struct waiting *w = &l->at[i];
        if (w->is.slots > 0 && id_equal(&w->is.wait, wait) && id_equal(&w->want.holder, holder))
            return (struct waiting *)w;
    }
    return NULL;
}

bool waitlist_has(const struct waitlist *l, const struct id *holder, const struct id *wait)
{
    return waitlist_find(l, holder, wait) != NULL;
}

/* A free place, or that of the last one if the new one comes before it; NULL: there is none. */
static struct waiting *make_room(struct waitlist *l, const struct part_waiter *waiter,
                                 const struct id *holder)
{
    struct waiting *unused = NULL, *last = NULL, *last_own = NULL;
    unsigned own = 0;
    for (size_t i = 0; i < WAITLIST_MAX; i++) {
        struct waiting *w = &l->at[i];
        if (w->is.slots == 0) {
            unused = w;
            continue;
        }
        if (last == NULL || waiter_precedes(&last->is, &w->is))
            last = w;
        if (!id_equal(&w->want.holder, holder))
            continue;
        own++;
        if (last_own == NULL || waiter_precedes(&last_own->is, &w->is))
            last_own = w;
    }
    struct waiting *place = own >= WAITLIST_EACH ? last_own : unused != NULL ? unused : last;
    return place->is.slots == 0 || waiter_precedes(waiter, &place->is) ? place : NULL;
}

void waitlist_enter(struct waitlist *l, const struct part_waiter *waiter,
                    const struct lease_want *want, uint64_t now_ms)
{
    struct waiting *place = waitlist_find(l, &want->holder, &waiter->wait);
    if (waiter->slots == 0)
        return;
    if (place == NULL)
        place = make_room(l, waiter, &want->holder);
    if (place == NULL)
        return;
    *place = (struct waiting){.is = *waiter, .want = *want};
    place->want.user = "";
    place->until_ms = now_ms + WAITLIST_FORGET_MS;
}

void waitlist_leave(struct waitlist *l, const struct id *holder, const struct id *wait)
{
    struct waiting *place = waitlist_find(l, holder, wait);
    if (place != NULL)
        place->is.slots = 0;
}

void waitlist_expire(struct waitlist *l, uint64_t now_ms)
{
    for (size_t i = 0; i < WAITLIST_MAX; i++)
        if (now_ms >= l->at[i].until_ms)
            l->at[i].is.slots = 0;
}

static bool is_before(const struct waiting *w, const struct part_waiter *waiter)
{
    return w->is.slots > 0 && waiter_precedes(&w->is, waiter);
}

unsigned waitlist_kept(const struct waitlist *l, const struct lease_table *t, unsigned slots,
                       const struct part_waiter *waiter, uint64_t now_ms)
{
    const unsigned free = lease_slots_free(t, slots);
    unsigned kept = 0;
    for (size_t i = 0; i < WAITLIST_MAX && kept < free; i++) {
        const struct waiting *w = &l->at[i];
        if (!is_before(w, waiter) || w->is.yields)
            continue;
        const unsigned may = lease_slots_for(t, slots, &w->want, now_ms);
        kept += w->is.slots < may ? w->is.slots : may;
    }
    return kept < free ? kept : free;
}

size_t waitlist_before(const struct waitlist *l, const struct part_waiter *waiter,
                       struct part_before *out, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < WAITLIST_MAX && count < most; i++)
        if (is_before(&l->at[i], waiter))
            out[count++] = (struct part_before){
                .wait = l->at[i].is.wait, .slots = l->at[i].is.slots, .yields = l->at[i].is.yields};
    return count;
}
