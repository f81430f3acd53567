/* SPDX-License-Identifier: BSD-3-Clause */
/* lend_queue.c -- a peer that waits for slots here is told what is free, and who is before it. */
#include "lend_state.h"

static uint16_t held_by_others(const struct lend *l, const struct lend_event *event)
{
    unsigned slots = 0;
    for (size_t i = 0; i < LEASE_MAX; i++) {
        const struct lease *one = &l->table.at[i];
        if (one->state > LEASE_OFFERED && one->use != LEASE_WITHIN &&
            id_equal(&one->owner, &event->owner) && !id_equal(&one->holder, &event->peer.id))
            slots += one->slots;
    }
    return slots < UINT16_MAX ? (uint16_t)slots : UINT16_MAX;
}

/* What it may have here, if that is anything. */
static void give_place(struct lend *l, const struct lend_event *event,
                       const struct lease_want *want, uint64_t now)
{
    const struct part_waiter *waiter = &event->message->lease_queue.waiter;
    const unsigned slots = event->terms->slots;
    struct msg_lease_place *place = &l->place;
    const bool bounded = want->slots_each != 0 && want->slots_each < slots;
    place->slots = (uint16_t)(bounded ? want->slots_each : slots);
    place->free = (uint16_t)lease_slots_for(&l->table, slots, want, now);
    place->kept = (uint16_t)waitlist_kept(&l->waitlist, &l->table, slots, waiter, now);
    place->others = held_by_others(l, event);
    place->before_count = (uint16_t)waitlist_before(&l->waitlist, waiter, place->before,
                                                    sizeof place->before / sizeof place->before[0]);
}

void lend_on_queue(struct lend *l, const struct lend_event *event, uint64_t now)
{
    const struct msg_lease_queue *said = &event->message->lease_queue;
    const struct lease_want want = {.holder = event->peer.id,
                                    .owner = event->owner,
                                    .shares = event->guest,
                                    .in_turn = true,
                                    .slots_each = event->guest ? event->terms->slots_each : 0};
    const bool refused = event->refusal != NULL && event->refusal[0] != '\0';
    waitlist_expire(&l->waitlist, now);
    if (said->over || refused)
        waitlist_leave(&l->waitlist, &event->peer.id, &said->waiter.wait);
    if (said->over) {
        lease_forget_waiter(&l->table, &event->owner);
        return;
    }
    l->place = (struct msg_lease_place){.wait = said->waiter.wait};
    if (!refused) {
        waitlist_enter(&l->waitlist, &said->waiter, &want, now);
        give_place(l, event, &want, now);
    }
    lend_do(l, LEND_PLACED, &event->peer)->placed = &l->place;
}
