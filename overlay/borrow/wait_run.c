/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_run.c -- drives one job that waits for slots: carries out what it says. */
#include "wait_run.h"
#include "borrowed.h"
#include "search_run.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct wait_run {
    struct searches *all;
    void *owner, *holder;
    struct msg_local_allocate want;
    struct wait wait;
    struct search_run *search; /* NULL: none goes on */
    struct event *timer;
    bool failed;   /* one could not begin: that is told once the step is over */
    char why[256]; /* the last search got too little; "": none has ended yet */
    struct wait_out out;
};

static uint64_t since_1970_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void wait_run_free(struct wait_run *w)
{
    for (unsigned i = 0; i < SEARCHES_MAX; i++)
        if (w->all->waits[i] == w)
            w->all->waits[i] = NULL;
    if (w->timer != NULL)
        event_free(w->timer);
    free(w);
}

static void arm_timer(struct wait_run *w)
{
    const uint64_t due = w->failed ? 0 : wait_deadline(&w->wait), now = node_now_ms();
    const uint64_t left = due > now ? due - now : 0;
    const struct timeval t = {.tv_sec = (time_t)(left / 1000),
                              .tv_usec = (long)(left % 1000) * 1000};
    if (due == UINT64_MAX)
        evtimer_del(w->timer);
    else
        evtimer_add(w->timer, &t);
}

/* --- what it says --- */

static void queue(struct wait_run *w, const struct part_peer *peer, bool over)
{
    struct message m = {.kind = MSG_lease_queue};
    m.lease_queue.waiter = wait_run_waiter(w);
    m.lease_queue.over = over;
    link_send(w->all->node->links, peer, &m); /* if it is lost, the next round says it again */
}

/* Why no peer fits is worth knowing: perhaps none ever will. */
static void describe(const struct wait_run *w, char *out, size_t size)
{
    wait_text(&w->wait.told, out, size);
    const size_t used = strlen(out);
    if (w->wait.peer_count == 0 && w->why[0] != '\0')
        snprintf(out + used, size - used, "; %s", w->why);
}

static void tell(struct wait_run *w)
{
    struct msg_local_waiting row = {
        .token = w->want.token, .place = w->wait.told.place, .free = w->wait.told.free};
    describe(w, row.text, sizeof row.text);
    w->all->watcher.waiting(w->owner, &row);
}

static void begin_search(struct wait_run *w)
{
    w->search = searches_begin(w->all, w->owner, w->holder, &w->want, w);
    w->failed = w->search == NULL;
}

/* The search that goes on is not told of: nobody waits for its end. */
static void give_up(struct wait_run *w)
{
    struct msg_local_done done = {.token = w->want.token, .code = ETIMEDOUT};
    char text[sizeof done.reason - 64];
    describe(w, text, sizeof text);
    snprintf(done.reason, sizeof done.reason, "waited %u s for %u slots in vain: %s",
             w->want.wait_s, w->want.slots, text);
    if (w->search != NULL)
        search_run_cancel(w->search);
    w->search = NULL;
    w->all->watcher.done(w->owner, &done);
}

static void carry_out(struct wait_run *w, const struct wait_action *a)
{
    switch (a->kind) {
    case WAIT_SEARCH:
        begin_search(w);
        break;
    case WAIT_ENTER:
    case WAIT_LEAVE:
        queue(w, &a->peer, a->kind == WAIT_LEAVE);
        break;
    case WAIT_TELL:
        tell(w);
        break;
    case WAIT_GIVE_UP:
        give_up(w);
        break;
    }
}

/* False: it has ended, and w is gone. */
static bool step(struct wait_run *w, const struct wait_event *event)
{
    wait_step(&w->wait, event, node_now_ms(), &w->out);
    for (size_t i = 0; i < w->out.count; i++)
        carry_out(w, &w->out.action[i]);
    if (w->wait.phase == WAIT_ENDED) {
        wait_run_free(w);
        return false;
    }
    arm_timer(w);
    return true;
}

static void wait_run_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct wait_run *w = ctx;
    (void)fd, (void)what;
    if (w->failed) {
        w->failed = false;
        step(w, &(struct wait_event){.kind = WAIT_SHORT});
    } else {
        step(w, &(struct wait_event){.kind = WAIT_TICK,
                                     .in_use = borrow_in_use(borrowed_held(w->all->borrowed))});
    }
}

/* --- what it is told --- */

void wait_run_place(struct wait_run *w, const struct part_peer *from,
                    const struct msg_lease_place *place)
{
    step(w, &(struct wait_event){.kind = WAIT_PLACE, .peer = *from, .place = place});
}

void wait_run_fits(struct wait_run *w, const struct part_peer *peer, unsigned slots)
{
    step(w, &(struct wait_event){.kind = WAIT_FITS, .peer = *peer, .slots = slots});
}

void wait_run_short(struct wait_run *w, const char *why)
{
    const bool first = w->why[0] == '\0';
    w->search = NULL;
    snprintf(w->why, sizeof w->why, "%s", why);
    if (step(w, &(struct wait_event){.kind = WAIT_SHORT}) && first &&
        (w->wait.peer_count == 0 || w->wait.setup.within))
        tell(w); /* no peer will answer */
}

void wait_run_granted(struct wait_run *w)
{
    w->search = NULL;
    step(w, &(struct wait_event){.kind = WAIT_GRANTED});
}

void wait_run_cancel(struct wait_run *w)
{
    if (w->search != NULL)
        search_run_cancel(w->search);
    w->search = NULL;
    step(w, &(struct wait_event){.kind = WAIT_CANCEL});
}

int wait_run_begin(struct searches *all, void *owner, void *holder,
                   const struct msg_local_allocate *want, struct err *e)
{
    struct wait_setup setup = {.slots = want->slots,
                               .per_peer = want->per_peer,
                               .since = since_1970_ms(),
                               .for_ms = (uint64_t)want->wait_s * 1000,
                               .within = want->use == LEASE_WITHIN};
    unsigned i = 0;
    while (i < SEARCHES_MAX && all->waits[i] != NULL)
        i++;
    struct wait_run *w = i < SEARCHES_MAX ? calloc(1, sizeof *w) : NULL;
    if (w == NULL)
        return err_set(e, EAGAIN, "%d jobs of yours wait for slots already", SEARCHES_MAX);
    randombytes_buf(&setup.id, sizeof setup.id);
    *w = (struct wait_run){.all = all, .owner = owner, .holder = holder, .want = *want};
    all->waits[i] = w;
    w->timer = evtimer_new(all->node->base, wait_run_on_time, w);
    if (w->timer == NULL) {
        wait_run_free(w);
        return err_set(e, ENOMEM, "out of memory");
    }
    wait_init(&w->wait, &setup, node_now_ms());
    step(w, &(struct wait_event){.kind = WAIT_BEGIN,
                                 .in_use = borrow_in_use(borrowed_held(all->borrowed))});
    return 0;
}

struct part_waiter wait_run_waiter(const struct wait_run *w)
{
    return wait_waiter(&w->wait, node_now_ms());
}

bool wait_run_is_of(const struct wait_run *w, const void *owner)
{
    return w->owner == owner || w->holder == owner;
}

const struct id *wait_run_id(const struct wait_run *w)
{
    return &w->wait.setup.id;
}

const struct wait_told *wait_run_told(const struct wait_run *w)
{
    return &w->wait.told;
}
