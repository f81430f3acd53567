/* SPDX-License-Identifier: BSD-3-Clause */
/* searches.c -- all the searches for slots that go on: takes them on, and hands each the answers to
 * its asks. */
#include "search.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include <errno.h>
#include <pwd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* A job that runs without a sandbox on its owner's desktops takes in no other owner's peer. */
static void refuse(struct allocation *one, const struct link_peer *from, size_t peer,
                   const struct msg_lease_answer *answer)
{
    for (size_t i = 0; i < answer->offers_count; i++)
        allocation_release(one->allocator, &from->peer, &answer->offers[i].lease);
    snprintf(one->candidates.at[peer].why, sizeof one->candidates.at[peer].why,
             "is another owner's, and the job began on its own owner's peers only");
    claim_answered(&one->claim, peer, 0, 0);
    allocation_wake(one, 0);
}

static void on_answer(struct allocator *a, const struct link_peer *from,
                      const struct msg_lease_answer *answer)
{
    size_t peer;
    struct allocation *one = find_asker(a, answer->token, &peer);
    if (one != NULL &&
        (!id_equal(&one->candidates.at[peer].peer.id, &from->peer.id) ||
         !makes_sense(answer, &one->claim.peers[peer]) || !make_room(one, answer->offers_count)))
        one = NULL;
    if (one == NULL) { /* too late, or nobody's */
        for (size_t i = 0; i < answer->offers_count; i++)
            allocation_release(a, &from->peer, &answer->offers[i].lease);
        return;
    }
    struct candidate *c = &one->candidates.at[peer];
    c->token = 0;
    c->foreign = !id_equal(&from->card->owner, &identity_card(a->node->identity)->owner);
    if (one->want.own && c->foreign) {
        refuse(one, from, peer, answer);
        return;
    }
    c->slots = answer->slots_total;
    memcpy(c->why, answer->reason, sizeof c->why);
    for (size_t i = 0; i < answer->offers_count; i++)
        claim_offer(&one->claim, peer, &answer->offers[i].lease, answer->offers[i].slots);
    claim_answered(&one->claim, peer, answer->slots_free, answer->slots_contested);
    allocation_wake(one, 0);
}

enum takes {
#define TO_allocate(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void allocator_take(struct allocator *a, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_lease_answer:
        on_answer(a, from, &m->lease_answer);
        break;
    }
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
                allocation_wake(one, 0);
            }
    }
}

static int check(const struct msg_local_allocate *want, struct require *require, struct err *e)
{
    struct require_error wrong;
    if (want->slots == 0 || want->timeout_ms == 0)
        return err_set(e, EINVAL, "nothing to allocate");
    if (want->strategy >= SHARE_STRATEGIES)
        return err_set(e, EINVAL, "strategy %u: there is no such one", want->strategy);
    if (require_parse(require, want->require, &wrong))
        return 0;
    if (wrong.word[0] == '\0')
        return err_set(e, EINVAL, "%.200s: %s (column %u)", want->require, wrong.what,
                       wrong.column);
    return err_set(e, EINVAL, "%.200s: '%s' %s (column %u)", want->require, wrong.word, wrong.what,
                   wrong.column);
}

int allocate_start(struct allocator *a, void *owner, void *holder,
                   const struct msg_local_allocate *want, struct err *e)
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
    one->holder = holder;
    one->want = *want;
    one->claim.want = (struct claim_want){.slots = want->slots,
                                          .spares = want->spares,
                                          .per_lease = want->per_lease,
                                          .per_peer = want->per_peer,
                                          .strategy = (enum share_strategy)want->strategy};
    one->require = require;
    one->asked_ms = node_now_ms();
    one->give_up_ms = one->asked_ms + want->timeout_ms;
    a->all[a->count++] = one;
    if (allocation_begin(one) != 0) {
        allocation_cancel(one);
        return err_set(e, EAGAIN, "p2pd has too many searches going on; try again");
    }
    return 0;
}

void allocate_cancel(struct allocator *a, const void *owner)
{
    for (size_t i = 0; i < a->count;)
        if (a->all[i]->owner == owner || a->all[i]->holder == owner)
            allocation_cancel(a->all[i]); /* the last one takes its place */
        else
            i++;
}

int allocator_open(struct allocator **out, struct node *node, struct overlay *overlay,
                   struct walks *walks, struct holds *holds,
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
    a->overlay = overlay;
    a->walks = walks;
    a->holds = holds;
    a->watcher = *watcher;
    a->token = randombytes_random();
    if (user != NULL)
        snprintf(a->user, sizeof a->user, "%.31s", user->pw_name);
    else
        snprintf(a->user, sizeof a->user, "uid %u", (unsigned)getuid());
    *out = a;
    return 0;
}

void allocator_close(struct allocator *a)
{
    if (a == NULL)
        return;
    links_forget_gone(a->node->links, on_gone, a);
    while (a->count > 0)
        allocation_cancel(a->all[0]);
    free(a);
}
