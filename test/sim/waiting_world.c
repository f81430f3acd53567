/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting_world.c -- a heap of messages and alarms between jobs that wait and desktops that lend.
 */
#include "waiting_world.h"
#include "overlay/base/random.h"
#include "overlay/core/lease/borrow.h"
#include "overlay/core/lease/lend.h"
#include "overlay/core/lease/search.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    PULSE_MS = 1000,
    LATENCY_MS = 3,
    LEASES_AT_FIRST = 16,
    TIMEOUT_MS = 15000,
    KEPT_MS = 8 * 3600 * 1000,
    EPOCH_MS = 1000000000, /* of the clock that says what year it is */
};

enum kind {
    ARRIVE,
    FOUND,
    LOOKED,
    SEARCH_ALARM,
    WAIT_ALARM,
    BORROW_ALARM, /* a desktop's */
    TO_LENDER,    /* .said */
    TO_DESKTOP,   /* .said */
    JOB_ENDS,
    PULSE,
};

struct event {
    uint64_t at, order;
    enum kind kind;
    unsigned job, lender, desktop;
    unsigned round; /* of a search or a look: an earlier one's come to nothing */
    struct message_whole *said;
};

/* One where jobs are begun: its daemon holds what they have. */
struct desktop {
    unsigned number;
    struct borrow borrow;
    uint64_t due;
};

struct job {
    struct job_setup setup;
    unsigned number, desktop; /* desktop: its place among them */
    enum job_state state;
    struct wait wait;
    struct search *search;
    struct search_out out;
    unsigned round, look;
    uint64_t search_due, wait_due;
    uint64_t arrived, started, ended;
};

struct lender {
    struct lend lend;
    bool there, has_left; /* has_left: once at least */
};

struct world {
    struct world_setup setup;
    uint64_t now, order, random;
    struct event *heap;
    size_t count, room;
    struct lender *lenders;
    struct desktop *desktops;
    unsigned desktop_count;
    struct job **jobs;
    unsigned job_count, job_room;
    unsigned lost; /* leases of lenders that were there all the time */
    struct wait_out wait_out;
    struct lend_out lend_out;
};

static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

uint64_t world_chance(struct world *w, uint64_t below)
{
    return splitmix64(&w->random) % below;
}

/* --- the heap --- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void plan(struct world *w, struct event e, uint64_t at)
{
    if (w->count == w->room) {
        w->room = 2 * w->room + 256;
        w->heap = must(realloc(w->heap, w->room * sizeof *w->heap));
    }
    e.at = at > w->now ? at : w->now;
    e.order = w->order++;
    size_t i = w->count++;
    for (; i > 0 && is_before(&e, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = e;
}

static struct event next(struct world *w)
{
    const struct event first = w->heap[0], last = w->heap[--w->count];
    size_t i = 0;
    for (size_t below; (below = 2 * i + 1) < w->count; i = below) {
        if (below + 1 < w->count && is_before(&w->heap[below + 1], &w->heap[below]))
            below++;
        if (!is_before(&w->heap[below], &last))
            break;
        w->heap[i] = w->heap[below];
    }
    w->heap[i] = last;
    return first;
}

static bool is_lost(struct world *w)
{
    return world_chance(w, 1000) < w->setup.loss;
}

static uint64_t arrives(struct world *w)
{
    return w->now + LATENCY_MS + world_chance(w, LATENCY_MS);
}

/* --- names --- */

static struct id named(unsigned sort, unsigned number)
{
    return (struct id){
        {(uint8_t)sort, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number, 1}};
}

static struct part_peer lender_peer(unsigned lender)
{
    return (struct part_peer){.id = named(1, lender), .addr = {.port = 7117}};
}

static struct part_peer desktop_peer(unsigned number)
{
    return (struct part_peer){.id = named(2, number)};
}

static unsigned lender_of(const struct part_peer *peer)
{
    return (unsigned)(peer->id.b[1] << 16 | peer->id.b[2] << 8 | peer->id.b[3]);
}

/* --- what a desktop holds --- */

static void job_ends(struct world *w, unsigned job);

static void tell_lender(struct world *w, unsigned desktop, unsigned job,
                        const struct part_peer *peer, const struct message *m)
{
    struct event e = {.kind = TO_LENDER, .desktop = desktop, .job = job, .lender = lender_of(peer)};
    e.said = must(malloc(sizeof *e.said));
    message_copy(e.said, m);
    plan(w, e, arrives(w));
}

