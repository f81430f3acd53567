/* SPDX-License-Identifier: BSD-3-Clause */
/* transport.c -- what becomes of a peer: its frames, its connections, its end. */
#include "endpoint.h"
#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 32, SOCKETS_SELDOM = 128, TIMERS_EVERY = 32, FIRST_CONTACT_MS = 20000 };
enum { CLOCK_MS = 10, SLEEP_MS = 64 };
enum { GATHER_BYTES = 16 * 1024 }; /* more does not wait */
enum { STEP_MS = 50 };             /* the clock's longest step */
/* Looking at sockets takes a microsecond or so, as long as some messages within the host. While the
 * rings are busy, and for a while after, it is seldom. */
enum { SOCKETS_NS = 2000, SOCKETS_BUSY_NS = 64000, BUSY_NS = 16000, BUSY_POLLS = 8 };

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Deadlines are about what a peer did not do while this process watched. A process that was not
 * running, on a busy or suspended desktop, has not watched: when it reads the clock again, little
 * time has passed for it. */
uint64_t transport_now_ms(struct transport *t)
{
    uint64_t ms = monotonic_ns() / 1000000;
    uint64_t step = ms - t->looked_ms;
    t->looked_ms = ms;
    t->now_ms += step < STEP_MS ? step : STEP_MS;
    return t->now_ms;
}

void tcp_acknowledge(struct transport *t, struct endpoint *e)
{
    if (queue_add(e, NULL, 0, NULL, 0, NULL) == 0)
        tcp_flush(t, e);
}

/* --- frames on their way in --- */

uint8_t *frame_begins(struct transport *t, struct endpoint *e, const uint8_t *head,
                      size_t head_length, size_t length)
{
    struct in_frame *in = &e->in;
    if (!in->again) {
        memcpy(in->head, head, head_length);
        in->head_length = head_length;
        in->length = length;
        in->place = t->events.place(t->events.arg, e->process, in->head, head_length, length);
    }
    in->again = false;
    in->active = true;
    in->got = 0;
    return in->place;
}

void frame_goes_on(struct transport *t, struct endpoint *e, const uint8_t *bytes, size_t length)
{
    struct in_frame *in = &e->in;
    if (in->place != NULL)
        memcpy(in->place + in->got, bytes, length);
    in->got += length;
    if (in->got == in->length)
        frame_ends(t, e);
}

void frame_ends(struct transport *t, struct endpoint *e)
{
    struct in_frame *in = &e->in;
    in->active = false;
    e->received++;
    t->moved++;
    if (in->place != NULL && e->state == LINK_OPEN)
        t->events.arrived(t->events.arg, e->process, in->head, in->head_length, in->place,
                          in->length);
}

void frame_small(struct transport *t, struct endpoint *e, const uint8_t *head, size_t head_length,
                 uint8_t *payload, size_t length)
{
    e->received++;
    t->moved++;
    t->events.arrived(t->events.arg, e->process, head, head_length, payload, length);
}

/* --- the state of a peer --- */

static bool endpoint_needs_clock(const struct endpoint *e)
{
    switch (e->state) {
    case LINK_NONE:
    case LINK_LOST:
    case LINK_OPEN:
        return false;
    case LINK_CONNECTING:
    case LINK_GREETING:
    case LINK_AWAITING:
    case LINK_BROKEN:
        return true;
    }
    return false;
}

static bool endpoint_has_rings(const struct endpoint *e)
{
    return e->state == LINK_OPEN && e->by_unix;
}

/* Counted anew wherever a state may have changed: peers are few, changes rare. */
static void count_what_matters(struct transport *t)
{
    t->clocks_matter = t->sockets_matter = 0;
    for (uint32_t i = 0; i < t->options.count; i++) {
        const struct endpoint *e = &t->endpoints[i];
        t->clocks_matter += endpoint_needs_clock(e);
        t->sockets_matter += endpoint_needs_clock(e) || (e->state == LINK_OPEN && !e->by_unix);
    }
}

static void socket_ready(struct transport *t, struct watch *w, uint32_t events)
{
    struct endpoint *e = (struct endpoint *)w;
    if (e->state == LINK_CONNECTING || e->state == LINK_GREETING)
        greet_ready(t, e, events);
    else if (endpoint_has_rings(e))
        shm_ready(t, e);
    else if (e->state == LINK_OPEN)
        tcp_ready(t, e, events);
}

void endpoint_watch(struct transport *t, struct endpoint *e, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = &e->watch};
    if (e->interest == events)
        return;
    epoll_ctl(t->epoll, e->interest == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, e->fd, &event);
    e->interest = events;
}

