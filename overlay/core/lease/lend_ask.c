/* SPDX-License-Identifier: BSD-3-Clause */
/* lend_ask.c -- a peer that asks for slots is offered some, or told why not. */
#include "lend_state.h"
#include "phrase.h"

/* Another owner's desktop has the terms that the owner of this one has set. A job that waits here
 * takes its turn, so it need not share with those after it. */
static struct lease_want want_of(const struct lend *l, const struct lend_event *event)
{
    const struct msg_lease_ask *ask = &event->message->lease_ask;
    const bool waits = waitlist_has(&l->waitlist, &event->peer.id, &ask->waiter.wait);
    return (struct lease_want){.holder = event->peer.id,
                               .owner = event->owner,
                               .shares = event->guest,
                               .in_turn = waits,
                               .slots = ask->slots,
                               .per_lease = ask->per_lease,
                               .user = ask->user,
                               .use = (enum lease_use)ask->use,
                               .reservation = ask->reservation,
                               .slots_each = event->guest ? event->terms->slots_each : 0,
                               .unused_ms = event->guest ? event->terms->unused_ms : 0};
}

static struct lease_capacity capacity_for(const struct lend *l, unsigned slots,
                                          const struct lease_want *want, uint64_t now)
{
    if (want->use == LEASE_WITHIN)
        return lease_capacity(&l->table, want);
    return (struct lease_capacity){.slots = slots,
                                   .left = lease_slots_for(&l->table, slots, want, now),
                                   .contested = lease_slots_contested(&l->table)};
}

/* Slots that are kept for those who wait. An asker that does not know of them is as before: it
 * takes what is free. */
static unsigned kept_from(const struct lend *l, unsigned slots, const struct msg_lease_ask *ask,
                          uint64_t now)
{
    if (id_is_zero(&ask->waiter.wait) || ask->use == LEASE_WITHIN)
        return 0;
    return waitlist_kept(&l->waitlist, &l->table, slots, &ask->waiter, now);
}

/* What is left of the free slots for it. */
static unsigned lessen(const struct lend *l, unsigned left, unsigned slots, unsigned kept)
{
    const unsigned free = lease_slots_free(&l->table, slots);
    const unsigned most = free > kept ? free - kept : 0;
    return kept > 0 && most < left ? most : left;
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

static void explain(struct lend *l, unsigned slots, const struct lease_want *want, unsigned kept)
{
    struct msg_lease_answer *answer = &l->answer;
    const bool within = want->use == LEASE_WITHIN;
    const bool free = !within && answer->slots_free == 0 && lease_slots_free(&l->table, slots) > 0;
    struct phrase p;
    phrase_begin(&p, answer->reason, sizeof answer->reason);
    if (kept > 0) {
        phrase_add(&p, "keeps ");
        phrase_add_number(&p, kept);
        phrase_add(&p, kept == 1 ? " free slot for a job that waits"
                                 : " free slots for jobs that wait");
    } else if (!free) {
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
    const struct msg_lease_ask *ask = &event->message->lease_ask;
    waitlist_expire(&l->waitlist, now);
    struct lease_want want = want_of(l, event);
    const struct lease_capacity capacity = capacity_for(l, slots, &want, now);
    const unsigned kept = kept_from(l, slots, ask, now);
    struct msg_lease_answer *answer = &l->answer;
    struct phrase reason;
    *answer = (struct msg_lease_answer){.token = ask->token,
                                        .slots_contested = (uint16_t)capacity.contested,
                                        .slots_total = (uint16_t)capacity.slots};
    phrase_begin(&reason, answer->reason, sizeof answer->reason);
    phrase_add(&reason, event->refusal != NULL ? event->refusal : "");
    const bool refused = answer->reason[0] != '\0';
    const unsigned left = lessen(l, capacity.left, slots, kept);
    want.slots = left < want.slots ? (uint16_t)left : want.slots;
    if (!refused)
        offer(l, event, &want, now);
    answer->slots_free = (uint16_t)lessen(l, capacity_for(l, slots, &want, now).left, slots, kept);
    if (!refused && answer->offers_count == 0)
        explain(l, slots, &want, kept);
    lend_do(l, LEND_ANSWER, &event->peer)->answer = answer;
}