static void borrow_does(struct world *w, unsigned desktop, const struct borrow_action *a)
{
    struct borrow *b = &w->desktops[desktop].borrow;
    struct message_whole m;
    if (a->kind == BORROW_PROBE && w->lenders[lender_of(&a->peer)].there)
        borrow_step(b, &(struct borrow_event){.kind = BORROW_ANSWERS, .peer = a->peer}, w->now,
                    NULL);
    else if (borrow_message(a, &m) && (a->kind != BORROW_RELEASE || !is_lost(w)))
        tell_lender(w, desktop, 0, &a->peer, &m.message);
}

static void plan_borrow_alarm(struct world *w, unsigned desktop)
{
    struct desktop *d = &w->desktops[desktop];
    uint64_t due = borrow_deadline(&d->borrow);
    due = due < w->now ? w->now : due;
    if (due != UINT64_MAX && due != d->due)
        plan(w, (struct event){.kind = BORROW_ALARM, .desktop = desktop}, due);
    d->due = due;
}

/* A job without copies ends with a lease, which gives back the others: after all that is done. */
static void borrow_happens(struct world *w, unsigned desktop, const struct borrow_event *event)
{
    struct borrow_out out;
    borrow_step(&w->desktops[desktop].borrow, event, w->now, &out);
    const struct job **ended = must(malloc((out.count + 1) * sizeof(const struct job *)));
    size_t count = 0;
    for (size_t i = 0; i < out.count; i++) {
        borrow_does(w, desktop, &out.action[i]);
        if (out.action[i].kind != BORROW_ENDED)
            continue;
        ended[count++] = out.action[i].of->owner;
        w->lost += !w->lenders[lender_of(&out.action[i].peer)].has_left;
    }
    plan_borrow_alarm(w, desktop);
    for (size_t i = 0; i < count; i++)
        job_ends(w, ended[i]->number);
    free(ended);
}

static void borrow_alarm(struct world *w, unsigned desktop)
{
    w->desktops[desktop].due = UINT64_MAX;
    borrow_happens(w, desktop, &(struct borrow_event){.kind = BORROW_TICK});
}

static unsigned find_desktop(struct world *w, unsigned number)
{
    unsigned i = 0;
    while (i < w->desktop_count && w->desktops[i].number != number)
        i++;
    if (i < w->desktop_count)
        return i;
    w->desktops = must(realloc(w->desktops, (i + 1) * sizeof *w->desktops));
    w->desktop_count++;
    w->desktops[i] = (struct desktop){.number = number, .due = UINT64_MAX};
    borrow_init(&w->desktops[i].borrow, must(malloc(borrow_size(LEASES_AT_FIRST))),
                LEASES_AT_FIRST);
    return i;
}

/* --- a job's daemon --- */

/* Unless it is lost on the way. */
static void tell(struct world *w, unsigned job, const struct part_peer *peer,
                 const struct message *m)
{
    if (!is_lost(w))
        tell_lender(w, w->jobs[job]->desktop, job, peer, m);
}

static unsigned in_use(const struct world *w, unsigned desktop)
{
    unsigned slots = 0;
    for (unsigned i = 0; i < w->job_count; i++)
        if (w->jobs[i]->state == JOB_RUNS && w->jobs[i]->setup.desktop == desktop)
            slots += w->jobs[i]->setup.slots;
    return slots;
}

static void wait_happens(struct world *w, unsigned job, const struct wait_event *event);

static void stop_search(struct world *w, unsigned job)
{
    struct job *j = w->jobs[job];
    j->round++;
    free(j->search);
    j->search = NULL;
    (void)w;
}

static void begin_look(struct world *w, unsigned job)
{
    struct job *j = w->jobs[job];
    j->look++;
    for (unsigned i = 0; i < w->setup.lenders; i++)
        if (w->lenders[i].there)
            plan(w, (struct event){.kind = FOUND, .job = job, .lender = i, .round = j->look},
                 arrives(w) + LATENCY_MS);
    plan(w, (struct event){.kind = LOOKED, .job = job, .round = j->look}, w->now + 5 * LATENCY_MS);
}

static void runs(struct world *w, unsigned job)
{
    struct job *j = w->jobs[job];
    j->state = JOB_RUNS;
    j->started = w->now;
    plan(w, (struct event){.kind = JOB_ENDS, .job = job}, w->now + j->setup.lasts_ms);
}

