/* SPDX-License-Identifier: BSD-3-Clause */
/* borrow.c -- the borrowing side: what it is told, and what of it is to be done. */
#include "borrow.h"
#include "phrase.h"
#include <assert.h>
#include <string.h>

enum { LEASE_ACTIONS = 4 }; /* of one lease in one step, at most */

static size_t actions_of(size_t most)
{
    return LEASE_ACTIONS * most + 1;
}

static size_t aligned(size_t bytes)
{
    return (bytes + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
}

size_t borrow_size(size_t most)
{
    const struct borrow *b = NULL;
    return aligned(most * sizeof *b->at) + aligned(most * sizeof *b->renewed) +
           aligned(actions_of(most) * sizeof *b->action);
}

void borrow_init(struct borrow *b, void *memory, size_t most)
{
    *b = (struct borrow){0};
    borrow_move(b, memory, most);
}

void *borrow_move(struct borrow *b, void *memory, size_t most)
{
    void *before = b->at;
    uint8_t *at = memory;
    assert(most >= b->count);
    if (b->count > 0)
        memcpy(memory, b->at, b->count * sizeof *b->at);
    b->at = memory;
    b->renewed = (void *)(at += aligned(most * sizeof *b->at));
    b->action = (void *)(at + aligned(most * sizeof *b->renewed));
    b->most = most;
    return before;
}

static struct borrow_action *borrow_do(struct borrow *b, enum borrow_action_kind kind,
                                       const struct part_peer *peer)
{
    assert(b->out->count < actions_of(b->most));
    struct borrow_action *a = &b->action[b->out->count++];
    *a = (struct borrow_action){.kind = kind, .peer = *peer};
    return a;
}

static bool is_at(const struct borrow_lease *one, const struct id *peer)
{
    return id_equal(&one->peer.id, peer);
}

/* --- how leases end --- */

static bool uses(const struct borrow *b, const void *owner, const struct id *peer)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->at[i].owner == owner && is_at(&b->at[i], peer))
            return true;
    return false;
}

/* Its place is the first free one now, where it stays as it was. */
static const struct borrow_lease *clear_lease(struct borrow *b, struct borrow_lease *one)
{
    const struct borrow_lease was = *one;
    struct borrow_lease *now = &b->at[--b->count];
    *one = *now;
    *now = was;
    struct borrow_action *a = borrow_do(b, BORROW_CLEARED, &was.peer);
    a->of = now;
    a->lease = was.lease;
    a->last = !uses(b, was.owner, &was.peer.id);
    return now;
}

static void release_lease(struct borrow *b, const struct part_peer *peer, const struct id *lease,
                          uint64_t now)
{
    borrow_do(b, BORROW_RELEASE, peer)->lease = *lease;
    b->released_ms = now;
}

/* The lease is gone before its owner hears of it: the owner may come back with another request.
 * text: NULL, it stands in the lease. */
static const struct borrow_action *end_lease(struct borrow *b, struct borrow_lease *one,
                                             enum borrow_action_kind how, uint32_t status,
                                             const char *text)
{
    const struct borrow_lease *was = clear_lease(b, one);
    struct borrow_action *a = borrow_do(b, how, &was->peer);
    a->of = was;
    a->lease = was->lease;
    a->status = status;
    a->text = text != NULL ? text : was->why;
    return a;
}

static void lose_lease(struct borrow *b, struct borrow_lease *one, enum borrow_action_kind how,
                       const char *why)
{
    struct borrow_action *lost = borrow_do(b, BORROW_LOST, &one->peer);
    const struct borrow_action *ended = end_lease(b, one, how, 0, why);
    lost->of = ended->of;
    lost->text = ended->text;
}

/* --- renewal --- */

/* Of the same peer, as many as go into one message. */
static void renew_peer(struct borrow *b, size_t first)
{
    const struct part_peer *peer = &b->at[first].peer;
    struct borrow_action *a = borrow_do(b, BORROW_RENEW, peer);
    a->leases = &b->renewed[b->offers];
    for (size_t i = first; i < b->count && a->count < BORROW_RENEWS_MAX; i++) {
        struct borrow_lease *one = &b->at[i];
        if (one->renewed || !is_at(one, &peer->id))
            continue;
        one->renewed = true;
        b->renewed[b->offers++] = (struct part_offer){one->lease, one->slots};
        a->count++;
    }
}

/* Those of `only`, or of all when it is NULL. */
static void renew_all(struct borrow *b, const struct id *only)
{
    for (size_t i = 0; i < b->count; i++)
        b->at[i].renewed = only != NULL && !is_at(&b->at[i], only);
    for (size_t i = 0; i < b->count; i++)
        if (!b->at[i].renewed)
            renew_peer(b, i);
}

/* --- time --- */

