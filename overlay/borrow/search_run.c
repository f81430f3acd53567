/* SPDX-License-Identifier: BSD-3-Clause */
/* search_run.c -- drives one search for slots: carries out what it says. */
#include "search_run.h"
#include "borrowed.h"
#include "wait_run.h"
#include "overlay/base/log.h"
#include "overlay/core/lease/lending_state.h"
#include "overlay/crypto/identity.h"
#include "overlay/discovery/overlay.h"
#include "overlay/discovery/walk.h"
#include "overlay/host/machine.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct part_ad *own_ad(const struct node *node)
{
    const struct part_peer self = links_self(node->links);
    machine_update(node->machine, &node->settings, identity_card(node->identity), &self);
    return machine_ad(node->machine);
}

static const struct borrow *held(const struct search_run *r)
{
    return borrowed_held(r->all->borrowed);
}

static void arm_timer(struct search_run *r)
{
    const uint64_t due = search_deadline(r->search), now = node_now_ms();
    const uint64_t wait = due > now ? due - now : 0;
    const struct timeval t = {.tv_sec = (time_t)(wait / 1000),
                              .tv_usec = (long)(wait % 1000) * 1000};
    if (due == UINT64_MAX)
        evtimer_del(r->timer);
    else
        evtimer_add(r->timer, &t);
}

void search_run_note(struct search_run *r, const struct search_event *event)
{
    struct search_out none = {0};
    search_step(r->search, event, node_now_ms(), &none);
    arm_timer(r);
}

/* --- looking --- */

static void on_ad(void *ctx, const struct msg_ad_answer *said, unsigned rtt_us)
{
    struct search_run *r = ctx;
    const struct request *request = search_request(r->search);
    struct part_ad there = said->ad;
    if (request->use == LEASE_WITHIN) { /* what it lends is settled: only the reservation counts */
        const struct lease_capacity capacity =
            borrow_capacity(held(r), borrowed_owner(r->all->borrowed, &request->reservation),
                            &request->reservation, &there.peer.id);
        there.slots = (uint16_t)capacity.slots;
        there.slots_free = (uint16_t)capacity.left;
        there.closed = LENDING_OPEN;
        if (there.slots == 0)
            return;
    }
    search_run_note(
        r, &(struct search_event){
               .kind = SEARCH_FOUND, .ad = &there, .rtt_us = rtt_us, .lacks = said->lacks});
}

static void stop_naming(struct search_run *r)
{
    if (r->near != NULL)
        ad_search_cancel(r->near);
    r->near = NULL;
}

static void on_walked(void *ctx, unsigned answered, unsigned silent)
{
    struct search_run *r = ctx;
    (void)answered;
    r->walk = NULL;
    stop_naming(r);
    search_run_note(r, &(struct search_event){.kind = SEARCH_LOOKED, .silent = silent});
}

static void on_named(void *ctx, const struct part_ad *ad)
{
    struct search_run *r = ctx;
    if (walk_visit(r->walk, &ad->peer)) /* for a while a peer's ad may be in two places */
        search_run_note(r, &(struct search_event){.kind = SEARCH_NAMED, .slots = ad->slots_free});
}

static void on_all_named(void *ctx)
{
    struct search_run *r = ctx;
    r->near = NULL;
    if (r->walk != NULL)
        walk_named(r->walk);
    search_run_note(r, &(struct search_event){.kind = SEARCH_ALL_NAMED});
}

static void look_near(struct search_run *r, const struct search_action *a)
{
    r->near = ad_search_start(overlay_ads(r->all->overlay), a->count,
                              search_request(r->search)->require, on_named, on_all_named, r);
    if (r->near == NULL)
        on_all_named(r);
}

static void look_reserved(struct search_run *r)
{
    const void *owner = borrowed_owner(r->all->borrowed, &search_request(r->search)->reservation);
    const struct borrow_lease *one;
    for (size_t i = 0; (one = borrow_nth(held(r), owner, i)) != NULL; i++)
        walk_visit(r->walk, &one->peer);
    walk_named(r->walk);
}

