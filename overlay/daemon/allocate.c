/* SPDX-License-Identifier: BSD-3-Clause */
/* allocate.c -- finds slots for a local client: drives claim.c with candidates, answers and time.
 */
#include "allocate.h"
#include "candidate.h"
#include "claim.h"
#include "hold.h"
#include "node.h"
#include "require.h"
#include <errno.h>
#include <pwd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ALLOCATIONS_MAX = 64,
    WALK_MS = 3000,
    QUIET_MS = 100, /* so long no further ad came: the near ones are known */
    TRY_MS = 4000,  /* a claim ends before its first offers do */
    PAUSE_MS = 40, /* after a contested claim, times the number of tries, and some more by chance */
    MARGIN_MS = 50, /* of the client's time-out, for the way back */
};

enum phase { WALKING, CLAIMING, PAUSING };

struct allocation {
    struct allocator *allocator;
    void *owner;
    struct msg_local_allocate want;
    struct require require;
    enum phase phase;
    struct walk *walk;
    bool cut;     /* the walk, as enough was seen */
    bool patient; /* waits for the walk's end: what a cut one saw was too little */
    uint64_t heard_ms, begun_ms, until_ms, give_up_ms;
    struct candidates candidates; /* while claiming: fitting ones first, by round trip */
    unsigned silent;              /* peers that the walk knew of and that did not answer */
    struct claim claim;
    size_t offers_max;
    unsigned tries;
    struct event *timer;
};

struct allocator {
    struct node *node;
    struct holds *holds;
    struct allocation_watcher watcher;
    struct allocation *all[ALLOCATIONS_MAX];
    size_t count;
    uint32_t token;
    char user[32];
};

static void send_release(struct allocator *a, const struct part_peer *peer, const struct id *lease)
{
    struct message m = {.kind = MSG_lease_release};
    m.lease_release.lease = *lease;
    link_send(a->node->links, peer, &m); /* if it is lost, the offer runs out */
}

static void wake(struct allocation *one, uint64_t in_ms)
{
    struct timeval t = {.tv_sec = (time_t)(in_ms / 1000), .tv_usec = (long)(in_ms % 1000) * 1000};
    evtimer_add(one->timer, &t);
}

/* --- candidates --- */

static void own_ad(const struct node *node, struct part_ad *ad)
{
    struct part_peer self = links_self(node->links);
    machine_ad(node->machine, &node->settings, identity_card(node->identity), &self, ad);
}

static void on_ad(void *ctx, const struct part_ad *ad, unsigned rtt_us)
{
    struct allocation *one = ctx;
    struct part_ad own;
    own_ad(one->allocator->node, &own);
    const struct candidate_want want = {
        .want = &one->want, .require = &one->require, .ompi = own.ompi};
    candidates_add(&one->candidates, ad, rtt_us, &want);
    one->heard_ms = node_now_ms();
    wake(one, QUIET_MS);
}

static void on_end(void *ctx, unsigned answered, unsigned silent)
{
    struct allocation *one = ctx;
    (void)answered;
    one->walk = NULL;
    one->silent = silent;
    wake(one, 0);
}

static bool seen_enough(const struct allocation *one, uint64_t now)
{
    if (one->walk == NULL)
        return true;
    if (one->patient || now < one->heard_ms + QUIET_MS)
        return false;
    return candidates_suffice(&one->candidates, one->want.slots, one->want.spares);
}

/* --- claiming --- */

static int begin_claim(struct allocation *one, uint64_t now)
{
    struct claim *c = &one->claim;
    size_t count = one->tries == 0 ? candidates_sort(&one->candidates) : c->peer_count;
    struct claim_peer *peers = realloc(c->peers, (count + 1) * sizeof *peers);
    if (peers == NULL)
        return -ENOMEM;
    *c = (struct claim){.want = c->want, .peers = peers, .peer_count = count, .offers = c->offers};
    for (size_t i = 0; i < count; i++)
        peers[i] = (struct claim_peer){.free = one->candidates.at[i].slots_free};
    one->phase = CLAIMING;
    one->begun_ms = now;
    one->tries++;
    return 0;
}