static void borrow(struct world *w, unsigned job, const struct search_action *a)
{
    struct job *j = w->jobs[job];
    struct borrow *b = &w->desktops[j->desktop].borrow;
    const struct msg_local_lease row = {.lease = a->lease, .peer = a->peer, .slots = a->slots};
    const size_t more = 2 * b->most;
    if (b->count == b->most)
        free(borrow_move(b, must(malloc(borrow_size(more))), more));
    borrow_happens(w, j->desktop,
                   &(struct borrow_event){.kind = BORROW_ADD, .owner = j, .row = &row});
}

static void search_ended(struct world *w, unsigned job, bool granted)
{
    stop_search(w, job);
    wait_happens(w, job, &(struct wait_event){.kind = granted ? WAIT_GRANTED : WAIT_SHORT});
    if (granted)
        runs(w, job);
}

static void ask(struct world *w, unsigned job, const struct search_action *a)
{
    struct message m = {.kind = MSG_lease_ask};
    m.lease_ask.token = a->token;
    m.lease_ask.slots = a->slots;
    m.lease_ask.waiter = wait_waiter(&w->jobs[job]->wait, w->now);
    tell(w, job, &a->peer, &m);
}

static void give_back(struct world *w, unsigned job, const struct part_peer *peer,
                      const struct id *lease)
{
    struct message m = {.kind = MSG_lease_release, .lease_release.lease = *lease};
    tell(w, job, peer, &m);
}

/* False: the search is over. */
static bool search_does(struct world *w, unsigned job, const struct search_action *a)
{
    switch (a->kind) {
    case SEARCH_LOOK_NEAR:
    case SEARCH_LOOK_ALL:
    case SEARCH_LOOK_RESERVED:
        begin_look(w, job);
        break;
    case SEARCH_STOP_LOOKING:
        w->jobs[job]->look++;
        break;
    case SEARCH_ASK:
        ask(w, job, a);
        break;
    case SEARCH_RELEASE:
        give_back(w, job, &a->peer, &a->lease);
        break;
    case SEARCH_FITS:
        wait_happens(w, job,
                     &(struct wait_event){.kind = WAIT_FITS, .peer = a->peer, .slots = a->slots});
        break;
    case SEARCH_BORROW:
        borrow(w, job, a);
        break;
    case SEARCH_TELL_WAITING:
        tell(w, job, &a->peer, &(struct message){.kind = MSG_lease_waiting});
        break;
    case SEARCH_STOP_NAMING:
        break;
    case SEARCH_ENDED:
        search_ended(w, job, a->reason == NULL);
        return false;
    }
    return true;
}

static void search_happens(struct world *w, unsigned job, const struct search_event *event)
{
    struct job *j = w->jobs[job];
    search_step(j->search, event, w->now, &j->out);
    for (size_t i = 0; i < j->out.count; i++)
        if (!search_does(w, job, &j->out.action[i]))
            return;
    const uint64_t due = search_deadline(j->search);
    if (due != UINT64_MAX && due != j->search_due)
        plan(w, (struct event){.kind = SEARCH_ALARM, .job = job, .round = j->round}, due);
    j->search_due = due;
}

static void begin_search(struct world *w, unsigned job)
{
    static const struct require nothing;
    struct job *j = w->jobs[job];
    const struct request request = {.slots = j->setup.slots, .timeout_ms = TIMEOUT_MS};
    const struct search_setup setup = {.request = &request,
                                       .require = &nothing,
                                       .ompi = "4.1.4",
                                       .seed = world_chance(w, UINT64_MAX),
                                       .token = ++j->round << 12,
                                       .token_step = 1,
                                       .peers = w->setup.lenders,
                                       .waits = true};
    j->search = search_init(must(malloc(search_size(&setup))), &setup, w->now);
    j->out.most = search_actions(&setup);
    j->out.action = must(realloc(j->out.action, j->out.most * sizeof *j->out.action));
    j->search_due = UINT64_MAX;
    search_happens(w, job, &(struct search_event){.kind = SEARCH_BEGIN, .small = true});
}

static void queue(struct world *w, unsigned job, const struct part_peer *peer, bool over)
{
    struct message m = {.kind = MSG_lease_queue, .lease_queue.over = over};
    m.lease_queue.waiter = wait_waiter(&w->jobs[job]->wait, w->now);
    tell(w, job, peer, &m);
}