void watched_close(struct transport *t, int fd)
{
    epoll_ctl(t->epoll, EPOLL_CTL_DEL, fd, &(struct epoll_event){0});
    close(fd);
}

void endpoint_close(struct transport *t, struct endpoint *e)
{
    if (e->fd >= 0)
        watched_close(t, e->fd);
    e->fd = -1;
    e->interest = 0;
    aead_free(e->aead);
    e->aead = NULL;
    e->begin = e->end = 0;
    e->in.again = e->in.again || e->in.active;
    e->in.active = false;
}

void endpoint_open(struct transport *t, struct endpoint *e, uint32_t peer_received)
{
    e->state = LINK_OPEN;
    e->was_open = true;
    t->connections++;
    if (e->by_unix) {
        t->ring_peers[t->ring_count++] = e;
        endpoint_watch(t, e, EPOLLIN);
        shm_flush(t, e);
        return;
    }
    if (tcp_prepare(e) != 0) {
        endpoint_lost(t, e, "no memory for its connection");
        return;
    }
    e->told = e->received;
    e->unwritten = NULL; /* all that the peer does not have is written anew */
    endpoint_acknowledged(t, e, peer_received);
    e->unwritten = e->first;
    e->offset = 0;
    endpoint_watch(t, e, EPOLLIN);
    tcp_flush(t, e);
}

void endpoint_lost(struct transport *t, struct endpoint *e, const char *reason)
{
    if (e->state == LINK_LOST)
        return;
    endpoint_close(t, e);
    e->state = LINK_LOST;
    queue_abandon(t, e);
    t->events.lost(t->events.arg, e->process, reason);
}

void endpoint_broken(struct transport *t, struct endpoint *e, const char *reason)
{
    endpoint_close(t, e);
    if (e->was_open && e->by_unix) {
        endpoint_lost(t, e, reason); /* the kernel does not break these: its process has ended */
        return;
    }
    e->reason = reason;
    e->deadline_ms = transport_now_ms(t) + (e->was_open ? t->options.retry_ms : FIRST_CONTACT_MS);
    greet_start(t, e);
}

/* Looking costs more than all rings together, and seldom finds anything: except when processes
 * begin to talk, since then many do. */
void sockets_soon(struct transport *t)
{
    t->sockets_gap = 1;
    t->sockets_due = t->polls;
    t->sockets_empty_ns = 0;
}

static void endpoint_dial(struct transport *t, struct endpoint *e)
{
    e->deadline_ms = transport_now_ms(t) + FIRST_CONTACT_MS;
    e->reason = "no connection could be made";
    greet_start(t, e);
    if (e->address == NULL) {
        e->reason = "its address is not known";
        e->deadline_ms = 0;
    }
}

/* Where both sides begin at once, one connection is in vain, and so is what it took. */
static void endpoint_first_use(struct transport *t, struct endpoint *e)
{
    sockets_soon(t);
    listen_to_neighbours(t);
    if (e->state == LINK_NONE)
        endpoint_dial(t, e);
    count_what_matters(t);
}

static void clock_endpoint(struct transport *t, struct endpoint *e, uint64_t now)
{
    if (e->state == LINK_BROKEN && now >= e->deadline_ms)
        endpoint_lost(t, e, e->reason);
    else if (e->state == LINK_BROKEN && now >= e->retry_at_ms)
        greet_start(t, e);
    else if (e->state == LINK_CONNECTING && now >= e->retry_at_ms) {
        endpoint_close(t, e);
        e->next_address += !e->dialed;
        greet_start(t, e);
        if (e->was_open && now >= e->deadline_ms)
            endpoint_lost(t, e, e->reason);
    } else if (e->state == LINK_AWAITING && now >= e->retry_at_ms)
        greet_start(t, e);
}

static void clock_all(struct transport *t)
{
    uint64_t now = transport_now_ms(t);
    for (uint32_t i = 0; i < t->options.count; i++)
        clock_endpoint(t, &t->endpoints[i], now);
    count_what_matters(t);
}

/* --- what others call --- */