static void ask(struct allocation *one, size_t peer, uint16_t slots)
{
    struct allocator *a = one->allocator;
    struct node *node = a->node;
    struct candidate *c = &one->candidates.at[peer];
    struct part_ad own;
    struct message m = {.kind = MSG_lease_ask};
    own_ad(node, &own);
    m.lease_ask.token = c->token = ++a->token != 0 ? a->token : ++a->token;
    m.lease_ask.slots = slots;
    m.lease_ask.per_lease = one->want.per_lease;
    memcpy(m.lease_ask.ompi, own.ompi, sizeof m.lease_ask.ompi);
    memcpy(m.lease_ask.user, a->user, sizeof m.lease_ask.user);
    if (link_send(node->links, &c->peer, &m) != 0) {
        snprintf(c->why, sizeof c->why, "cannot be reached");
        claim_lost(&one->claim, peer);
    }
}

static void give_back(struct allocation *one)
{
    for (size_t i = 0; i < one->claim.offer_count; i++) {
        const struct claim_offer *o = &one->claim.offers[i];
        send_release(one->allocator, &one->candidates.at[o->peer].peer, &o->lease);
    }
    one->claim.offer_count = 0;
    for (size_t i = 0; i < one->candidates.count; i++)
        one->candidates.at[i].token = 0; /* what still comes is given back at once */
}

static void forget(struct allocation *one)
{
    struct allocator *a = one->allocator;
    for (size_t i = 0; i < a->count; i++)
        if (a->all[i] == one) {
            a->all[i] = a->all[--a->count];
            break;
        }
    if (one->walk != NULL)
        walk_cancel(one->walk);
    if (one->timer != NULL)
        event_free(one->timer);
    free(one->claim.peers);
    free(one->claim.offers);
    candidates_clear(&one->candidates);
    free(one);
}

static void cancel(struct allocation *one)
{
    give_back(one);
    forget(one);
}

static void finish(struct allocation *one, struct msg_local_done *done)
{
    struct allocator *a = one->allocator;
    void *owner = one->owner;
    done->token = one->want.token;
    cancel(one);
    a->watcher.done(owner, done);
}

static void fall_short(struct allocation *one)
{
    struct msg_local_done done = {.code = ENOSPC, .silent = one->silent};
    candidates_explain(&one->candidates, &one->claim, one->silent, done.reason, sizeof done.reason);
    finish(one, &done);
}

/* Hands over those of one sort; what could not be held is not counted. */
static unsigned hand_over(struct allocation *one, bool spares)
{
    struct allocator *a = one->allocator;
    unsigned count = 0;
    for (size_t peer = 0; peer < one->claim.peer_count; peer++) {
        const struct candidate *c = &one->candidates.at[peer];
        for (size_t i = 0; one->claim.peers[peer].offered > 0 && i < one->claim.offer_count; i++) {
            struct claim_offer *o = &one->claim.offers[i];
            if (o->peer != peer || o->keep == 0 || o->spare != spares ||
                hold_add(a->holds, one->owner, &c->peer, c->name, &o->lease, o->keep) != 0)
                continue;
            struct msg_local_lease lease = {.token = one->want.token,
                                            .lease = o->lease,
                                            .peer = c->peer,
                                            .slots = o->keep,
                                            .rtt_us = c->rtt_us};
            memcpy(lease.name, c->name, sizeof lease.name);
            memcpy(lease.site, c->site, sizeof lease.site);
            a->watcher.lease(one->owner, &lease);
            count++;
        }
    }
    return count;
}

static void succeed(struct allocation *one)
{
    struct claim *c = &one->claim;
    struct msg_local_done done = {0};
    claim_pick(c);
    done.count = hand_over(one, false);
    done.spares = hand_over(one, true);
    done.count += done.spares;
    size_t rest = 0;
    for (size_t i = 0; i < c->offer_count; i++)
        if (c->offers[i].keep == 0)
            c->offers[rest++] = c->offers[i];
    c->offer_count = rest;
    finish(one, &done);
}

/* Another claim wants the same slots: both step back for a while that chance decides. */
static void step_back(struct allocation *one, uint64_t now)
{
    give_back(one);
    one->phase = PAUSING;
    uint64_t pause = PAUSE_MS + randombytes_uniform(PAUSE_MS * one->tries * 4);
    one->until_ms = now + pause;
    wake(one, pause);
}

