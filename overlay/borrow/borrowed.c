/* SPDX-License-Identifier: BSD-3-Clause */
/* borrowed.c -- the borrowing side: tells overlay/core/lease/borrow.h what owners want, what peers
 * say and what time it is, and carries out what it says. */
#include "borrowed_state.h"
#include "overlay/transport/link.h"
#include "overlay/transport/tunnel.h"
#include "overlay/watch/job.h"
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum { LATE_MS = 500, LEASES_AT_FIRST = 16 };

static uint64_t lived_ms(struct borrowed *b)
{
    return lived_look(&b->lived, node_now_ms(), LEASE_RENEW_MS + LATE_MS);
}

/* --- what it says --- */

static void say(struct borrowed *b, const struct borrow_action *a)
{
    struct message_whole said;
    if (borrow_message(a, &said))
        link_send(b->node->links, &a->peer,
                  &said.message); /* if it is lost, a renewal tells, or none comes */
}

/* The peer says nothing: whether its host is there, the kernel tells. */
static void probe(struct borrowed *b, const struct borrow_action *a)
{
    const struct borrow_event answers = {.kind = BORROW_ANSWERS, .peer = a->peer};
    if (link_answers(b->node->links, &a->peer.id))
        borrow_step(&b->borrow, &answers, lived_ms(b), NULL);
}

static void carry_out(struct borrowed *b, const struct borrow_action *a)
{
    switch (a->kind) {
    case BORROW_CONFIRM:
        say(b, a);
        jobs_enter(b->jobs, a->of->owner, &a->peer);
        break;
    case BORROW_RELEASE:
    case BORROW_RENEW:
        say(b, a);
        break;
    case BORROW_PROBE:
        probe(b, a);
        break;
    case BORROW_LOST:
        if (b->down != NULL)
            b->down(b->down_ctx, &a->peer.id, a->of->name, a->text);
        break;
    case BORROW_CLEARED:
        tunnel_end(b->tunnels, &a->lease);
        if (a->last)
            jobs_leave(b->jobs, a->of->owner, &a->peer.id);
        break;
    case BORROW_TELL:
    case BORROW_ENDED:
    case BORROW_FAILED:
    case BORROW_PARTED:
        borrowed_tell(b, a);
        break;
    }
}

static void arm_timer(struct borrowed *b)
{
    const uint64_t due = borrow_deadline(&b->borrow), now = lived_ms(b);
    const uint64_t wait = due > now ? due - now : 0;
    const struct timeval t = {.tv_sec = (time_t)(wait / 1000),
                              .tv_usec = (long)(wait % 1000) * 1000};
    if (due == UINT64_MAX)
        evtimer_del(b->timer);
    else
        evtimer_add(b->timer, &t);
}

static void step(struct borrowed *b, const struct borrow_event *event)
{
    struct borrow_out out;
    borrow_step(&b->borrow, event, lived_ms(b), &out);
    for (size_t i = 0; i < out.count; i++)
        carry_out(b, &out.action[i]);
    arm_timer(b);
}

/* --- what it is told --- */

static void borrowed_on_time(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    step(ctx, &(struct borrow_event){.kind = BORROW_TICK});
}

void borrowed_take(struct borrowed *b, const struct link_peer *from, const struct message *m)
{
    step(b, &(struct borrow_event){.kind = BORROW_MESSAGE, .peer = from->peer, .message = m});
}

static void borrowed_on_gone(void *ctx, const struct id *peer, const char *why)
{
    step(ctx, &(struct borrow_event){.kind = BORROW_GONE, .peer.id = *peer, .why = why});
}

/* The job's other peers agree that this one is silent. */
static void on_declared(void *ctx, const void *owner, const struct id *peer)
{
    step(ctx, &(struct borrow_event){.kind = BORROW_SILENT, .whose = owner, .peer.id = *peer});
}

/* Without more room the machine gives it back. */
static void make_room(struct borrowed *b)
{
    const size_t most = 2 * b->borrow.most;
    void *memory = b->borrow.count == b->borrow.most ? malloc(borrow_size(most)) : NULL;
    if (memory != NULL)
        free(borrow_move(&b->borrow, memory, most));
}