static void wait_does(struct world *w, unsigned job, const struct wait_action *a)
{
    switch (a->kind) {
    case WAIT_SEARCH:
        begin_search(w, job);
        break;
    case WAIT_ENTER:
    case WAIT_LEAVE:
        queue(w, job, &a->peer, a->kind == WAIT_LEAVE);
        break;
    case WAIT_TELL:
        break;
    case WAIT_GIVE_UP:
        w->jobs[job]->state = JOB_GAVE_UP;
        w->jobs[job]->ended = w->now;
        if (w->jobs[job]->search != NULL)
            stop_search(w, job); /* its offers run out */
        break;
    }
}

static void wait_happens(struct world *w, unsigned job, const struct wait_event *event)
{
    struct job *j = w->jobs[job];
    wait_step(&j->wait, event, w->now, &w->wait_out);
    for (size_t i = 0; i < w->wait_out.count; i++)
        wait_does(w, job, &w->wait_out.action[i]);
    const uint64_t due = wait_deadline(&j->wait);
    if (due != UINT64_MAX && due != j->wait_due)
        plan(w, (struct event){.kind = WAIT_ALARM, .job = job}, due);
    j->wait_due = due;
}

/* --- a lender --- */

static unsigned desktop_of(const struct world *w, const struct id *holder)
{
    for (unsigned i = 0; i < w->desktop_count; i++) {
        const struct part_peer peer = desktop_peer(w->desktops[i].number);
        if (id_equal(&peer.id, holder))
            return i;
    }
    abort();
}

/* What is said of leases that are held goes over a link that lives. */
static void lend_does(struct world *w, unsigned lender, const struct lend_action *a, unsigned job)
{
    struct event e = {.kind = TO_DESKTOP, .lender = lender, .job = job};
    struct message m;
    if (a->kind == LEND_PROBE)
        lend_step(&w->lenders[lender].lend,
                  &(struct lend_event){.kind = LEND_ANSWERS, .row = a->row}, w->now, NULL);
    if (!lend_message(a, &m) || ((a->kind == LEND_ANSWER || a->kind == LEND_PLACED) && is_lost(w)))
        return;
    e.desktop = desktop_of(w, &a->peer.id);
    e.said = must(malloc(sizeof *e.said));
    message_copy(e.said, &m);
    plan(w, e, arrives(w));
}

static void lend(struct world *w, unsigned lender, struct lend_event *event, unsigned job)
{
    const struct lend_terms terms = {.slots = w->setup.slots, .kept_ms = KEPT_MS};
    event->terms = &terms;
    lend_step(&w->lenders[lender].lend, event, w->now, &w->lend_out);
    for (size_t i = 0; i < w->lend_out.count; i++)
        lend_does(w, lender, &w->lend_out.action[i], job);
}

static void lender_hears(struct world *w, const struct event *e)
{
    struct id fresh[LEND_OFFERS_MAX];
    const struct job *j = w->jobs[e->job];
    if (!w->lenders[e->lender].there)
        return;
    for (unsigned i = 0; i < LEND_OFFERS_MAX && e->said->message.kind == MSG_lease_ask; i++)
        for (unsigned k = 0; k < ID_BYTES; k++)
            fresh[i].b[k] = (uint8_t)world_chance(w, 256);
    lend(w, e->lender,
         &(struct lend_event){.kind = LEND_MESSAGE,
                              .peer = desktop_peer(w->desktops[e->desktop].number),
                              .owner = named(3, j->setup.owner),
                              .guest = true,
                              .message = &e->said->message,
                              .fresh = fresh},
         e->job);
}

static void pulse(struct world *w)
{
    for (unsigned i = 0; i < w->setup.lenders; i++)
        if (w->lenders[i].there)
            lend(w, i, &(struct lend_event){.kind = LEND_TICK}, 0);
    plan(w, (struct event){.kind = PULSE}, w->now + PULSE_MS);
}

/* --- all of it --- */

static void job_ends(struct world *w, unsigned job)
{
    struct job *j = w->jobs[job];
    if (j->state != JOB_RUNS)
        return;
    j->state = JOB_DONE;
    j->ended = w->now;
    borrow_happens(w, j->desktop, &(struct borrow_event){.kind = BORROW_GIVE_BACK, .whose = j});
    if (j->setup.ended != NULL)
        j->setup.ended(j->setup.ctx, job);
}