int transport_open(struct transport **out, const struct transport_options *o,
                   const struct transport_events *events)
{
    struct transport *t = sodium_init() >= 0 ? calloc(1, sizeof *t) : NULL;
    if (t == NULL)
        return -ENOMEM;
    t->options = *o;
    t->events = *events;
    sockets_soon(t);
    t->endpoints = calloc(o->count, sizeof *t->endpoints);
    t->ring_peers = calloc(o->count, sizeof *t->ring_peers);
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    int rc = t->endpoints == NULL || t->ring_peers == NULL ? -ENOMEM : t->epoll < 0 ? -errno : 0;
    for (uint32_t i = 0; rc == 0 && i < o->count; i++)
        t->endpoints[i] = (struct endpoint){.watch = {socket_ready}, .process = i, .fd = -1};
    if (rc == 0)
        rc = listen_open(t);
    if (rc != 0) {
        transport_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

void transport_close(struct transport *t)
{
    listen_close(t);
    for (uint32_t i = 0; t->endpoints != NULL && i < t->options.count; i++) {
        struct endpoint *e = &t->endpoints[i];
        endpoint_close(t, e);
        queue_abandon(t, e);
        shm_release(e);
        free(e->buffer);
        free(e->address);
    }
    while (t->abandoned != NULL) {
        struct abandoned *b = t->abandoned;
        t->abandoned = b->next;
        free(b);
    }
    if (t->epoll >= 0)
        close(t->epoll);
    free(t->endpoints);
    free(t->ring_peers);
    sodium_memzero(t, sizeof *t);
    free(t);
}

const char *transport_address(const struct transport *t)
{
    return t->address;
}

/* One that is full epoll reports when it is not. */
static void flush_if_open(struct transport *t, struct endpoint *e)
{
    e->gathered = 0;
    if (e->state == LINK_OPEN && !e->by_unix && !(e->interest & EPOLLOUT))
        tcp_flush(t, e);
}

static void flush_or_gather(struct transport *t, struct endpoint *e, enum transport_urgency urgency,
                            size_t bytes)
{
    e->gathered += bytes;
    if ((!t->reading && urgency <= TRANSPORT_NEWS) || e->gathered > GATHER_BYTES) {
        flush_if_open(t, e);
    } else if (!e->gathers) {
        e->gathers = true;
        e->next_gathering = t->gathering;
        t->gathering = e;
    }
}

/* What no other frame has taken along. */
static void flush_gathered(struct transport *t)
{
    while (t->gathering != NULL) {
        struct endpoint *e = t->gathering;
        t->gathering = e->next_gathering;
        e->gathers = false;
        flush_if_open(t, e);
    }
}

void answers_go(struct transport *t)
{
    shm_wake_late(t);
    flush_gathered(t);
}

int transport_send(struct transport *t, uint32_t to, enum transport_urgency urgency,
                   const void *head, size_t head_length, const void *payload, size_t length,
                   void *token)
{
    struct endpoint *e = &t->endpoints[to];
    assert(to < t->options.count && to != t->options.self && head_length <= TRANSPORT_HEAD);
    if (e->state == LINK_LOST)
        return -EPIPE;
    if (e->state == LINK_NONE)
        endpoint_first_use(t, e);
    bool rings = endpoint_has_rings(e);
    if (rings && length <= TRANSPORT_SMALL &&
        shm_send(t, e, urgency, head, head_length, payload, length))
        return 1;
    int rc = queue_add(e, head, head_length, payload, length, token);
    if (rc != 0)
        return rc;
    if (rings)
        shm_flush(t, e);
    else
        flush_or_gather(t, e, urgency, head_length + length);
    return 0;
}

size_t transport_backlog(const struct transport *t, uint32_t to)
{
    return t->endpoints[to].backlog;
}

int transport_try(struct transport *t, uint32_t to, enum transport_urgency urgency,
                  const void *head, size_t head_length, const void *payload, size_t length)
{
    struct endpoint *e = &t->endpoints[to];
    if (endpoint_has_rings(e) && (length <= TRANSPORT_SMALL || e->unwritten != NULL))
        return shm_try(t, e, urgency, head, head_length, payload, length) ? 1 : -EAGAIN;
    return e->backlog > TRANSPORT_BACKLOG
               ? -EAGAIN
               : transport_send(t, to, urgency, head, head_length, payload, length, NULL);
}

bool transport_delivered(const struct transport *t, uint32_t to)
{
    const struct endpoint *e = &t->endpoints[to];
    return e->first == NULL ||
           (e->state == LINK_OPEN && !e->by_unix && e->unwritten == NULL && tcp_is_there(e));
}

bool transport_survives(const struct transport *t, uint32_t to)
{
    const struct endpoint *e = &t->endpoints[to];
    return endpoint_has_rings(e) && shm_survives(e);
}

bool transport_drained(struct transport *t, uint32_t from)
{
    struct endpoint *e = &t->endpoints[from];
    return !endpoint_has_rings(e) || shm_drained(e);
}

uint64_t transport_turn_ms(struct transport *t, uint32_t process, uint64_t gap_ms, bool anew)
{
    struct rings *r =
        endpoint_has_rings(&t->endpoints[process]) ? t->endpoints[process].rings : NULL;
    return r != NULL && r->pid > 0 ? turn_look(&r->turn, r->pid, gap_ms, anew) : gap_ms;
}

bool transport_is_far(const struct transport *t, uint32_t to)
{
    const struct endpoint *e = &t->endpoints[to];
    return e->state == LINK_OPEN && !e->by_unix;
}

unsigned transport_near(const struct transport *t)
{
    return t->ring_count;
}

bool transport_met(const struct transport *t, uint32_t to)
{
    return t->endpoints[to].was_open;
}

unsigned transport_connections(const struct transport *t)
{
    return t->connections;
}

/* Where they bring frames, as other hosts' do, by the clock: a poll takes as long as it likes. */
static bool sockets_are_due(struct transport *t)
{
    if (t->ring_count == 0 || t->clocks_matter > 0)
        return true;
    if (t->sockets_matter == 0)
        return (int)(t->polls - t->sockets_due) >= 0;
    if (t->moved > 0)
        t->rings_empty_ns = 0;
    if (t->moved > 0 && t->polls % BUSY_POLLS != 0)
        return false;
    const uint64_t now = monotonic_ns();
    if (t->rings_empty_ns == 0)
        t->rings_empty_ns = now;
    return now - t->sockets_empty_ns >=
           (now - t->rings_empty_ns < BUSY_NS ? SOCKETS_BUSY_NS : SOCKETS_NS);
}

static void poll_sockets(struct transport *t, int timeout_ms)
{
    t->sockets_due = t->polls + t->sockets_gap;
    if (t->sockets_gap < SOCKETS_SELDOM)
        t->sockets_gap *= 2;
    struct epoll_event events[EVENTS];
    int n = epoll_wait(t->epoll, events, EVENTS, timeout_ms);
    for (int i = 0; i < n; i++) {
        struct watch *w = events[i].data.ptr;
        w->ready(t, w, events[i].events);
    }
    if (n > 0)
        count_what_matters(t);
    if (t->sockets_matter > 0)
        t->sockets_empty_ns = n > 0 ? 0 : monotonic_ns();
    listen_sweep(t);
}

/* Asks for a wake-up, and then checks once more: does a ring have anything? */
static bool rings_arm(struct transport *t, enum ring_sleep how)
{
    bool waiting = false;
    for (uint32_t i = 0; i < t->ring_count; i++)
        shm_arm(t->ring_peers[i], how);
    for (uint32_t i = 0; i < t->ring_count; i++)
        waiting = waiting || shm_waiting(t->ring_peers[i]);
    return waiting;
}

static void poll_sleeping(struct transport *t, int timeout_ms)
{
    bool waiting = rings_arm(t, RING_ASLEEP);
    const int most =
        t->clocks_matter > 0 ? CLOCK_MS : SLEEP_MS; /* a wake-up may have been missed */
    if (t->sockets_matter + t->ring_count > 0 && (timeout_ms < 0 || timeout_ms > most))
        timeout_ms = most;
    poll_sockets(t, waiting ? 0 : timeout_ms);
    for (uint32_t i = 0; i < t->ring_count; i++)
        shm_arm(t->ring_peers[i], RING_AWAKE);
}

static void poll_rings(struct transport *t)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->ring_count; i++) {
        struct endpoint *e = t->ring_peers[i];
        t->reading = true;
        if (e->state == LINK_OPEN)
            shm_poll(t, e);
        t->reading = false;
        answers_go(t);
        if (e->state == LINK_OPEN)
            t->ring_peers[kept++] = e;
    }
    t->ring_count = kept;
}

int transport_poll(struct transport *t, int timeout_ms)
{
    t->moved = 0;
    t->polls++;
    if (t->abandoned != NULL)
        queue_return_tokens(t);
    flush_gathered(t);
    poll_rings(t);
    if (t->moved == 0 && timeout_ms != 0)
        poll_sleeping(t, timeout_ms);
    else if (sockets_are_due(t))
        poll_sockets(t, 0);
    if (t->sockets_matter > 0 && (timeout_ms != 0 || t->polls % TIMERS_EVERY == 0))
        clock_all(t);
    return t->moved;
}

int transport_descriptor(const struct transport *t)
{
    return t->epoll;
}

bool transport_progress(struct transport *t)
{
    t->moved = 0;
    queue_return_tokens(t);
    flush_gathered(t);
    poll_rings(t);
    poll_sockets(t, 0);
    clock_all(t);
    return rings_arm(t, RING_PROGRESS) || t->moved > 0;
}

void transport_drop(struct transport *t, uint32_t peer)
{
    struct endpoint *e = &t->endpoints[peer];
    if (e->state == LINK_LOST)
        return;
    endpoint_close(t, e);
    e->state = LINK_LOST;
    queue_abandon(t, e);
}