static int walk(struct allocation *one)
{
    int half = (int)(one->want.timeout_ms / 2);
    one->phase = WALKING;
    candidates_clear(&one->candidates);
    one->tries = 0;
    one->cut = false;
    one->heard_ms = node_now_ms();
    one->walk =
        walk_start(one->allocator->node, 0, half < WALK_MS ? half : WALK_MS, on_ad, on_end, one);
    return one->walk != NULL ? 0 : -EAGAIN;
}

/* What the nearest had is not enough: look at all there are. */
static bool look_further(struct allocation *one)
{
    if (!one->cut)
        return false;
    give_back(one);
    one->patient = true;
    one->claim.peer_count = 0;
    return walk(one) == 0;
}

static void conclude(struct allocation *one, enum claim_verdict verdict, uint64_t now)
{
    bool late = now + MARGIN_MS >= one->give_up_ms;
    switch (verdict) {
    case CLAIM_WAIT:
        return;
    case CLAIM_ENOUGH:
        succeed(one);
        return;
    case CLAIM_CONTESTED:
        if (one->tries < CLAIM_TRIES && !late)
            step_back(one, now);
        else
            fall_short(one);
        return;
    case CLAIM_SHORT:
        if (late || !look_further(one))
            fall_short(one);
        return;
    }
}

/* At the latest when this claim, or the whole allocation, has to end. */
static void wake_at(struct allocation *one, uint64_t then, uint64_t now)
{
    if (then > one->begun_ms + TRY_MS)
        then = one->begun_ms + TRY_MS;
    if (then > one->give_up_ms)
        then = one->give_up_ms;
    wake(one, then > now ? then - now : 0);
}

static void claim_on(struct allocation *one, uint64_t now)
{
    size_t peer;
    uint16_t slots;
    while (claim_next(&one->claim, now, &peer, &slots))
        ask(one, peer, slots);
    enum claim_verdict verdict = claim_verdict(&one->claim, now);
    if (verdict == CLAIM_WAIT && (now >= one->begun_ms + TRY_MS || now >= one->give_up_ms))
        verdict = claim_offered(&one->claim) >= one->want.slots ? CLAIM_ENOUGH : CLAIM_SHORT;
    if (verdict == CLAIM_WAIT)
        wake_at(one, claim_deadline(&one->claim, now), now);
    conclude(one, verdict, now); /* the allocation may be gone after this */
}

static void advance(struct allocation *one)
{
    uint64_t now = node_now_ms();
    if (one->phase == WALKING && !seen_enough(one, now)) {
        wake(one, QUIET_MS);
        return;
    }
    if (one->phase == WALKING && one->walk != NULL) {
        walk_cancel(one->walk);
        one->walk = NULL;
        one->cut = true;
    }
    if (one->phase == PAUSING && now < one->until_ms) {
        wake(one, one->until_ms - now);
        return;
    }
    if (one->phase != CLAIMING && begin_claim(one, now) != 0) {
        fall_short(one);
        return;
    }
    claim_on(one, now);
}

static void on_time(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    advance(ctx);
}

/* --- answers --- */

static struct allocation *find_asker(struct allocator *a, uint32_t token, size_t *peer)
{
    for (size_t i = 0; token != 0 && i < a->count; i++)
        for (size_t k = 0; a->all[i]->phase == CLAIMING && k < a->all[i]->candidates.count; k++)
            if (a->all[i]->candidates.at[k].token == token) {
                *peer = k;
                return a->all[i];
            }
    return NULL;
}