/* Whether its host is there decides. */
static bool is_late(const struct borrow_lease *one, uint64_t now)
{
    const uint64_t silent = now - one->heard_ms;
    return silent > LEASE_TTL_MS && silent <= LEASE_STALLED_MS;
}

static bool is_probed(const struct borrow *b, const struct id *peer)
{
    for (size_t i = 0; i < b->out->count; i++)
        if (id_equal(&b->action[i].peer.id, peer))
            return true;
    return false;
}

/* True: some peers are late, and what their hosts say counts before any lease is lost. */
static bool look_who_is_late(struct borrow *b, uint64_t now)
{
    for (size_t i = 0; i < b->count; i++) {
        b->at[i].there = false;
        if (is_late(&b->at[i], now) && !is_probed(b, &b->at[i].peer.id))
            borrow_do(b, BORROW_PROBE, &b->at[i].peer);
    }
    return b->has_looked = b->out->count > 0;
}

/* A daemon that waits for its turn on a host that is there has more time than a host that is gone.
 */
static bool is_lost(const struct borrow_lease *one, uint64_t now)
{
    return now - one->heard_ms > (one->there ? LEASE_STALLED_MS : LEASE_TTL_MS);
}

static void explain_silence(struct borrow_lease *one, uint64_t now)
{
    struct phrase p;
    phrase_begin(&p, one->why, sizeof one->why);
    phrase_add(&p, "did not answer for ");
    phrase_add_number(&p, (now - one->heard_ms) / 1000);
    phrase_add(&p, " s");
}

static void borrow_on_tick(struct borrow *b, uint64_t now)
{
    if (!b->has_looked && (now < b->round_ms || look_who_is_late(b, now)))
        return;
    b->has_looked = false;
    for (size_t i = 0; i < b->count;) {
        if (!is_lost(&b->at[i], now)) {
            i++;
            continue;
        }
        explain_silence(&b->at[i], now); /* the peer has ended it by now, if it lives */
        lose_lease(b, &b->at[i], BORROW_ENDED, NULL);
    }
    renew_all(b, NULL);
    b->round_ms = now + LEASE_RENEW_MS;
}

static void on_answers(struct borrow *b, const struct id *peer)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_at(&b->at[i], peer))
            b->at[i].there = true;
}

/* --- what the peers say --- */

static void note_heard(struct borrow *b, const struct id *peer, uint64_t now)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_at(&b->at[i], peer)) {
            b->at[i].heard_ms = now;
            b->at[i].doubted = false;
        }
}

/* A renewal is late, says the peer. If this daemon has been started anew, none will come: so none
 * is named. */
static void on_probe(struct borrow *b, const struct part_peer *peer)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_at(&b->at[i], &peer->id))
            return;
    borrow_do(b, BORROW_RENEW, peer);
}

static struct borrow_lease *find_from(struct borrow *b, const struct part_peer *from,
                                      const struct id *lease)
{
    for (size_t i = 0; i < b->count; i++)
        if (id_equal(&b->at[i].lease, lease) && is_at(&b->at[i], &from->id))
            return &b->at[i];
    return NULL;
}

static void tell_owner(struct borrow *b, const struct borrow_lease *one, const struct message *m)
{
    if (one == NULL)
        return;
    struct borrow_action *a = borrow_do(b, BORROW_TELL, &one->peer);
    a->of = one;
    a->lease = one->lease;
    a->message = m;
}

static void borrow_on_ending(struct borrow_lease *one, const char *text)
{
    struct phrase p;
    if (one == NULL)
        return;
    phrase_begin(&p, one->why, sizeof one->why);
    phrase_add(&p, text);
}

/* Where its last word was lost with a link, a peer knows the lease no more, but had told why. */
static void borrow_on_ended(struct borrow *b, struct borrow_lease *one,
                            const struct msg_lease_ended *m)
{
    if (one != NULL)
        end_lease(b, one, m->cause == LEASE_FAILED ? BORROW_FAILED : BORROW_ENDED, m->status,
                  m->cause == LEASE_UNKNOWN && one->why[0] != '\0' ? NULL : m->text);
}

