/* SPDX-License-Identifier: BSD-3-Clause */
/* overlay.c -- gives the ring its time and messages, and peers to join through. */
#include "overlay.h"
#include "overlay/core/ring/ring.h"
#include "overlay/base/addr.h"
#include "beacon.h"
#include "contact.h"
#include "ad_search.h"
#include "overlay/node/node.h"
#include "overlay/host/address_monitor.h"
#include "overlay/host/trim.h"
#include "churn.h"
#include "overlay/transport/link.h"
#include "overlay/base/log.h"
#include "overlay/host/machine.h"
#include <errno.h>
#include <event2/event.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD_BYTES = 8192,
    SEARCHES = 4,
    SAVE_S = 30,
    NEIGHBOURS_MAX = 16,          /* successors and predecessor */
    LOST_MS = 30000,              /* how long overlay_has_lost() says so */
    UNSETTLED_MS = 3000,          /* how long overlay_is_unsettled() does */
    SILENT_MS = 2500,             /* less than the silence after which the ring gives up a peer */
    MOVED_MS = 1000,              /* until the links to the old address have ended */
    ASLEEP_US = 15 * 1000 * 1000, /* a timer this late: others have given this peer up */
};

/* A peer that could not be sent to: the ring is told after its step. */
struct unreachable {
    struct part_peer peer;
    struct unreachable *next;
};

struct overlay {
    struct node *node;
    struct ring *ring;
    struct ring_out *out;
    struct ad_index *ads;
    overlay_lookup_fn *lookup_ended;
    void *lookup_ctx;
    struct contacts *contacts;
    struct beacon *beacon;
    struct event *timer, *saver;
    struct unreachable *lost;
    enum ring_standing standing; /* as last logged */
    struct churn churn;
    uint64_t churn_ms;                     /* when it was brought up to date */
    struct part_peer near[NEIGHBOURS_MAX]; /* as the ring said last, each once */
    size_t near_count;
    uint64_t lost_ms;    /* when a neighbour was last lost; 0: never */
    uint64_t changed_ms; /* when they last were others than before; 0: never */
    uint64_t due_us;     /* when the timer was to fire */
    struct address_monitor *address_monitor;
    uint64_t moved_ms; /* when this desktop's address last changed */
};

static void note_unreachable(struct overlay *o, const struct part_peer *peer)
{
    struct unreachable *u = malloc(sizeof *u);
    if (u == NULL)
        return; /* the ring's own time-outs will see it */
    *u = (struct unreachable){.peer = *peer, .next = o->lost};
    o->lost = u;
}

static size_t add_new(struct part_peer *out, size_t n, size_t max, const struct part_peer *p)
{
    for (size_t i = 0; i < n; i++)
        if (id_equal(&out[i].id, &p->id))
            return n;
    if (n < max)
        out[n++] = *p;
    return n;
}

/* Successors and predecessor, each once: in a small ring it is a successor, too. */
static size_t overlay_neighbours(const struct overlay *o, struct part_peer *out, size_t max)
{
    const struct part_peer *before = ring_predecessor(o->ring);
    size_t n = overlay_successors(o, out, max);
    return before != NULL ? add_new(out, n, max, before) : n;
}

static bool is_neighbour(const struct overlay *o, const struct id *peer)
{
    size_t n = o->near_count;
    while (n > 0 && !id_equal(&o->near[n - 1].id, peer))
        n--;
    return n > 0;
}

static void see_neighbours(struct overlay *o)
{
    struct part_peer before[NEIGHBOURS_MAX];
    size_t count = o->near_count;
    memcpy(before, o->near, count * sizeof *before);
    o->near_count = overlay_neighbours(o, o->near, NEIGHBOURS_MAX);
    size_t stayed = 0;
    for (size_t i = 0; i < count; i++)
        if (is_neighbour(o, &before[i].id))
            stayed++;
        else
            churn_dropped(&o->churn, &before[i].id, node_now_ms());
    if (stayed < count)
        o->lost_ms = node_now_ms();
    if (stayed < count || stayed < o->near_count)
        o->changed_ms = node_now_ms();
}

static void do_action(struct overlay *o, const struct ring_action *a)
{
    switch (a->kind) {
    case RING_SEND:
        if (link_send_frame(o->node->links, &a->peer, a->frame, a->frame_length) < 0)
            note_unreachable(o, &a->peer);
        break;
    case RING_NEAR:
    case RING_DONE:
        ad_index_take(o->ads, a);
        break;
    case RING_FAILED:
    case RING_FOUND:
        if (o->lookup_ended == NULL || !o->lookup_ended(o->lookup_ctx, a))
            ad_index_take(o->ads, a);
        break;
    case RING_NEIGHBOURS:
        see_neighbours(o);
        break;
    case RING_SILENT: /* a host that is there acknowledges at least, unless its address has changed
                       */
        if (!link_heard(o->node->links, &a->peer.id, SILENT_MS))
            links_break(o->node->links, &a->peer.id, "it fell silent");
        break;
    case RING_LEFT:
    case RING_STORED:
    case RING_RECORDS:
        break;
    }
}