static void found(struct world *w, const struct event *e)
{
    const struct lender *l = &w->lenders[e->lender];
    const unsigned free = lend_slots_free(&l->lend, w->setup.slots);
    const struct part_ad ad = {.peer = lender_peer(e->lender),
                               .slots = (uint16_t)w->setup.slots,
                               .slots_free = (uint16_t)free,
                               .name = "peer",
                               .ompi = "4.1.4"};
    if (l->there)
        search_happens(w, e->job,
                       &(struct search_event){.kind = SEARCH_FOUND,
                                              .ad = &ad,
                                              .rtt_us = 1000 + (e->lender * 7 + e->job * 13) % 97});
}

static void answered(struct world *w, const struct event *e)
{
    const struct part_peer from = lender_peer(e->lender);
    const struct msg_lease_answer *answer = e->said->message.lease_answer;
    if (w->jobs[e->job]->search != NULL)
        search_happens(
            w, e->job,
            &(struct search_event){.kind = SEARCH_ANSWER, .peer = from, .answer = answer});
    else
        for (size_t i = 0; i < answer->offers_count; i++)
            give_back(w, e->job, &from, &answer->offers[i].lease);
}

static void desktop_hears(struct world *w, const struct event *e)
{
    const struct job *j = w->jobs[e->job];
    const struct part_peer from = lender_peer(e->lender);
    if (e->said->message.kind == MSG_lease_answer && j->state != JOB_DIED)
        answered(w, e);
    else if (e->said->message.kind == MSG_lease_place && j->state != JOB_DIED &&
             id_equal(&e->said->message.lease_place.wait, &j->wait.setup.id))
        wait_happens(w, e->job,
                     &(struct wait_event){
                         .kind = WAIT_PLACE, .peer = from, .place = &e->said->message.lease_place});
    else if (e->said->message.kind != MSG_lease_answer && e->said->message.kind != MSG_lease_place)
        borrow_happens(w, e->desktop,
                       &(struct borrow_event){
                           .kind = BORROW_MESSAGE, .peer = from, .message = &e->said->message});
}

static void handle_job(struct world *w, const struct event *e)
{
    struct job *j = w->jobs[e->job];
    const bool looks = j->search != NULL && e->round == j->look;
    if (j->state == JOB_DIED)
        return;
    if (e->kind == ARRIVE) {
        j->state = JOB_WAITS;
        wait_happens(
            w, e->job,
            &(struct wait_event){.kind = WAIT_BEGIN, .in_use = in_use(w, j->setup.desktop)});
    } else if (e->kind == FOUND && looks)
        found(w, e);
    else if (e->kind == LOOKED && looks)
        search_happens(w, e->job, &(struct search_event){.kind = SEARCH_LOOKED});
    else if (e->kind == SEARCH_ALARM && j->search != NULL && e->round == j->round) {
        j->search_due = UINT64_MAX;
        search_happens(w, e->job, &(struct search_event){.kind = SEARCH_TICK});
    } else if (e->kind == WAIT_ALARM && e->at == j->wait_due) {
        j->wait_due = UINT64_MAX;
        wait_happens(
            w, e->job,
            &(struct wait_event){.kind = WAIT_TICK, .in_use = in_use(w, j->setup.desktop)});
    } else if (e->kind == JOB_ENDS)
        job_ends(w, e->job);
}

void world_run(struct world *w, uint64_t until_ms)
{
    while (w->count > 0 && w->heap[0].at <= until_ms) {
        const struct event e = next(w);
        w->now = e.at;
        if (e.kind == PULSE)
            pulse(w);
        else if (e.kind == TO_LENDER)
            lender_hears(w, &e);
        else if (e.kind == TO_DESKTOP)
            desktop_hears(w, &e);
        else if (e.kind == BORROW_ALARM && e.at == w->desktops[e.desktop].due)
            borrow_alarm(w, e.desktop);
        else if (e.kind != BORROW_ALARM)
            handle_job(w, &e);
        free(e.said);
    }
    w->now = until_ms;
}

unsigned world_add(struct world *w, const struct job_setup *setup, uint64_t at_ms)
{
    struct wait_setup wait = {
        .slots = setup->slots, .since = EPOCH_MS + at_ms, .for_ms = setup->for_ms};
    if (w->job_count == w->job_room) {
        w->job_room = 2 * w->job_room + 64;
        w->jobs = must(realloc(w->jobs, w->job_room * sizeof *w->jobs));
    }
    for (unsigned k = 0; k < ID_BYTES; k++)
        wait.id.b[k] = (uint8_t)world_chance(w, 256);
    struct job *j = w->jobs[w->job_count] = must(calloc(1, sizeof *j));
    j->setup = *setup;
    j->number = w->job_count;
    j->desktop = find_desktop(w, setup->desktop);
    j->arrived = at_ms;
    j->wait_due = UINT64_MAX;
    wait_init(&j->wait, &wait, at_ms);
    plan(w, (struct event){.kind = ARRIVE, .job = w->job_count}, at_ms);
    return w->job_count++;
}