enum takes {
#define TO_borrowed(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

static void borrow_on_message(struct borrow *b, const struct part_peer *from,
                              const struct message *m, uint64_t now)
{
    struct borrow_lease *one;
    note_heard(b, &from->id, now);
    switch ((enum takes)m->kind) {
    case MSG_lease_launched:
        tell_owner(b, find_from(b, from, &m->lease_launched.lease), m);
        break;
    case MSG_lease_recall:
        tell_owner(b, find_from(b, from, &m->lease_recall.lease), m);
        break;
    case MSG_lease_ending:
        one = find_from(b, from, &m->lease_ending.lease);
        borrow_on_ending(one, m->lease_ending.text);
        tell_owner(b, one, m);
        break;
    case MSG_lease_ended:
        borrow_on_ended(b, find_from(b, from, &m->lease_ended.lease), &m->lease_ended);
        break;
    case MSG_lease_seen:
        tell_owner(b, find_from(b, from, &m->lease_seen.lease), m);
        break;
    case MSG_lease_fetching:
        tell_owner(b, find_from(b, from, &m->lease_fetching.lease), m);
        break;
    case MSG_lease_renewed:
        if (m->lease_renewed.leases == 0)
            on_probe(b, from);
        break;
    }
}

/* A broken link is no dead peer yet: ask once more; a dead one cannot be dialled. */
static void on_gone(struct borrow *b, const struct id *peer, const char *why)
{
    bool ask = false;
    for (size_t i = 0; i < b->count;) {
        struct borrow_lease *one = &b->at[i];
        if (is_at(one, peer) && one->doubted) {
            lose_lease(b, one, BORROW_ENDED, why);
            continue;
        }
        if (is_at(one, peer))
            one->doubted = ask = true;
        i++;
    }
    if (ask)
        renew_all(b, peer);
}

/* What runs there is given up. */
static void on_silent(struct borrow *b, const void *owner, const struct id *peer, uint64_t now)
{
    for (size_t i = 0; i < b->count;) {
        struct borrow_lease *one = &b->at[i];
        if (one->owner != owner || !is_at(one, peer)) {
            i++;
            continue;
        }
        release_lease(b, &one->peer, &one->lease, now); /* should it live after all */
        lose_lease(b, one, BORROW_PARTED, "fell silent");
    }
}

/* --- what the owners want --- */

static void on_add(struct borrow *b, const struct borrow_event *event, uint64_t now)
{
    const struct msg_local_lease *row = event->row;
    if (b->count == b->most) {
        release_lease(b, &row->peer, &row->lease, now);
        return;
    }
    struct borrow_lease *one = &b->at[b->count++];
    *one = (struct borrow_lease){.owner = event->owner,
                                 .lease = row->lease,
                                 .peer = row->peer,
                                 .slots = row->slots,
                                 .foreign = row->foreign != 0,
                                 .heard_ms = now};
    if (event->within != NULL)
        one->within = *event->within;
    memcpy(one->name, row->name, sizeof one->name);
    memcpy(one->site, row->site, sizeof one->site);
    memcpy(one->arch, row->arch, sizeof one->arch);
    struct borrow_action *a = borrow_do(b, BORROW_CONFIRM, &one->peer);
    a->of = one; /* if it is lost, the first renewal says so */
    a->lease = one->lease;
}

static void on_give_back(struct borrow *b, const void *owner, const struct id *lease, uint64_t now)
{
    for (size_t i = 0; i < b->count;) {
        struct borrow_lease *one = &b->at[i];
        if (one->owner != owner || !(id_is_zero(lease) || id_equal(&one->lease, lease))) {
            i++;
            continue;
        }
        release_lease(b, &one->peer, &one->lease, now);
        clear_lease(b, one);
    }
}

static void on_close(struct borrow *b, uint64_t now)
{
    while (b->count > 0) {
        release_lease(b, &b->at[0].peer, &b->at[0].lease, now);
        clear_lease(b, &b->at[0]);
    }
}

/* --- all of it --- */

static void plan_round(struct borrow *b, uint64_t now)
{
    if (b->count == 0) {
        b->round_ms = 0;
        b->has_looked = false;
    } else if (b->round_ms == 0) {
        b->round_ms = now + LEASE_RENEW_MS;
    }
}

uint64_t borrow_deadline(const struct borrow *b)
{
    if (b->has_looked)
        return 0;
    return b->round_ms != 0 ? b->round_ms : UINT64_MAX;
}

static void take_event(struct borrow *b, const struct borrow_event *event, uint64_t now)
{
    switch (event->kind) {
    case BORROW_TICK:
        borrow_on_tick(b, now);
        return;
    case BORROW_ADD:
        on_add(b, event, now);
        return;
    case BORROW_MESSAGE:
        borrow_on_message(b, &event->peer, event->message, now);
        return;
    case BORROW_ANSWERS:
        on_answers(b, &event->peer.id);
        return;
    case BORROW_GONE:
        on_gone(b, &event->peer.id, event->why);
        return;
    case BORROW_SILENT:
        on_silent(b, event->whose, &event->peer.id, now);
        return;
    case BORROW_GIVE_BACK:
        on_give_back(b, event->whose, &event->lease, now);
        return;
    case BORROW_CLOSE:
        on_close(b, now);
        return;
    }
}

void borrow_step(struct borrow *b, const struct borrow_event *event, uint64_t now_ms,
                 struct borrow_out *out)
{
    if (out != NULL)
        *out = (struct borrow_out){.action = b->action};
    b->out = out;
    b->offers = 0;
    take_event(b, event, now_ms);
    plan_round(b, now_ms);
    b->out = NULL;
}