static void overlay_run(struct overlay *o, const struct ring_event *event);

static void look_where(struct overlay *o)
{
    char where[ADDR_TEXT + 1];
    if (!links_moved(o->node->links))
        return;
    struct part_peer self = links_self(o->node->links);
    addr_text(&self.addr, where);
    log_info(o->node->log, "at %s now", where);
    o->moved_ms = node_now_ms();
    overlay_run(o, &(struct ring_event){.kind = RING_MOVED, .peer = self});
}

/* Looks for peers to join through: no neighbour is left, or the address may have changed. */
static void find_ring(void *ctx)
{
    struct overlay *o = ctx;
    look_where(o);
    contacts_try(o->contacts);
    beacon_ask(o->beacon);
}

static void say_standing(struct overlay *o)
{
    static const char *const words[] = {[RING_ALONE] = "alone",
                                        [RING_JOINING] = "joining",
                                        [RING_MEMBER] = "in the ring",
                                        [RING_GONE] = "out of the ring"};
    enum ring_standing now = ring_standing(o->ring);
    if (now != o->standing)
        log_info(o->node->log, "%s", words[now]);
    bool lost = now == RING_ALONE && o->standing == RING_MEMBER;
    o->standing = now;
    if (lost)
        find_ring(o);
}

static void set_timer(struct overlay *o)
{
    uint64_t due = ring_deadline(o->ring), now = clock_us();
    uint64_t wait = due > now ? due - now : 0;
    o->due_us = due;
    event_add(o->timer, &(struct timeval){.tv_sec = (time_t)(wait / 1000000),
                                          .tv_usec = (suseconds_t)(wait % 1000000)});
}

static void overlay_run(struct overlay *o, const struct ring_event *event)
{
    ring_step(o->ring, event, clock_us(), o->out);
    for (unsigned i = 0; i < o->out->count; i++)
        do_action(o, &o->out->action[i]);
    while (o->lost != NULL) {
        struct unreachable *u = o->lost;
        struct ring_event lost = {.kind = RING_UNREACHABLE, .peer = u->peer};
        o->lost = u->next;
        free(u);
        ring_step(o->ring, &lost, clock_us(), o->out);
        for (unsigned i = 0; i < o->out->count; i++)
            do_action(o, &o->out->action[i]);
    }
    say_standing(o);
    set_timer(o);
}

void overlay_step(struct overlay *o, const struct ring_event *event)
{
    overlay_run(o, event);
}

static void overlay_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct overlay *o = ctx;
    struct ring_event tick = {.kind = RING_TICK};
    (void)fd, (void)what;
    bool slept = clock_us() > o->due_us + ASLEEP_US;
    overlay_run(o, &tick);
    if (slept)
        find_ring(o);
}

void overlay_take(struct overlay *o, const struct link_peer *from, const struct message *m)
{
    struct ring_event event = {.kind = RING_MESSAGE, .peer = from->peer, .message = m};
    overlay_run(o, &event);
    if (m->kind == MSG_ring_leave)
        churn_left(&o->churn, &from->peer.id);
}

static void overlay_on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct overlay *o = ctx;
    struct ring_event event = {.kind = RING_UNREACHABLE, .peer.id = *peer};
    (void)why;
    if (link_is_open(o->node->links, peer)) /* only one of several links broke */
        return;
    if (node_now_ms() < o->moved_ms + MOVED_MS) /* this peer broke the link itself, to dial anew */
        return;
    churn_gone(&o->churn, peer, is_neighbour(o, peer), node_now_ms());
    overlay_run(o, &event);
}

static void overlay_on_contact(void *ctx, const struct part_peer *peer)
{
    struct ring_event event = {.kind = RING_JOIN, .peer = *peer};
    overlay_run(ctx, &event);
}

static void overlay_save(struct overlay *o)
{
    struct part_peer known[CONTACTS_MAX];
    unsigned count = ring_known(o->ring, known, CONTACTS_MAX);
    if (count > 0) /* a peer that has lost all others keeps its last list */
        contacts_save(o->node, known, count);
}

static void update_churn(struct overlay *o)
{
    uint64_t now = node_now_ms();
    churn_watch(&o->churn, (unsigned)o->near_count, now - o->churn_ms);
    o->churn_ms = now;
    machine_observed(o->node->machine, o->churn.watched_ms, o->churn.vanished);
    churn_save(&o->churn, o->node->settings.state);
}

static void overlay_on_save(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    overlay_save(ctx);
    update_churn(ctx);
    trim_memory();
}

void overlay_contact(struct overlay *o)
{
    find_ring(o);
}

static void join_known(struct overlay *o)
{
    struct part_peer known[CONTACTS_MAX];
    unsigned count = contacts_load(o->node, known);
    for (unsigned i = 0; i < count; i++)
        overlay_on_contact(o, &known[i]);
}

