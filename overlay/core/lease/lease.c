/* SPDX-License-Identifier: BSD-3-Clause */
/* lease.c -- slots of this peer that are held for jobs. */
#include "lease.h"
#include <assert.h>
#include <string.h>

void lease_init(struct lease_table *t)
{
    memset(t, 0, sizeof *t);
}

unsigned lease_slots_free(const struct lease_table *t, unsigned slots)
{
    unsigned taken = 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (t->at[i].state != LEASE_FREE && t->at[i].use != LEASE_WITHIN)
            taken += t->at[i].slots;
    return taken < slots ? slots - taken
                         : 0; /* fewer may be lent now than when they were granted */
}

static bool counts(const struct lease *l)
{
    return l->state != LEASE_FREE && l->use != LEASE_WITHIN;
}

/* What ends is given up, though its slots are not free yet. */
static unsigned held_by_owner(const struct lease_table *t, const struct id *owner)
{
    unsigned slots = 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (counts(&t->at[i]) && t->at[i].state != LEASE_ENDING && id_equal(&t->at[i].owner, owner))
            slots += t->at[i].slots;
    return slots;
}

/* One that says so again waits for longer. Among too many, the oldest is forgotten. */
void lease_add_waiter(struct lease_table *t, const struct id *owner, uint64_t now_ms)
{
    struct lease_waiter *place = &t->waiters[0];
    for (size_t i = 0; i < LEASE_WAITERS && !id_equal(&place->owner, owner); i++)
        if (id_equal(&t->waiters[i].owner, owner) || t->waiters[i].until_ms < place->until_ms)
            place = &t->waiters[i];
    *place = (struct lease_waiter){.owner = *owner, .until_ms = now_ms + LEASE_WAIT_MS};
}

void lease_forget_waiter(struct lease_table *t, const struct id *owner)
{
    for (size_t i = 0; i < LEASE_WAITERS; i++)
        if (id_equal(&t->waiters[i].owner, owner))
            t->waiters[i].until_ms = 0;
}

static bool waits(const struct lease_table *t, const struct id *owner, uint64_t now_ms)
{
    for (size_t i = 0; i < LEASE_WAITERS; i++)
        if (now_ms < t->waiters[i].until_ms && id_equal(&t->waiters[i].owner, owner))
            return true;
    return false;
}

static unsigned others_waiting(const struct lease_table *t, const struct id *owner, uint64_t now_ms)
{
    unsigned n = 0;
    for (size_t i = 0; i < LEASE_WAITERS; i++)
        n += now_ms < t->waiters[i].until_ms && !id_equal(&t->waiters[i].owner, owner);
    return n;
}

/* Of those that hold some and do not wait, each owner once. */
static unsigned others_content(const struct lease_table *t, const struct id *owner, uint64_t now_ms)
{
    unsigned n = 0;
    for (size_t i = 0; i < LEASE_MAX; i++) {
        bool first = counts(&t->at[i]) && !id_equal(&t->at[i].owner, owner) &&
                     !waits(t, &t->at[i].owner, now_ms);
        for (size_t k = 0; k < i && first; k++)
            first = !counts(&t->at[k]) || !id_equal(&t->at[k].owner, &t->at[i].owner);
        n += first;
    }
    return n;
}

unsigned lease_share(const struct lease_table *t, unsigned slots, const struct id *owner,
                     uint64_t now_ms)
{
    const unsigned waiting = others_waiting(t, owner, now_ms);
    if (waiting == 0)
        return slots;
    const unsigned all = 1 + waiting + others_content(t, owner, now_ms);
    return (slots + all - 1) / all;
}

struct lease *lease_surplus(struct lease_table *t, unsigned slots, uint64_t kept_ms,
                            uint64_t now_ms)
{
    struct lease *found = NULL;
    if (lease_slots_free(t, slots) > 0)
        return NULL;
    for (size_t i = 0; i < LEASE_MAX; i++) {
        struct lease *l = &t->at[i];
        if (l->shares && counts(l) && (l->state == LEASE_HELD || l->state == LEASE_RUNNING) &&
            now_ms - l->since_ms >= kept_ms && (found == NULL || l->since_ms > found->since_ms) &&
            held_by_owner(t, &l->owner) > lease_share(t, slots, &l->owner, now_ms))
            found = l;
    }
    return found;
}