static void look(struct search_run *r, const struct search_action *a)
{
    struct node *node = r->all->node;
    const char *needs = search_request(r->search)->needs;
    const int within_ms = (int)a->within_ms;
    log_debug(node->log, "looks at %s peers for %u slots",
              a->kind == SEARCH_LOOK_ALL ? "all" : "some", search_request(r->search)->slots);
    r->walk = a->kind == SEARCH_LOOK_ALL
                  ? walk_start(r->all->walks, 0, within_ms, needs, on_ad, on_walked, r)
                  : walk_start_named(r->all->walks, within_ms, needs, on_ad, on_walked, r);
    if (r->walk == NULL)
        search_run_note(r, &(struct search_event){.kind = SEARCH_BLOCKED});
    else if (a->kind == SEARCH_LOOK_NEAR)
        look_near(r, a);
    else if (a->kind == SEARCH_LOOK_RESERVED)
        look_reserved(r);
}

static void stop_looking(struct search_run *r)
{
    stop_naming(r);
    if (r->walk != NULL)
        walk_cancel(r->walk);
    r->walk = NULL;
}

/* --- asking --- */

static void ask(struct search_run *r, const struct search_action *a)
{
    const struct request *request = search_request(r->search);
    struct node *node = r->all->node;
    struct message m = {.kind = MSG_lease_ask};
    m.lease_ask.token = a->token;
    m.lease_ask.slots = a->slots;
    m.lease_ask.per_lease = (uint16_t)request->per_lease;
    m.lease_ask.use = (uint8_t)request->use;
    m.lease_ask.reservation = request->reservation;
    m.lease_ask.waiter = r->wait != NULL ? wait_run_waiter(r->wait) : r->waiter;
    memcpy(m.lease_ask.ompi, own_ad(node)->ompi, sizeof m.lease_ask.ompi);
    memcpy(m.lease_ask.user, r->all->user, sizeof m.lease_ask.user);
    if (link_send(node->links, &a->peer, &m) != 0)
        search_run_note(r, &(struct search_event){.kind = SEARCH_UNREACHABLE, .token = a->token});
}

void search_run_give_back(struct searches *all, const struct part_peer *peer,
                          const struct id *lease)
{
    struct message m = {.kind = MSG_lease_release};
    m.lease_release.lease = *lease;
    link_send(all->node->links, peer, &m); /* if it is lost, the offer runs out */
}

/* What could not be confirmed is not counted. */
static void borrow(struct search_run *r, const struct search_action *a)
{
    const struct request *request = search_request(r->search);
    const struct candidate *c = a->from;
    struct msg_local_lease lease = {.token = r->token,
                                    .lease = a->lease,
                                    .peer = c->peer,
                                    .slots = a->slots,
                                    .rtt_us = c->rtt_us,
                                    .encrypt = c->encrypt,
                                    .foreign = c->foreign};
    memcpy(lease.name, c->name, sizeof lease.name);
    memcpy(lease.site, c->site, sizeof lease.site);
    memcpy(lease.arch, c->arch, sizeof lease.arch);
    if (borrowed_add(r->all->borrowed, r->holder, &lease,
                     request->use == LEASE_WITHIN ? &request->reservation : NULL) != 0)
        return;
    r->all->watcher.lease(r->owner, &lease);
    r->rows++;
    r->spares += a->spare;
}

/* Peers that could not be talked to may be what is missing. */
static void add_other_versions(const struct searches *all, char *reason, size_t size)
{
    const size_t used = strlen(reason);
    if (size - used < 3)
        return;
    links_other_versions(all->node->links, reason + used + 2, size - used - 2);
    if (reason[used + 2] != '\0')
        memcpy(reason + used, "; ", 2);
}

static void finish(struct search_run *r, const struct search_action *a)
{
    const struct search_watcher watcher = r->all->watcher;
    struct wait_run *wait = r->wait;
    void *owner = r->owner;
    struct msg_local_done done = {.token = r->token, .count = r->rows, .spares = r->spares};
    if (a->reason != NULL) {
        done.code = ENOSPC;
        done.silent = a->count;
        snprintf(done.reason, sizeof done.reason, "%s", a->reason);
        add_other_versions(r->all, done.reason, sizeof done.reason);
    }
    search_run_free(r);
    if (wait != NULL && done.code != 0) {
        wait_run_short(wait, done.reason);
        return;
    }
    if (wait != NULL)
        wait_run_granted(wait);
    watcher.done(owner, &done);
}