void world_lender(struct world *w, unsigned lender, bool there)
{
    w->lenders[lender].there = there;
    w->lenders[lender].has_left = true;
    lend_init(&w->lenders[lender].lend);
}

void world_kill_job(struct world *w, unsigned job)
{
    w->jobs[job]->state = JOB_DIED;
    w->jobs[job]->ended = w->now;
    stop_search(w, job);
}

void world_cancel(struct world *w, unsigned job)
{
    struct job *j = w->jobs[job];
    if (j->state != JOB_WAITS)
        return;
    if (j->search != NULL) {
        search_step(j->search, &(struct search_event){.kind = SEARCH_CANCEL}, w->now, &j->out);
        for (size_t i = 0; i < j->out.count; i++)
            if (j->out.action[i].kind != SEARCH_ENDED)
                search_does(w, job, &j->out.action[i]);
        stop_search(w, job);
    }
    wait_happens(w, job, &(struct wait_event){.kind = WAIT_CANCEL});
    j->state = JOB_GAVE_UP;
    j->ended = w->now;
}

struct world *world_new(const struct world_setup *setup)
{
    struct world *w = must(calloc(1, sizeof *w));
    w->setup = *setup;
    w->random = setup->seed;
    w->lenders = must(calloc(setup->lenders, sizeof *w->lenders));
    for (unsigned i = 0; i < setup->lenders; i++) {
        lend_init(&w->lenders[i].lend);
        w->lenders[i].there = true;
    }
    plan(w, (struct event){.kind = PULSE}, PULSE_MS);
    return w;
}

void world_free(struct world *w)
{
    while (w->count > 0) {
        const struct event e = next(w);
        free(e.said);
    }
    for (unsigned i = 0; i < w->job_count; i++) {
        free(w->jobs[i]->search);
        free(w->jobs[i]->out.action);
        free(w->jobs[i]);
    }
    for (unsigned i = 0; i < w->desktop_count; i++)
        free(w->desktops[i].borrow.at);
    free(w->desktops);
    free(w->jobs);
    free(w->heap);
    free(w->lenders);
    free(w);
}

/* --- reading --- */

uint64_t world_now(const struct world *w)
{
    return w->now;
}

enum job_state world_state(const struct world *w, unsigned job)
{
    return w->jobs[job]->state;
}

uint64_t world_waited(const struct world *w, unsigned job)
{
    const struct job *j = w->jobs[job];
    const uint64_t until = j->started != 0 ? j->started : j->ended != 0 ? j->ended : w->now;
    return until > j->arrived ? until - j->arrived : 0;
}

uint64_t world_work(const struct world *w, unsigned owner)
{
    uint64_t work = 0;
    for (unsigned i = 0; i < w->job_count; i++) {
        const struct job *j = w->jobs[i];
        if (j->setup.owner == owner && j->started != 0)
            work += j->setup.slots * ((j->ended != 0 ? j->ended : w->now) - j->started);
    }
    return work;
}

unsigned world_lent(const struct world *w)
{
    unsigned slots = 0;
    for (unsigned i = 0; i < w->setup.lenders; i++)
        slots += w->setup.slots - lease_slots_free(&w->lenders[i].lend.table, w->setup.slots);
    return slots;
}

unsigned world_lost(const struct world *w)
{
    return w->lost;
}

unsigned world_held(const struct world *w, unsigned lender)
{
    unsigned slots = 0;
    for (unsigned i = 0; i < w->desktop_count; i++) {
        const struct borrow *b = &w->desktops[i].borrow;
        for (size_t k = 0; k < b->count; k++)
            slots += lender_of(&b->at[k].peer) == lender ? b->at[k].slots : 0;
    }
    return slots;
}

unsigned world_listed(const struct world *w)
{
    unsigned count = 0;
    for (unsigned i = 0; i < w->setup.lenders; i++) {
        waitlist_expire(&w->lenders[i].lend.waitlist, w->now);
        for (unsigned k = 0; k < WAITLIST_MAX; k++)
            count += w->lenders[i].lend.waitlist.at[k].is.slots > 0;
    }
    return count;
}

unsigned world_jobs(const struct world *w)
{
    return w->job_count;
}