int borrowed_add(struct borrowed *b, void *owner, const struct msg_local_lease *lease,
                 const struct id *within)
{
    make_room(b);
    const bool fits = b->borrow.count < b->borrow.most;
    step(b, &(struct borrow_event){
                .kind = BORROW_ADD, .owner = owner, .row = lease, .within = within});
    return fits ? 0 : -ENOMEM;
}

void borrowed_release(struct borrowed *b, const void *owner, const struct id *lease)
{
    if (!id_is_zero(lease))
        step(b, &(struct borrow_event){.kind = BORROW_GIVE_BACK, .whose = owner, .lease = *lease});
}

void borrowed_release_all(struct borrowed *b, const void *owner)
{
    step(b, &(struct borrow_event){.kind = BORROW_GIVE_BACK, .whose = owner});
}

void borrowed_status(struct borrowed *b, const void *owner, const struct id *lease)
{
    const struct borrow_lease *one = borrow_find(&b->borrow, owner, lease);
    struct message m = {.kind = MSG_lease_status, .lease_status.lease = *lease};
    if (one != NULL)
        link_send(b->node->links, &one->peer, &m); /* if it is lost, it will be asked again */
}

/* --- reading --- */

const struct borrow *borrowed_held(const struct borrowed *b)
{
    return &b->borrow;
}

bool borrowed_nth(const struct borrowed *b, const void *owner, unsigned nth,
                  struct msg_local_lease *lease)
{
    const struct borrow_lease *one = borrow_nth(&b->borrow, owner, nth);
    if (one == NULL)
        return false;
    lease->lease = one->lease;
    lease->peer = one->peer;
    lease->slots = one->slots;
    lease->foreign = one->foreign;
    memcpy(lease->name, one->name, sizeof lease->name);
    memcpy(lease->site, one->site, sizeof lease->site);
    memcpy(lease->arch, one->arch, sizeof lease->arch);
    return true;
}

void *borrowed_owner(const struct borrowed *b, const struct id *reservation)
{
    return b->find_owner(b->ctx, reservation);
}

bool borrowed_gives_back(struct borrowed *b)
{
    return borrow_returns(&b->borrow, lived_ms(b));
}

/* --- beginning and end --- */

void borrowed_on_down(struct borrowed *b, borrowed_down_fn *down, void *ctx)
{
    b->down = down;
    b->down_ctx = ctx;
}

void borrowed_find_owner(struct borrowed *b, borrowed_owner_fn *find_owner, void *ctx)
{
    b->find_owner = find_owner;
    b->ctx = ctx;
}

int borrowed_open(struct borrowed **out, struct node *node, struct jobs *jobs,
                  struct tunnels *tunnels, borrowed_event_fn *event, void *ctx, struct err *e)
{
    struct borrowed *b = calloc(1, sizeof *b);
    void *memory = malloc(borrow_size(LEASES_AT_FIRST));
    *out = NULL;
    if (b == NULL || memory == NULL) {
        free(memory);
        free(b);
        return err_set(e, ENOMEM, "out of memory");
    }
    b->node = node;
    b->jobs = jobs;
    b->tunnels = tunnels;
    b->event = event;
    b->event_ctx = ctx;
    borrow_init(&b->borrow, memory, LEASES_AT_FIRST);
    b->timer = evtimer_new(node->base, borrowed_on_time, b);
    if (b->timer == NULL || links_on_gone(node->links, borrowed_on_gone, b) != 0) {
        borrowed_close(b);
        return err_set(e, ENOMEM, "out of memory");
    }
    jobs_on_declared(jobs, on_declared, b);
    *out = b;
    return 0;
}

/* The other parts end, too: only the peers are told. */
void borrowed_close(struct borrowed *b)
{
    struct borrow_out out;
    if (b == NULL)
        return;
    links_forget_gone(b->node->links, borrowed_on_gone, b);
    jobs_on_declared(b->jobs, NULL, NULL);
    borrow_step(&b->borrow, &(struct borrow_event){.kind = BORROW_CLOSE}, lived_ms(b), &out);
    for (size_t i = 0; i < out.count; i++)
        if (out.action[i].kind == BORROW_RELEASE)
            say(b, &out.action[i]);
    if (b->timer != NULL)
        event_free(b->timer);
    free(b->borrow.at);
    free(b);
}