/* False: the search is over, and r is gone. */
static bool carry_out(struct search_run *r, const struct search_action *a)
{
    const struct message waiting = {.kind = MSG_lease_waiting};
    switch (a->kind) {
    case SEARCH_LOOK_NEAR:
    case SEARCH_LOOK_ALL:
    case SEARCH_LOOK_RESERVED:
        look(r, a);
        return true;
    case SEARCH_STOP_NAMING:
        stop_naming(r);
        walk_named(r->walk);
        return true;
    case SEARCH_STOP_LOOKING:
        stop_looking(r);
        return true;
    case SEARCH_ASK:
        ask(r, a);
        return true;
    case SEARCH_RELEASE:
        search_run_give_back(r->all, &a->peer, &a->lease);
        return true;
    case SEARCH_TELL_WAITING:
        link_send(r->all->node->links, &a->peer, &waiting);
        return true;
    case SEARCH_FITS:
        wait_run_fits(r->wait, &a->peer, a->slots);
        return true;
    case SEARCH_BORROW:
        borrow(r, a);
        return true;
    case SEARCH_ENDED:
        finish(r, a);
        return false;
    }
    return true;
}

void search_run_step(struct search_run *r, const struct search_event *event)
{
    search_step(r->search, event, node_now_ms(), &r->out);
    for (size_t i = 0; i < r->out.count; i++)
        if (!carry_out(r, &r->out.action[i]))
            return;
    arm_timer(r);
}

static void search_run_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct search_run *r = ctx;
    size_t count = borrow_count(held(r), r->holder);
    struct candidate_borrowed *borrowed = calloc(count + 1, sizeof *borrowed);
    struct search_event event = {.kind = SEARCH_TICK,
                                 .borrowed = borrowed,
                                 .has_lost = overlay_has_lost(r->all->overlay),
                                 .unsettled = overlay_is_unsettled(r->all->overlay),
                                 .gives_back = borrowed_gives_back(r->all->borrowed)};
    (void)fd, (void)what;
    if (borrowed != NULL)
        event.borrowed_count = borrow_list(held(r), r->holder, borrowed, count);
    search_run_step(r, &event);
    free(borrowed);
}

/* --- beginning and end --- */

/* Without waiting it has its turn, too: after those who wait with as few slots in use. */
static struct part_waiter waiter_now(const struct search_run *r, unsigned slots)
{
    struct part_waiter w = {.slots = slots, .weight = borrow_in_use(held(r))};
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    w.since = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    randombytes_buf(&w.wait, sizeof w.wait);
    return w;
}

int search_run_begin(struct search_run *r, const struct request *request,
                     const struct require *require)
{
    struct node *node = r->all->node;
    struct search_setup setup = {.request = request,
                                 .require = require,
                                 .owner = identity_card(node->identity)->owner,
                                 .token_step = SEARCHES_MAX,
                                 .peers = CANDIDATES_MAX,
                                 .waits = r->wait != NULL};
    memcpy(setup.ompi, own_ad(node)->ompi, sizeof setup.ompi);
    randombytes_buf(&setup.seed, sizeof setup.seed);
    r->waiter = waiter_now(r, request->slots);
    setup.token = randombytes_random() / SEARCHES_MAX * SEARCHES_MAX + r->number;
    void *memory = malloc(search_size(&setup)); /* only what is used of it is ever touched */
    r->out.most = search_actions(&setup);
    r->out.action = malloc(r->out.most * sizeof *r->out.action);
    r->timer = evtimer_new(node->base, search_run_on_time, r);
    if (memory == NULL || r->out.action == NULL || r->timer == NULL) {
        free(memory);
        return -ENOMEM;
    }
    r->search = search_init(memory, &setup, node_now_ms());
    search_run_step(r, &(struct search_event){.kind = SEARCH_BEGIN,
                                              .small = overlay_is_small(r->all->overlay)});
    return r->walk != NULL ? 0 : -EAGAIN;
}

void search_run_cancel(struct search_run *r)
{
    search_step(r->search, &(struct search_event){.kind = SEARCH_CANCEL}, node_now_ms(), &r->out);
    for (size_t i = 0; i < r->out.count; i++)
        if (r->out.action[i].kind != SEARCH_ENDED)
            carry_out(r, &r->out.action[i]);
    search_run_free(r);
}

void search_run_free(struct search_run *r)
{
    r->all->at[r->number] = NULL;
    stop_looking(r);
    if (r->timer != NULL)
        event_free(r->timer);
    free(r->out.action);
    free(r->search);
    free(r);
}