static unsigned at_most(unsigned left, unsigned most, unsigned taken)
{
    most = taken < most ? most - taken : 0;
    return left < most ? left : most;
}

unsigned lease_slots_for(const struct lease_table *t, unsigned slots, const struct lease_want *want,
                         uint64_t now_ms)
{
    unsigned left = lease_slots_free(t, slots), taken = 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (counts(&t->at[i]) && id_equal(&t->at[i].holder, &want->holder))
            taken += t->at[i].slots;
    if (want->slots_each != 0)
        left = at_most(left, want->slots_each, taken);
    if (want->shares && !want->in_turn)
        left = at_most(left, lease_share(t, slots, &want->owner, now_ms),
                       held_by_owner(t, &want->owner));
    return left;
}

unsigned lease_slots_contested(const struct lease_table *t)
{
    unsigned offered = 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (t->at[i].state == LEASE_OFFERED && t->at[i].use != LEASE_WITHIN)
            offered += t->at[i].slots;
    return offered;
}

static bool is_part(const struct lease *l, enum lease_use use, const struct id *holder,
                    const struct id *reservation)
{
    return l->state != LEASE_FREE && l->use == use && id_equal(&l->holder, holder) &&
           id_equal(&l->reservation, reservation);
}

/* living: without those that end. */
static unsigned count_part(const struct lease_table *t, enum lease_use use, bool living,
                           const struct lease *as)
{
    unsigned slots = 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (is_part(&t->at[i], use, &as->holder, &as->reservation) &&
            (!living || (t->at[i].state != LEASE_ENDING && t->at[i].state != LEASE_OFFERED)))
            slots += t->at[i].slots;
    return slots;
}

struct lease_capacity lease_capacity(const struct lease_table *t, const struct lease_want *want)
{
    const struct lease as = {.holder = want->holder, .reservation = want->reservation};
    struct lease_capacity capacity = {.slots = count_part(t, LEASE_RESERVES, true, &as)};
    unsigned taken = count_part(t, LEASE_WITHIN, false, &as);
    capacity.left = taken < capacity.slots ? capacity.slots - taken : 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (is_part(&t->at[i], LEASE_WITHIN, &as.holder, &as.reservation) &&
            t->at[i].state == LEASE_OFFERED)
            capacity.contested += t->at[i].slots;
    return capacity;
}

void lease_close(struct lease_table *t)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        struct lease *l = &t->at[i];
        if (l->state == LEASE_FREE || l->state == LEASE_ENDING || l->use != LEASE_WITHIN ||
            count_part(t, LEASE_RESERVES, true, l) >= count_part(t, LEASE_WITHIN, false, l))
            continue;
        bool offered = l->state == LEASE_OFFERED;
        lease_end(l, LEASE_CLOSED);
        if (offered)
            lease_clear(l);
    }
}

bool lease_is_over(const struct lease_table *t, const struct lease *l)
{
    assert(l->state == LEASE_ENDING);
    return l->use != LEASE_RESERVES || count_part(t, LEASE_RESERVES, false, l) - l->slots >=
                                           count_part(t, LEASE_WITHIN, false, l);
}

size_t lease_offer(struct lease_table *t, unsigned slots, const struct lease_want *want,
                   const struct id *fresh, size_t max, size_t *made, uint64_t now_ms)
{
    unsigned left = want->use == LEASE_WITHIN ? lease_capacity(t, want).left
                                              : lease_slots_for(t, slots, want, now_ms);
    size_t count = 0;
    if (left > want->slots)
        left = want->slots;
    for (size_t i = 0; i < LEASE_MAX && left > 0 && count < max; i++) {
        struct lease *l = &t->at[i];
        if (l->state != LEASE_FREE)
            continue;
        unsigned n = want->per_lease != 0 && left > want->per_lease ? want->per_lease : left;
        *l = (struct lease){.state = LEASE_OFFERED,
                            .id = fresh[count],
                            .holder = want->holder,
                            .owner = want->owner,
                            .shares = want->shares,
                            .use = want->use,
                            .reservation = want->reservation,
                            .slots = (uint16_t)n,
                            .unused_ms = want->unused_ms,
                            .since_ms = now_ms,
                            .until_ms = now_ms + LEASE_OFFER_MS};
        strncpy(l->user, want->user, LEASE_USER);
        made[count++] = i;
        left -= n;
    }
    return count;
}

