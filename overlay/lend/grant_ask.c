/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_ask.c -- who asks for slots is offered some, or told why not. */
#include "grant_state.h"
#include "lender.h"
#include "refusal.h"
#include "overlay/transport/link.h"
#include <sodium.h>
#include <stdio.h>

/* "" when it may have some. */
static void refuse(const struct grant *g, const struct link_peer *from,
                   const struct msg_lease_ask *ask, char *why, size_t size)
{
    struct part_ad ad;
    grant_ad(g, &ad);
    const bool within = ask->use == LEASE_WITHIN; /* those slots were lent before */
    const struct refusal r = {.closed = within ? NULL : lender_refuses(g->lender, from->card),
                              .guest = grant_is_guest(g, from->card),
                              .missing = g->node->settings.confinement & ~ad.confinement,
                              .use = ask->use,
                              .ours = ad.ompi,
                              .theirs = ask->ompi};
    refusal_text(&r, why, size);
}

static void offer(struct grant *g, const struct link_peer *from, const struct lease_want *want,
                  struct msg_lease_answer *answer)
{
    enum { MOST = sizeof answer->offers / sizeof answer->offers[0] };
    struct id fresh[MOST];
    size_t made[MOST];
    randombytes_buf(fresh, sizeof fresh);
    size_t n =
        lease_offer(&g->table, g->node->settings.slots, want, fresh, MOST, made, grant_now(g));
    answer->offers_count = (uint16_t)n;
    for (size_t i = 0; i < n; i++) {
        const struct lease *l = &g->table.at[made[i]];
        g->jobs[made[i]] = (struct grant_job){
            .grant = g, .holder = from->peer, .guest = grant_is_guest(g, from->card)};
        answer->offers[i].lease = l->id;
        answer->offers[i].slots = l->slots;
    }
}

/* Another owner's desktop has the terms that p2pd.conf has for it. */
static struct lease_want want_of(const struct grant *g, const struct link_peer *from,
                                 const struct msg_lease_ask *ask)
{
    const struct settings *s = &g->node->settings;
    bool guest = grant_is_guest(g, from->card);
    return (struct lease_want){.holder = from->peer.id,
                               .owner = from->card->owner,
                               .shares = guest,
                               .slots = ask->slots,
                               .per_lease = ask->per_lease,
                               .user = ask->user,
                               .use = (enum lease_use)ask->use,
                               .reservation = ask->reservation,
                               .slots_each = guest ? s->slots_each : 0,
                               .unused_ms = guest ? s->unused_minutes * 60000ull : 0};
}

static struct lease_room room_for(struct grant *g, const struct lease_want *want)
{
    unsigned slots = g->node->settings.slots;
    if (want->use == LEASE_WITHIN)
        return lease_room(&g->table, want);
    return (struct lease_room){.slots = slots,
                               .left = lease_slots_for(&g->table, slots, want, grant_now(g)),
                               .contested = lease_slots_contested(&g->table)};
}

static void explain(const struct grant *g, const struct lease_want *want,
                    struct msg_lease_answer *answer)
{
    bool free = want->use != LEASE_WITHIN && answer->slots_free == 0 &&
                lease_slots_free(&g->table, g->node->settings.slots) > 0;
    if (free && want->slots_each == 0)
        snprintf(answer->reason, sizeof answer->reason,
                 "has no more slots for one owner while others wait for some");
    else if (free)
        snprintf(answer->reason, sizeof answer->reason,
                 "lends at most %u slots to one other desktop", want->slots_each);
    else
        snprintf(answer->reason, sizeof answer->reason, "has %u of %u slots free%s",
                 answer->slots_free, answer->slots_total,
                 want->use == LEASE_WITHIN ? " in this allocation" : "");
}

void grant_asked(struct grant *g, const struct link_peer *from, const struct msg_lease_ask *ask)
{
    struct message m = {.kind = MSG_lease_answer};
    struct msg_lease_answer *answer = &m.lease_answer;
    const struct lease_want want = want_of(g, from, ask);
    answer->token = ask->token;
    refuse(g, from, ask, answer->reason, sizeof answer->reason);
    lease_expire(&g->table, grant_now(g));
    struct lease_room room = room_for(g, &want);
    answer->slots_contested = (uint16_t)room.contested;
    answer->slots_total = (uint16_t)room.slots;
    if (answer->reason[0] == '\0')
        offer(g, from, &want, answer);
    answer->slots_free = (uint16_t)room_for(g, &want).left;
    if (answer->reason[0] == '\0' && answer->offers_count == 0)
        explain(g, &want, answer);
    grant_send(g, &from->peer, &m);
}
