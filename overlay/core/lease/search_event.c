/* SPDX-License-Identifier: BSD-3-Clause */
/* search_event.c -- what a search is told: peers were found, have answered, have gone. */
#include "phrase.h"
#include "search_state.h"

static void on_found(struct search *s, const struct search_event *event, uint64_t now)
{
    const struct candidate_want want = {
        .request = &s->request, .require = &s->require, .ompi = s->ompi};
    if (s->phase != SEARCH_LOOKING)
        return;
    candidates_add(&s->candidates, event->ad, event->rtt_us, event->lacks, &want);
    s->heard_ms = now;
    search_wake(s, now + SEARCH_QUIET_MS);
}

static void on_named(struct search *s, unsigned slots, uint64_t now)
{
    s->promised += slots;
    if (s->promised > 2 * (s->request.slots + s->request.spares))
        search_wake(s, now);
}

/* The ring may drop a silent peer before the next look: it has not answered all the same. */
static void on_looked(struct search *s, unsigned silent, uint64_t now)
{
    const unsigned answered = (unsigned)s->candidates.count;
    s->looks = s->naming = false;
    if (s->known < answered + silent)
        s->known = answered + silent;
    s->silent = s->known - answered;
    search_wake(s, now);
}

static void on_blocked(struct search *s, uint64_t now)
{
    s->looks = s->naming = s->named = s->cut = false;
    search_wake(s, now);
}

/* The one that was asked under this token and has not answered yet. */
static bool find_asked(const struct search *s, uint32_t token, size_t *peer)
{
    for (size_t i = 0; s->phase == SEARCH_CLAIMING && token != 0 && i < s->claim.peer_count; i++)
        if (s->candidates.at[i].token == token) {
            *peer = i;
            return true;
        }
    return false;
}

/* More than was asked for is no honest answer. */
static bool makes_sense(const struct msg_lease_answer *answer, const struct claim_peer *peer)
{
    uint32_t slots = 0;
    for (size_t i = 0; i < answer->offers_count; i++) {
        if (answer->offers[i].slots == 0)
            return false;
        slots += answer->offers[i].slots;
    }
    return slots <= peer->asked;
}

static void give_back(struct search *s, const struct search_event *event)
{
    for (size_t i = 0; i < event->answer->offers_count; i++)
        search_release(s, &event->peer, &event->answer->offers[i].lease);
}

static void take_offers(struct search *s, size_t peer, const struct msg_lease_answer *answer)
{
    struct candidate *c = &s->candidates.at[peer];
    c->slots = answer->slots_total;
    candidate_explain(c, answer->reason);
    for (size_t i = 0; i < answer->offers_count; i++)
        claim_offer(&s->claim, peer, &answer->offers[i].lease, answer->offers[i].slots);
    claim_answered(&s->claim, peer, answer->slots_free, answer->slots_contested);
}

static void search_event_on_answer(struct search *s, const struct search_event *event, uint64_t now)
{
    const struct msg_lease_answer *answer = event->answer;
    size_t peer;
    if (!find_asked(s, answer->token, &peer) ||
        !id_equal(&s->candidates.at[peer].peer.id, &event->peer.id) ||
        !makes_sense(answer, &s->claim.peers[peer]) ||
        s->claim.offer_count + answer->offers_count > s->offers_max) {
        give_back(s, event); /* too late, or nobody's */
        return;
    }
    struct candidate *c = &s->candidates.at[peer];
    c->token = 0;
    c->foreign = !id_equal(&event->owner, &s->owner);
    if (s->request.own && c->foreign) { /* a job without a sandbox takes no other owner's peer in */
        give_back(s, event);
        candidate_explain(c, "is another owner's, and the job began on its own owner's peers only");
        claim_answered(&s->claim, peer, 0, 0);
    } else {
        take_offers(s, peer, answer);
    }
    search_wake(s, now);
}

static void on_unreachable(struct search *s, uint32_t token, uint64_t now)
{
    size_t peer;
    if (!find_asked(s, token, &peer))
        return;
    candidate_explain(&s->candidates.at[peer], "cannot be reached");
    claim_lost(&s->claim, peer);
    search_wake(s, now);
}

static void search_event_on_gone(struct search *s, const struct id *id, const char *why,
                                 uint64_t now)
{
    for (size_t i = 0; s->phase == SEARCH_CLAIMING && i < s->claim.peer_count; i++) {
        struct candidate *c = &s->candidates.at[i];
        struct phrase p;
        if (!id_equal(&c->peer.id, id) || s->claim.peers[i].state == CLAIM_UNASKED)
            continue;
        phrase_begin(&p, c->why, sizeof c->why - 1);
        phrase_add(&p, "went away (");
        phrase_add(&p, why);
        p.size++; /* however long that was */
        phrase_add(&p, ")");
        claim_lost(&s->claim, i);
        search_wake(s, now);
    }
}

void search_step(struct search *s, const struct search_event *event, uint64_t now_ms,
                 struct search_out *out)
{
    out->count = 0;
    s->out = out;
    switch (event->kind) {
    case SEARCH_BEGIN:
        search_look(s, event->small, now_ms);
        break;
    case SEARCH_TICK:
        search_on_tick(s, event, now_ms);
        break;
    case SEARCH_ANSWER:
        search_event_on_answer(s, event, now_ms);
        break;
    case SEARCH_CANCEL:
        search_end(s, NULL);
        break;
    case SEARCH_NAMED:
        on_named(s, event->slots, now_ms);
        break;
    case SEARCH_ALL_NAMED:
        s->naming = false;
        break;
    case SEARCH_FOUND:
        on_found(s, event, now_ms);
        break;
    case SEARCH_LOOKED:
        on_looked(s, event->silent, now_ms);
        break;
    case SEARCH_BLOCKED:
        on_blocked(s, now_ms);
        break;
    case SEARCH_UNREACHABLE:
        on_unreachable(s, event->token, now_ms);
        break;
    case SEARCH_GONE:
        search_event_on_gone(s, &event->peer.id, event->why, now_ms);
        break;
    }
    s->out = NULL;
}