struct lease *lease_find(struct lease_table *t, const struct id *holder, const struct id *id)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        struct lease *l = &t->at[i];
        if (l->state != LEASE_FREE && l->state != LEASE_ENDING && id_equal(&l->id, id) &&
            id_equal(&l->holder, holder))
            return l;
    }
    return NULL;
}

void lease_confirm(struct lease *l, unsigned slots, uint64_t now_ms)
{
    if (l->state != LEASE_OFFERED)
        return; /* said twice */
    l->state = LEASE_HELD;
    l->since_ms = l->used_ms = now_ms;
    if (slots > 0 && slots < l->slots)
        l->slots = (uint16_t)slots;
    lease_renew(l, now_ms);
}

void lease_renew(struct lease *l, uint64_t now_ms)
{
    if (l->state != LEASE_HELD && l->state != LEASE_RUNNING)
        return;
    l->renewed_ms = now_ms;
    l->until_ms = now_ms + LEASE_TTL_MS;
}

bool lease_overdue(const struct lease *l, uint64_t now_ms)
{
    return (l->state == LEASE_HELD || l->state == LEASE_RUNNING) &&
           now_ms >= l->renewed_ms + LEASE_TTL_MS / 2;
}

void lease_spare(struct lease *l, uint64_t now_ms)
{
    uint64_t most = l->renewed_ms + LEASE_STALLED_MS, until = now_ms + LEASE_SPARED_MS;
    if (until > most)
        until = most;
    if (until > l->until_ms)
        l->until_ms = until;
}

bool lease_run(struct lease *l)
{
    if (l->state != LEASE_HELD)
        return false;
    l->state = LEASE_RUNNING;
    return true;
}

void lease_end(struct lease *l, enum lease_cause cause)
{
    assert(l->state != LEASE_FREE);
    if (l->state == LEASE_ENDING)
        return;
    l->state = LEASE_ENDING;
    l->cause = cause;
}

void lease_clear(struct lease *l)
{
    assert(l->state == LEASE_ENDING);
    memset(l, 0, sizeof *l);
}

/* Those within it are carved out of its slots, so they are what it is for. */
static bool is_used(const struct lease_table *t, const struct lease *l)
{
    for (size_t i = 0; l->use == LEASE_RESERVES && i < LEASE_MAX; i++)
        if (is_part(&t->at[i], LEASE_WITHIN, &l->holder, &l->reservation) &&
            (t->at[i].state == LEASE_RUNNING || t->at[i].state == LEASE_ENDING))
            return true;
    return l->state == LEASE_RUNNING;
}

/* When it ends, unless it is renewed or used. */
static uint64_t end_of(const struct lease *l)
{
    bool idle = l->unused_ms != 0 && l->state == LEASE_HELD;
    uint64_t unused = idle ? l->used_ms + l->unused_ms : UINT64_MAX;
    return unused < l->until_ms ? unused : l->until_ms;
}

static bool is_living(const struct lease *l)
{
    return l->state != LEASE_FREE && l->state != LEASE_ENDING;
}

void lease_expire(struct lease_table *t, uint64_t now_ms)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        struct lease *l = &t->at[i];
        if (is_living(l) && is_used(t, l))
            l->used_ms = now_ms;
        if (!is_living(l) || now_ms < end_of(l))
            continue;
        bool offered = l->state == LEASE_OFFERED;
        lease_end(l, now_ms < l->until_ms ? LEASE_UNUSED : LEASE_EXPIRED);
        if (offered)
            lease_clear(l);
    }
}

uint64_t lease_deadline(const struct lease_table *t)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (is_living(&t->at[i]) && end_of(&t->at[i]) < first)
            first = end_of(&t->at[i]);
    return first;
}

const char *lease_cause_text(enum lease_cause cause)
{
    switch (cause) {
    case LEASE_RELEASED:
        return "it was given back";
    case LEASE_EXPIRED:
        return "it was not renewed in time";
    case LEASE_FINISHED:
        return "its command ended";
    case LEASE_FAILED:
        return "its command could not be started";
    case LEASE_REVOKED:
        return "the peer's owner took it back";
    case LEASE_UNKNOWN:
        return "the peer does not know it (any more)";
    case LEASE_CLOSED:
        return "its allocation has ended";
    case LEASE_UNUSED:
        return "nothing ran under it for too long";
    case LEASE_LOST:
        return "the peer cannot be reached";
    }
    return "unknown cause";
}