static bool make_room(struct allocation *one, size_t more)
{
    struct claim *c = &one->claim;
    if (c->offer_count + more <= one->offers_max)
        return true;
    size_t max = 2 * (c->offer_count + more);
    struct claim_offer *offers = realloc(c->offers, max * sizeof *offers);
    if (offers == NULL)
        return false;
    c->offers = offers;
    one->offers_max = max;
    return true;
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

static void on_answer(void *ctx, const struct link_peer *from, const struct message *m)
{
    struct allocator *a = ctx;
    const struct msg_lease_answer *answer = &m->lease_answer;
    size_t peer;
    struct allocation *one = find_asker(a, answer->token, &peer);
    if (one != NULL &&
        (!id_equal(&one->candidates.at[peer].peer.id, &from->peer.id) ||
         !makes_sense(answer, &one->claim.peers[peer]) || !make_room(one, answer->offers_count)))
        one = NULL;
    if (one == NULL) { /* too late, or nobody's */
        for (size_t i = 0; i < answer->offers_count; i++)
            send_release(a, &from->peer, &answer->offers[i].lease);
        return;
    }
    struct candidate *c = &one->candidates.at[peer];
    c->token = 0;
    c->slots = answer->slots_total;
    memcpy(c->why, answer->reason, sizeof c->why);
    for (size_t i = 0; i < answer->offers_count; i++)
        claim_offer(&one->claim, peer, &answer->offers[i].lease, answer->offers[i].slots);
    claim_answered(&one->claim, peer, answer->slots_free, answer->slots_contested);
    wake(one, 0);
}

static void on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct allocator *a = ctx;
    for (size_t i = 0; i < a->count; i++) {
        struct allocation *one = a->all[i];
        for (size_t k = 0; one->phase == CLAIMING && k < one->claim.peer_count; k++)
            if (id_equal(&one->candidates.at[k].peer.id, peer) &&
                one->claim.peers[k].state != CLAIM_UNASKED) {
                snprintf(one->candidates.at[k].why, sizeof one->candidates.at[k].why,
                         "went away (%.200s)", why);
                claim_lost(&one->claim, k);
                wake(one, 0);
            }
    }
}

/* --- the outside --- */

static int check(const struct msg_local_allocate *want, struct require *require, struct err *e)
{
    struct require_error wrong;
    if (want->slots == 0 || want->timeout_ms == 0)
        return err_set(e, EINVAL, "nothing to allocate");
    if (require_parse(require, want->require, &wrong))
        return 0;
    if (wrong.word[0] == '\0')
        return err_set(e, EINVAL, "%.200s: %s (column %u)", want->require, wrong.what,
                       wrong.column);
    return err_set(e, EINVAL, "%.200s: '%s' %s (column %u)", want->require, wrong.word, wrong.what,
                   wrong.column);
}

int allocate_start(struct allocator *a, void *owner, const struct msg_local_allocate *want,
                   struct err *e)
{
    struct require require;
    int rc = check(want, &require, e);
    if (rc != 0)
        return rc;
    struct allocation *one = a->count < ALLOCATIONS_MAX ? calloc(1, sizeof *one) : NULL;
    if (one == NULL)
        return err_set(e, EAGAIN, "p2pd is busy with %zu other allocations; try again", a->count);
    one->allocator = a;
    one->owner = owner;
    one->want = *want;
    one->claim.want = (struct claim_want){
        .slots = want->slots, .spares = want->spares, .per_lease = want->per_lease};
    one->require = require;
    one->give_up_ms = node_now_ms() + want->timeout_ms;
    one->timer = evtimer_new(a->node->base, on_time, one);
    a->all[a->count++] = one;
    if (one->timer == NULL || walk(one) != 0) {
        forget(one);
        return err_set(e, EAGAIN, "p2pd has too many searches going on; try again");
    }
    return 0;
}

void allocate_cancel(struct allocator *a, const void *owner)
{
    for (size_t i = 0; i < a->count;)
        if (a->all[i]->owner == owner)
            cancel(a->all[i]); /* the last one takes its place */
        else
            i++;
}

int allocator_open(struct allocator **out, struct node *node, struct holds *holds,
                   const struct allocation_watcher *watcher, struct err *e)
{
    struct allocator *a = calloc(1, sizeof *a);
    const struct passwd *user = getpwuid(getuid());
    *out = NULL;
    if (a == NULL || sodium_init() < 0 || links_on_gone(node->links, on_gone, a) != 0) {
        free(a);
        return err_set(e, ENOMEM, "out of memory");
    }
    a->node = node;
    a->holds = holds;
    a->watcher = *watcher;
    a->token = randombytes_random();
    if (user != NULL)
        snprintf(a->user, sizeof a->user, "%.31s", user->pw_name);
    else
        snprintf(a->user, sizeof a->user, "uid %u", (unsigned)getuid());
    links_handle(node->links, MSG_lease_answer, MSG_lease_answer, on_answer, a);
    *out = a;
    return 0;
}

void allocator_close(struct allocator *a)
{
    if (a == NULL)
        return;
    links_forget_gone(a->node->links, on_gone, a);
    links_handle(a->node->links, MSG_lease_answer, MSG_lease_answer, NULL, NULL);
    while (a->count > 0)
        cancel(a->all[0]);
    free(a);
}
