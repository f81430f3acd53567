/* SPDX-License-Identifier: BSD-3-Clause */
/* lend_ask.c -- a peer that asks for slots is offered some, or told why not. */
#include "lend_state.h"
#include "phrase.h"

/* Another owner's desktop has the terms that the owner of this one has set. */
static struct lease_want want_of(const struct lend_event *event)
{
    const struct msg_lease_ask *ask = &event->message->lease_ask;
    return (struct lease_want){.holder = event->peer.id,
                               .owner = event->owner,
                               .shares = event->guest,
                               .slots = ask->slots,
                               .per_lease = ask->per_lease,
                               .user = ask->user,
                               .use = (enum lease_use)ask->use,
                               .reservation = ask->reservation,
                               .slots_each = event->guest ? event->terms->slots_each : 0,
                               .unused_ms = event->guest ? event->terms->unused_ms : 0};
}

static struct lease_room room_for(const struct lend *l, unsigned slots,
                                  const struct lease_want *want, uint64_t now)
{
    if (want->use == LEASE_WITHIN)
        return lease_room(&l->table, want);
    return (struct lease_room){.slots = slots,
                               .left = lease_slots_for(&l->table, slots, want, now),
                               .contested = lease_slots_contested(&l->table)};
}

static void offer(struct lend *l, const struct lend_event *event, const struct lease_want *want,
                  uint64_t now)
{
    size_t made[LEND_OFFERS_MAX];
    const size_t n =
        lease_offer(&l->table, event->terms->slots, want, event->fresh, LEND_OFFERS_MAX, made, now);
    l->answer.offers_count = (uint16_t)n;
    for (size_t i = 0; i < n; i++) {
        const struct lease *one = &l->table.at[made[i]];
        l->granted[made[i]] = (struct lend_grant){.holder = event->peer, .guest = event->guest};
        l->answer.offers[i] = (struct part_offer){.lease = one->id, .slots = one->slots};
    }
}

static void explain_free(struct phrase *p, const struct msg_lease_answer *answer, bool within)
{
    phrase_add(p, "has ");
    phrase_add_number(p, answer->slots_free);
    phrase_add(p, " of ");
    phrase_add_number(p, answer->slots_total);
    phrase_add(p, within ? " slots free in this allocation" : " slots free");
}

static void explain(struct lend *l, unsigned slots, const struct lease_want *want)
{
    struct msg_lease_answer *answer = &l->answer;
    const bool within = want->use == LEASE_WITHIN;
    const bool free = !within && answer->slots_free == 0 && lease_slots_free(&l->table, slots) > 0;
    struct phrase p;
    phrase_begin(&p, answer->reason, sizeof answer->reason);
    if (!free) {
        explain_free(&p, answer, within);
    } else if (want->slots_each == 0) {
        phrase_add(&p, "has no more slots for one owner while others wait for some");
    } else {
        phrase_add(&p, "lends at most ");
        phrase_add_number(&p, want->slots_each);
        phrase_add(&p, " slots to one other desktop");
    }
}

void lend_on_ask(struct lend *l, const struct lend_event *event, uint64_t now)
{
    const unsigned slots = event->terms->slots;
    const struct lease_want want = want_of(event);
    const struct lease_room room = room_for(l, slots, &want, now);
    struct msg_lease_answer *answer = &l->answer;
    struct phrase reason;
    *answer = (struct msg_lease_answer){.token = event->message->lease_ask.token,
                                        .slots_contested = (uint16_t)room.contested,
                                        .slots_total = (uint16_t)room.slots};
    phrase_begin(&reason, answer->reason, sizeof answer->reason);
    phrase_add(&reason, event->refusal != NULL ? event->refusal : "");
    const bool refused = answer->reason[0] != '\0';
    if (!refused)
        offer(l, event, &want, now);
    answer->slots_free = (uint16_t)room_for(l, slots, &want, now).left;
    if (!refused && answer->offers_count == 0)
        explain(l, slots, &want);
    lend_do(l, LEND_ANSWER, &event->peer)->answer = answer;
}
