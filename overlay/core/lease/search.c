/* SPDX-License-Identifier: BSD-3-Clause */
/* search.c -- one search for slots: claims what was found, steps back when it is contested, hands
 * over, or says why there is too little. */
#include "search_state.h"
#include "overlay/base/random.h"
#include <assert.h>
#include <string.h>

enum { ALIGNMENT = _Alignof(max_align_t), OTHER_ACTIONS = 8 };

/* Late answers count, too, and several peers were asked in place of each that was slow. */
static size_t offers_of(const struct request *r)
{
    return 4 * ((size_t)r->slots + r->slots / 4 + 1 + r->spares) + 256;
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

size_t search_size(const struct search_setup *setup)
{
    const struct search *s = NULL;
    return aligned(sizeof *s) + aligned(setup->request->exclude_count * sizeof(struct id)) +
           aligned(setup->peers * sizeof *s->candidates.at) +
           aligned(setup->peers * sizeof *s->claim.peers) +
           aligned(setup->peers * sizeof *s->claim.deal) +
           aligned(offers_of(setup->request) * sizeof *s->claim.offers);
}

size_t search_actions(const struct search_setup *setup)
{
    const struct msg_lease_answer *answer = NULL;
    return 2 * setup->peers + offers_of(setup->request) + SEARCH_TOLD_MAX +
           sizeof answer->offers / sizeof answer->offers[0] + OTHER_ACTIONS;
}

struct search *search_init(void *memory, const struct search_setup *setup, uint64_t now_ms)
{
    struct search *s = memory;
    const struct request *r = setup->request;
    uint8_t *at = (uint8_t *)memory + aligned(sizeof *s);
    *s = (struct search){.request = *r,
                         .require = *setup->require,
                         .owner = setup->owner,
                         .asked_ms = now_ms,
                         .give_up_ms = now_ms + r->timeout_ms,
                         .due_ms = UINT64_MAX,
                         .offers_max = offers_of(r),
                         .waits = setup->waits,
                         .random = setup->seed,
                         .token = setup->token,
                         .token_step = setup->token_step};
    memcpy(s->ompi, setup->ompi, sizeof s->ompi);
    if (r->exclude_count > 0)
        memcpy(at, r->exclude, r->exclude_count * sizeof(struct id));
    s->request.require = s->require.text;
    s->request.needs = s->needs;
    if (r->needs != NULL)
        strncpy(s->needs, r->needs, sizeof s->needs - 1);
    s->request.exclude = (const struct id *)at;
    at += aligned(r->exclude_count * sizeof(struct id));
    s->candidates.at = (struct candidate *)at;
    s->candidates.most = setup->peers;
    at += aligned(setup->peers * sizeof *s->candidates.at);
    s->claim.peers = (struct claim_peer *)at;
    at += aligned(setup->peers * sizeof *s->claim.peers);
    s->claim.deal = (struct share_peer *)at;
    at += aligned(setup->peers * sizeof *s->claim.deal);
    s->claim.offers = (struct claim_offer *)at;
    s->claim.request = &s->request;
    return s;
}

const struct request *search_request(const struct search *s)
{
    return &s->request;
}

uint64_t search_deadline(const struct search *s)
{
    return s->due_ms;
}

static uint64_t next_random(struct search *s)
{
    return splitmix64(&s->random);
}

struct search_action *search_do(struct search *s, enum search_action_kind kind)
{
    assert(s->out->count < s->out->most);
    struct search_action *a = &s->out->action[s->out->count++];
    *a = (struct search_action){.kind = kind};
    return a;
}

void search_wake(struct search *s, uint64_t at_ms)
{
    s->due_ms = s->phase == SEARCH_OVER ? UINT64_MAX : at_ms;
}

void search_release(struct search *s, const struct part_peer *peer, const struct id *lease)
{
    struct search_action *a = search_do(s, SEARCH_RELEASE);
    a->peer = *peer;
    a->lease = *lease;
}

void search_give_back(struct search *s)
{
    for (size_t i = 0; i < s->claim.offer_count; i++) {
        const struct claim_offer *o = &s->claim.offers[i];
        search_release(s, &s->candidates.at[o->peer].peer, &o->lease);
    }
    s->claim.offer_count = 0;
    for (size_t i = 0; i < s->candidates.count; i++)
        s->candidates.at[i].token = 0; /* what still comes is given back at once */
}

void search_end(struct search *s, const char *reason)
{
    search_stop_looking(s);
    search_give_back(s);
    s->phase = SEARCH_OVER;
    s->due_ms = UINT64_MAX;
    struct search_action *a = search_do(s, SEARCH_ENDED);
    a->reason = reason;
    a->count = s->silent;
}

/* The peers that would do know that somebody waits: so no owner has more than its share for ever.
 */
static void tell_waiting(struct search *s)
{
    unsigned told = 0;
    for (size_t i = 0; i < s->candidates.count && told < SEARCH_TOLD_MAX; i++) {
        const struct candidate *c = &s->candidates.at[i];
        if (!c->fits || c->slots_free > 0 || s->request.use == LEASE_WITHIN)
            continue;
        search_do(s, SEARCH_TELL_WAITING)->peer = c->peer;
        told++;
    }
}

static void name_fitting(struct search *s)
{
    for (size_t i = 0; i < s->candidates.count && s->waits; i++) {
        const struct candidate *c = &s->candidates.at[i];
        if (!c->fits)
            continue;
        struct search_action *a = search_do(s, SEARCH_FITS);
        a->peer = c->peer;
        a->slots = c->slots;
    }
}

static void fall_short(struct search *s)
{
    name_fitting(s);
    tell_waiting(s);
    candidates_explain(&s->candidates, &s->claim, &s->require, s->silent, s->unsettled, s->reason,
                       sizeof s->reason);
    search_end(s, s->reason);
}

static void begin_claim(struct search *s, const struct search_event *event, uint64_t now)
{
    const size_t count = s->tries == 0 ? candidates_sort(&s->candidates) : s->claim.peer_count;
    candidates_claim(&s->candidates, count, event->borrowed, event->borrowed_count, &s->claim);
    s->phase = SEARCH_CLAIMING;
    s->begun_ms = now;
    s->tries++;
}

static void ask(struct search *s, size_t peer, uint16_t slots)
{
    struct candidate *c = &s->candidates.at[peer];
    struct search_action *a = search_do(s, SEARCH_ASK);
    s->token += s->token_step;
    if (s->token == 0)
        s->token += s->token_step;
    a->token = c->token = s->token;
    a->peer = c->peer;
    a->slots = slots;
}

/* Those of one sort, nearest first. */
static void hand_over(struct search *s, bool spares)
{
    for (size_t peer = 0; peer < s->claim.peer_count; peer++) {
        const struct candidate *c = &s->candidates.at[peer];
        for (size_t i = 0; s->claim.peers[peer].offered > 0 && i < s->claim.offer_count; i++) {
            const struct claim_offer *o = &s->claim.offers[i];
            if (o->peer != peer || o->keep == 0 || o->spare != spares)
                continue;
            struct search_action *a = search_do(s, SEARCH_BORROW);
            a->peer = c->peer;
            a->lease = o->lease;
            a->slots = o->keep;
            a->spare = spares;
            a->from = c;
        }
    }
}

static void succeed(struct search *s)
{
    struct claim *c = &s->claim;
    size_t rest = 0;
    claim_pick(c);
    hand_over(s, false);
    hand_over(s, true);
    for (size_t i = 0; i < c->offer_count; i++)
        if (c->offers[i].keep == 0)
            c->offers[rest++] = c->offers[i];
    c->offer_count = rest;
    search_end(s, NULL);
}

/* Another claim wants the same slots: both step back for a while that chance decides. */
static void step_back(struct search *s, uint64_t now)
{
    search_give_back(s);
    s->phase = SEARCH_PAUSING;
    s->until_ms = now + SEARCH_PAUSE_MS + next_random(s) % (SEARCH_PAUSE_MS * s->tries * 4);
    search_wake(s, s->until_ms);
}

static void conclude(struct search *s, enum claim_verdict verdict, const struct search_event *event,
                     uint64_t now)
{
    const bool late = now + SEARCH_MARGIN_MS >= s->give_up_ms;
    switch (verdict) {
    case CLAIM_WAIT:
        return;
    case CLAIM_ENOUGH:
        succeed(s);
        return;
    case CLAIM_CONTESTED:
        if (s->tries < CLAIM_TRIES && !late)
            step_back(s, now);
        else
            fall_short(s);
        return;
    case CLAIM_SHORT:
        if (late || (!search_look_further(s, now) && !search_look_again(s, event, now)))
            fall_short(s);
        return;
    }
}

/* At the latest when this claim, or the whole search, has to end. */
static void wake_for_claim(struct search *s, uint64_t then, uint64_t now)
{
    if (then > s->begun_ms + SEARCH_TRY_MS)
        then = s->begun_ms + SEARCH_TRY_MS;
    if (then > s->give_up_ms)
        then = s->give_up_ms;
    search_wake(s, then > now ? then : now);
}

static void claim_on(struct search *s, const struct search_event *event, uint64_t now)
{
    size_t peer;
    uint16_t slots;
    while (claim_next(&s->claim, now, &peer, &slots))
        ask(s, peer, slots);
    enum claim_verdict verdict = claim_verdict(&s->claim, now);
    if (verdict == CLAIM_WAIT && (now >= s->begun_ms + SEARCH_TRY_MS || now >= s->give_up_ms))
        verdict = claim_offered(&s->claim) >= s->request.slots ? CLAIM_ENOUGH : CLAIM_SHORT;
    if (verdict == CLAIM_WAIT)
        wake_for_claim(s, claim_deadline(&s->claim, now), now);
    conclude(s, verdict, event, now);
}

/* False: it goes on looking. */
static bool has_looked(struct search *s, uint64_t now)
{
    if (s->naming && s->promised > 2 * (s->request.slots + s->request.spares)) {
        s->naming = false;
        search_do(s, SEARCH_STOP_NAMING);
    }
    if (!s->looks && s->named && !candidates_suffice(&s->candidates, &s->request)) {
        search_look_all(s, now); /* the ring's tree is young, or this is much to ask for */
        return false;
    }
    if (!search_has_seen_enough(s, now)) {
        search_wake(s, now + SEARCH_QUIET_MS);
        return false;
    }
    s->cut = s->cut || s->looks;
    search_stop_looking(s);
    return true;
}

void search_on_tick(struct search *s, const struct search_event *event, uint64_t now)
{
    if (s->phase == SEARCH_OVER || now < s->due_ms)
        return;
    s->due_ms = UINT64_MAX;
    if (s->phase == SEARCH_LOOKING && !has_looked(s, now))
        return;
    if ((s->phase == SEARCH_PAUSING || s->phase == SEARCH_MISSING) && now < s->until_ms) {
        search_wake(s, s->until_ms);
        return;
    }
    if (s->phase == SEARCH_MISSING) {
        search_look_all(s, now);
        return;
    }
    if (s->phase != SEARCH_CLAIMING)
        begin_claim(s, event, now);
    claim_on(s, event, now);
}