static int make_ring(struct overlay *o, struct err *e)
{
    if (ad_index_open(&o->ads, o->node, o) < 0)
        return err_set(e, ENOMEM, "no memory");
    struct ring_setup setup = {.self = links_self(o->node->links),
                               .record_bytes = RECORD_BYTES,
                               .searches = SEARCHES,
                               .fits = ad_index_fits,
                               .context = o->ads};
    if (RAND_bytes((unsigned char *)&setup.seed, sizeof setup.seed) != 1)
        return err_set(e, EIO, "no random numbers");
    void *memory = malloc(ring_size(&setup));
    o->out = malloc(sizeof *o->out);
    o->timer = evtimer_new(o->node->base, overlay_on_time, o);
    o->saver = event_new(o->node->base, -1, EV_PERSIST, overlay_on_save, o);
    if (memory == NULL || o->out == NULL || o->timer == NULL || o->saver == NULL ||
        contacts_open(&o->contacts, o->node, o, overlay_on_contact, o) < 0 ||
        beacon_open(&o->beacon, o->node, o, overlay_on_contact, o) < 0 ||
        address_monitor_open(&o->address_monitor, o->node->base, find_ring, o) < 0) {
        free(memory);
        return err_set(e, ENOMEM, "no memory");
    }
    o->ring = ring_init(memory, &setup, clock_us());
    return 0;
}

int overlay_open(struct overlay **out, struct node *node, struct err *e)
{
    struct overlay *o = calloc(1, sizeof *o);
    if (o == NULL)
        return err_set(e, ENOMEM, "no memory");
    o->node = node;
    int rc = make_ring(o, e);
    if (rc == 0 && links_on_gone(node->links, overlay_on_gone, o) < 0)
        rc = err_set(e, ENOMEM, "no memory");
    if (rc < 0) {
        overlay_close(o);
        return rc;
    }
    event_add(o->saver, &(struct timeval){.tv_sec = SAVE_S});
    set_timer(o);
    churn_load(&o->churn, node->settings.state);
    o->churn_ms = node_now_ms();
    machine_observed(node->machine, o->churn.watched_ms, o->churn.vanished);
    join_known(o);
    find_ring(o);
    *out = o;
    return 0;
}

void overlay_leave(struct overlay *o)
{
    struct ring_event leave = {.kind = RING_LEAVE};
    overlay_save(o);
    update_churn(o);
    overlay_run(o, &leave);
}

bool overlay_left(const struct overlay *o)
{
    return ring_standing(o->ring) == RING_GONE;
}

void overlay_close(struct overlay *o)
{
    if (o == NULL)
        return;
    links_forget_gone(o->node->links, overlay_on_gone, o);
    contacts_close(o->contacts);
    beacon_close(o->beacon);
    address_monitor_close(o->address_monitor);
    ad_index_close(o->ads);
    if (o->timer != NULL)
        event_free(o->timer);
    if (o->saver != NULL)
        event_free(o->saver);
    free(o->ring);
    free(o->out);
    free(o);
}

/* --- reading it --- */

struct ad_index *overlay_ads(const struct overlay *o)
{
    return o->ads;
}

void overlay_on_lookup(struct overlay *o, overlay_lookup_fn *ended, void *ctx)
{
    o->lookup_ended = ended;
    o->lookup_ctx = ctx;
}

bool overlay_joining(const struct overlay *o)
{
    return ring_standing(o->ring) == RING_JOINING;
}

bool overlay_joined(const struct overlay *o)
{
    return ring_standing(o->ring) == RING_MEMBER;
}

bool overlay_predecessor(const struct overlay *o, struct part_peer *p)
{
    const struct part_peer *there = ring_predecessor(o->ring);
    if (there != NULL)
        *p = *there;
    return there != NULL;
}

size_t overlay_successors(const struct overlay *o, struct part_peer *out, size_t max)
{
    const struct part_peer *s;
    size_t n = 0;
    while (n < max && (s = ring_successor(o->ring, (unsigned)n)) != NULL)
        out[n++] = *s;
    return n;
}

bool overlay_has_lost(const struct overlay *o)
{
    return o->lost_ms != 0 && node_now_ms() < o->lost_ms + LOST_MS;
}

void overlay_place(const struct overlay *o, struct part_coordinate *out)
{
    *out = *ring_place(o->ring);
}

bool overlay_is_unsettled(const struct overlay *o)
{
    return o->changed_ms != 0 && node_now_ms() < o->changed_ms + UNSETTLED_MS;
}

bool overlay_is_small(const struct overlay *o)
{
    return ring_successor(o->ring, RING_SUCCESSORS - 1) == NULL;
}

size_t overlay_known(const struct overlay *o, struct part_peer *out, size_t max)
{
    const struct part_peer *p;
    size_t n = overlay_neighbours(o, out, max);
    for (unsigned i = 0; (p = ring_finger(o->ring, i)) != NULL; i++)
        n = add_new(out, n, max, p);
    return n;
}
