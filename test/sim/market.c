/* SPDX-License-Identifier: BSD-3-Clause */
/* market.c -- a queue of messages between searches, borrowers and lenders. */
#include "market.h"
#include "overlay/base/random.h"
#include "overlay/core/lease/borrow.h"
#include "overlay/core/lease/lend.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MS = 1000, LEASES_AT_FIRST = 4 };

enum event_kind {
    BEGIN,
    NAMED,
    ALL_NAMED,
    VISITED,
    LOOKED,
    TICK,
    BORROW_TICKS, /* a bidder's */
    LEND_TICKS,   /* a peer's */
    TO_LENDER,    /* .said */
    TO_BIDDER,    /* .said */
};

struct event {
    uint64_t at, order;
    enum event_kind kind;
    unsigned bidder, peer, look; /* peer: of the market; a find: its place among them */
    struct message_whole *said;
};

struct bid {
    struct search *search;
    struct search_out out;
    struct borrow borrow;
    unsigned lost;           /* leases that ended though nobody gave them back */
    uint64_t borrow_tick_us; /* the last one that was planned */
    struct market_find *finds;
    size_t count;
    bool small;
    unsigned look;     /* events of an earlier one come to nothing */
    uint64_t look_us;  /* when it began */
    uint64_t named_us; /* those that were named later are not visited */
    uint64_t tick_us;  /* the last one that was planned */
    enum bid_state state;
    uint64_t begun, asked, ended;
};

struct lender {
    struct lend lend;
    uint64_t tick_us; /* the last one that was planned */
};

struct market {
    struct market_setup setup;
    uint64_t now, order, random;
    struct event **queue;
    size_t queued, room;
    struct lender *lenders;
    struct bid *bids;
    uint64_t ended; /* the last bid */
    struct lend_out out;
};

static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static uint64_t chance(struct market *m)
{
    return splitmix64(&m->random);
}

static struct event *plan(struct market *m, enum event_kind kind, unsigned bidder, unsigned peer,
                          uint64_t delay)
{
    struct event *e = must(calloc(1, sizeof *e));
    e->at = m->now + delay;
    e->order = m->order++;
    e->kind = kind;
    e->bidder = bidder;
    e->peer = peer;
    e->look = m->bids[bidder].look;
    if (m->queued == m->room) {
        m->room = 2 * m->room + 64;
        m->queue = must(realloc(m->queue, m->room * sizeof *m->queue));
    }
    m->queue[m->queued++] = e;
    return e;
}

static uint64_t one_way(struct market *m, unsigned bidder, unsigned peer)
{
    uint64_t us = m->setup.rtt_us(m->setup.ctx, bidder, peer) / 2;
    return us + us * (chance(m) % 200) / 1000;
}

static void send(struct market *m, enum event_kind kind, unsigned bidder, unsigned peer,
                 const struct message *said)
{
    struct event *e = plan(m, kind, bidder, peer, one_way(m, bidder, peer));
    e->said = must(malloc(sizeof *e->said));
    message_copy(e->said, said);
}

static bool goes_on(const struct market *m)
{
    for (unsigned i = 0; i < m->setup.bidders; i++)
        if (m->bids[i].state == BID_GOES_ON)
            return true;
    return m->now < m->ended + m->setup.hold_us;
}

static struct id holder(unsigned bidder)
{
    return (struct id){{(uint8_t)(bidder + 1), (uint8_t)((bidder + 1) >> 8)}};
}

static unsigned bidder_of(const struct id *id)
{
    return (id->b[0] | (unsigned)id->b[1] << 8) - 1;
}

static struct part_peer address(unsigned peer)
{
    struct part_peer p = {.addr = {.port = 7117}};
    p.id.b[0] = (uint8_t)peer;
    p.id.b[1] = (uint8_t)(peer >> 8);
    p.id.b[2] = 1;
    return p;
}

static unsigned number(const struct part_peer *peer)
{
    return peer->id.b[0] | (unsigned)peer->id.b[1] << 8;
}

/* A deadline that is over is due now. */
static uint64_t due_us(const struct market *m, uint64_t due_ms)
{
    if (due_ms == UINT64_MAX)
        return UINT64_MAX;
    return due_ms * MS > m->now ? due_ms * MS : m->now;
}

/* --- what a bidder holds --- */

static void borrow_carry_out(struct market *m, unsigned bidder, const struct borrow_action *a)
{
    struct bid *b = &m->bids[bidder];
    struct message_whole said;
    if (borrow_message(a, &said))
        send(m, TO_LENDER, bidder, number(&a->peer), &said.message);
    b->lost += a->kind == BORROW_ENDED || a->kind == BORROW_FAILED;
}

static void plan_borrow_tick(struct market *m, unsigned bidder)
{
    struct bid *b = &m->bids[bidder];
    const uint64_t due = due_us(m, borrow_deadline(&b->borrow));
    if (due == UINT64_MAX || due == b->borrow_tick_us || !goes_on(m))
        return;
    b->borrow_tick_us = due;
    plan(m, BORROW_TICKS, bidder, 0, due - m->now);
}

static void borrow(struct market *m, unsigned bidder, const struct borrow_event *event)
{
    struct borrow_out out;
    borrow_step(&m->bids[bidder].borrow, event, m->now / MS, &out);
    for (size_t i = 0; i < out.count; i++)
        borrow_carry_out(m, bidder, &out.action[i]);
    plan_borrow_tick(m, bidder);
}

static void add(struct market *m, unsigned bidder, const struct search_action *a)
{
    struct borrow *b = &m->bids[bidder].borrow;
    const struct msg_local_lease row = {.lease = a->lease, .peer = a->peer, .slots = a->slots};
    const size_t more = 2 * b->most;
    if (b->count == b->most)
        free(borrow_move(b, must(malloc(borrow_size(more))), more));
    borrow(m, bidder,
           &(struct borrow_event){.kind = BORROW_ADD, .owner = &m->bids[bidder], .row = &row});
}

/* --- a bidder --- */

/* The last find that is visited. */
static uint64_t end_of_look(const struct bid *b)
{
    uint64_t end = 0;
    for (size_t i = 0; i < b->count; i++)
        if (b->finds[i].visited_us > end && b->look_us + b->finds[i].named_us <= b->named_us)
            end = b->finds[i].visited_us;
    return end;
}

static void begin_look(struct market *m, unsigned bidder, bool named)
{
    struct bid *b = &m->bids[bidder];
    uint64_t all_named = 0;
    b->look++;
    b->look_us = m->now;
    b->named_us = UINT64_MAX;
    for (unsigned i = 0; i < b->count; i++) {
        if (named)
            plan(m, NAMED, bidder, i, b->finds[i].named_us);
        plan(m, VISITED, bidder, i, b->finds[i].visited_us);
        all_named = b->finds[i].named_us > all_named ? b->finds[i].named_us : all_named;
    }
    if (named)
        plan(m, ALL_NAMED, bidder, 0, all_named);
    plan(m, LOOKED, bidder, 0, end_of_look(b));
}

/* What was named before is visited to the end. */
static void stop_naming(struct market *m, unsigned bidder)
{
    struct bid *b = &m->bids[bidder];
    b->named_us = m->now;
    const uint64_t end = b->look_us + end_of_look(b);
    plan(m, LOOKED, bidder, 0, end > m->now ? end - m->now : 0);
}

static void carry_out(struct market *m, unsigned bidder, const struct search_action *a)
{
    struct bid *b = &m->bids[bidder];
    struct message said = {0};
    switch (a->kind) {
    case SEARCH_LOOK_NEAR:
    case SEARCH_LOOK_ALL:
    case SEARCH_LOOK_RESERVED:
        begin_look(m, bidder, a->kind == SEARCH_LOOK_NEAR);
        return;
    case SEARCH_STOP_NAMING:
        stop_naming(m, bidder);
        return;
    case SEARCH_STOP_LOOKING:
        b->look++;
        return;
    case SEARCH_ASK:
        said.kind = MSG_lease_ask;
        said.lease_ask.token = a->token;
        said.lease_ask.slots = a->slots;
        send(m, TO_LENDER, bidder, number(&a->peer), &said);
        b->asked = b->asked == 0 ? m->now : b->asked;
        return;
    case SEARCH_RELEASE:
        said.kind = MSG_lease_release;
        said.lease_release.lease = a->lease;
        send(m, TO_LENDER, bidder, number(&a->peer), &said);
        return;
    case SEARCH_TELL_WAITING:
    case SEARCH_FITS:
        return;
    case SEARCH_BORROW:
        add(m, bidder, a);
        return;
    case SEARCH_ENDED:
        b->state = a->reason == NULL ? BID_WON : BID_REFUSED;
        b->ended = m->ended = m->now;
        return;
    }
}

static void step(struct market *m, unsigned bidder, const struct search_event *event)
{
    struct bid *b = &m->bids[bidder];
    search_step(b->search, event, m->now / MS, &b->out);
    for (size_t i = 0; i < b->out.count; i++)
        carry_out(m, bidder, &b->out.action[i]);
    const uint64_t due = search_deadline(b->search);
    if (due == UINT64_MAX || due * MS == b->tick_us)
        return;
    b->tick_us = due * MS;
    plan(m, TICK, bidder, 0, b->tick_us > m->now ? b->tick_us - m->now : 0);
}

static void tick(struct market *m, unsigned bidder)
{
    m->bids[bidder].tick_us = 0;
    step(m, bidder, &(struct search_event){.kind = SEARCH_TICK});
}

static void visited(struct market *m, unsigned bidder, unsigned find)
{
    const struct bid *b = &m->bids[bidder];
    const unsigned peer = b->finds[find].peer;
    const struct part_ad ad = {.peer = address(peer),
                               .slots = (uint16_t)m->setup.slots,
                               .slots_free = (uint16_t)m->setup.slots,
                               .name = "peer",
                               .ompi = "4.1.4"};
    if (b->look_us + b->finds[find].named_us <= b->named_us)
        step(m, bidder,
             &(struct search_event){.kind = SEARCH_FOUND,
                                    .ad = &ad,
                                    .rtt_us = m->setup.rtt_us(m->setup.ctx, bidder, peer)});
}

static void hear_lender(struct market *m, const struct event *e)
{
    const struct part_peer from = address(e->peer);
    if (e->said->message.kind == MSG_lease_answer)
        step(m, e->bidder,
             &(struct search_event){
                 .kind = SEARCH_ANSWER, .peer = from, .answer = e->said->message.lease_answer});
    else
        borrow(m, e->bidder,
               &(struct borrow_event){
                   .kind = BORROW_MESSAGE, .peer = from, .message = &e->said->message});
}

/* --- a peer --- */

static void lend(struct market *m, unsigned peer, struct lend_event *event)
{
    struct lender *l = &m->lenders[peer];
    const struct lend_terms terms = {.slots = m->setup.slots};
    event->terms = &terms;
    lend_step(&l->lend, event, m->now / MS, &m->out);
    for (size_t i = 0; i < m->out.count; i++) {
        struct message said;
        if (lend_message(&m->out.action[i], &said))
            send(m, TO_BIDDER, bidder_of(&m->out.action[i].peer.id), peer, &said);
    }
    const uint64_t due = due_us(m, lend_deadline(&l->lend));
    if (due == UINT64_MAX || due == l->tick_us || !goes_on(m))
        return;
    l->tick_us = due;
    plan(m, LEND_TICKS, 0, peer, due - m->now);
}

static void tick_lender(struct market *m, unsigned peer)
{
    m->lenders[peer].tick_us = UINT64_MAX;
    lend(m, peer, &(struct lend_event){.kind = LEND_TICK});
}

static void hear_bidder(struct market *m, const struct event *e)
{
    struct id fresh[LEND_OFFERS_MAX];
    for (unsigned i = 0; i < LEND_OFFERS_MAX && e->said->message.kind == MSG_lease_ask; i++)
        for (unsigned k = 0; k < ID_BYTES; k++)
            fresh[i].b[k] = (uint8_t)chance(m);
    lend(m, e->peer,
         &(struct lend_event){.kind = LEND_MESSAGE,
                              .peer.id = holder(e->bidder),
                              .owner = holder(e->bidder),
                              .message = &e->said->message,
                              .fresh = fresh});
}

/* --- all of it --- */

static void handle_look(struct market *m, const struct event *e)
{
    if (e->look != m->bids[e->bidder].look)
        return;
    if (e->kind == VISITED)
        visited(m, e->bidder, e->peer);
    else if (e->kind == LOOKED)
        step(m, e->bidder, &(struct search_event){.kind = SEARCH_LOOKED});
    else if (e->kind == ALL_NAMED)
        step(m, e->bidder, &(struct search_event){.kind = SEARCH_ALL_NAMED});
    else if (m->bids[e->bidder].named_us == UINT64_MAX)
        step(m, e->bidder, &(struct search_event){.kind = SEARCH_NAMED, .slots = m->setup.slots});
}

static void handle(struct market *m, const struct event *e)
{
    switch (e->kind) {
    case BEGIN:
        step(m, e->bidder,
             &(struct search_event){.kind = SEARCH_BEGIN, .small = m->bids[e->bidder].small});
        break;
    case NAMED:
    case ALL_NAMED:
    case VISITED:
    case LOOKED:
        handle_look(m, e);
        break;
    case TICK:
        tick(m, e->bidder);
        break;
    case LEND_TICKS:
        tick_lender(m, e->peer);
        break;
    case BORROW_TICKS:
        m->bids[e->bidder].borrow_tick_us = UINT64_MAX;
        borrow(m, e->bidder, &(struct borrow_event){.kind = BORROW_TICK});
        break;
    case TO_LENDER:
        hear_bidder(m, e);
        break;
    case TO_BIDDER:
        hear_lender(m, e);
        break;
    }
}

struct market *market_new(const struct market_setup *setup)
{
    struct market *m = must(calloc(1, sizeof *m));
    m->setup = *setup;
    m->random = setup->seed;
    m->lenders = must(calloc(setup->peers, sizeof *m->lenders));
    m->bids = must(calloc(setup->bidders, sizeof *m->bids));
    for (unsigned i = 0; i < setup->peers; i++) {
        lend_init(&m->lenders[i].lend);
        m->lenders[i].tick_us = UINT64_MAX;
    }
    for (unsigned i = 0; i < setup->bidders; i++) {
        m->bids[i].borrow_tick_us = UINT64_MAX;
        borrow_init(&m->bids[i].borrow, must(malloc(borrow_size(LEASES_AT_FIRST))),
                    LEASES_AT_FIRST);
    }
    return m;
}

static void free_event(struct event *e)
{
    free(e->said);
    free(e);
}

void market_free(struct market *m)
{
    for (unsigned i = 0; i < m->setup.bidders; i++) {
        free(m->bids[i].search);
        free(m->bids[i].out.action);
        free(m->bids[i].finds);
        free(m->bids[i].borrow.at);
    }
    while (m->queued > 0)
        free_event(m->queue[--m->queued]);
    free(m->queue);
    free(m->lenders);
    free(m->bids);
    free(m);
}

void market_bid(struct market *m, unsigned bidder, const struct request *request, bool small,
                const struct market_find *finds, size_t count, uint64_t at_us)
{
    static const struct require nothing;
    struct bid *b = &m->bids[bidder];
    const struct search_setup setup = {.request = request,
                                       .require = &nothing,
                                       .ompi = "4.1.4",
                                       .seed = chance(m),
                                       .token_step = 1,
                                       .peers = count};
    b->search = search_init(must(malloc(search_size(&setup))), &setup, at_us / MS);
    b->out.most = search_actions(&setup);
    b->out.action = must(malloc(b->out.most * sizeof *b->out.action));
    b->finds = must(calloc(count + 1, sizeof *finds));
    memcpy(b->finds, finds, count * sizeof *finds);
    b->count = count;
    b->small = small;
    b->state = BID_GOES_ON;
    b->begun = at_us;
    plan(m, BEGIN, bidder, 0, at_us - m->now);
}

static struct event *take_first(struct market *m)
{
    size_t first = 0;
    for (size_t i = 1; i < m->queued; i++) {
        const struct event *a = m->queue[i], *b = m->queue[first];
        if (a->at < b->at || (a->at == b->at && a->order < b->order))
            first = i;
    }
    struct event *e = m->queue[first];
    m->queue[first] = m->queue[--m->queued];
    return e;
}

bool market_run(struct market *m, uint64_t limit_us)
{
    while (m->queued > 0) {
        struct event *e = take_first(m);
        m->now = e->at;
        if (m->now <= limit_us)
            handle(m, e);
        free_event(e);
        if (m->now > limit_us)
            return false;
    }
    for (unsigned i = 0; i < m->setup.bidders; i++)
        if (m->bids[i].state == BID_GOES_ON)
            return false;
    return true;
}

void market_give_back(struct market *m)
{
    for (unsigned i = 0; i < m->setup.bidders; i++)
        borrow(m, i, &(struct borrow_event){.kind = BORROW_CLOSE});
}

enum bid_state market_state(const struct market *m, unsigned bidder)
{
    return m->bids[bidder].state;
}

uint64_t market_took_us(const struct market *m, unsigned bidder)
{
    return m->bids[bidder].ended - m->bids[bidder].begun;
}

uint64_t market_looked_us(const struct market *m, unsigned bidder)
{
    const struct bid *b = &m->bids[bidder];
    return (b->asked != 0 ? b->asked : b->ended) - b->begun;
}

unsigned market_held(const struct market *m, unsigned bidder, unsigned peer)
{
    struct id who = holder(bidder);
    unsigned slots = 0;
    for (unsigned i = 0; i < LEASE_MAX; i++) {
        const struct lease *l = &m->lenders[peer].lend.table.at[i];
        if (l->state != LEASE_FREE && id_equal(&l->holder, &who))
            slots += l->slots;
    }
    return slots;
}

unsigned market_believed(const struct market *m, unsigned bidder, unsigned peer)
{
    const struct borrow *b = &m->bids[bidder].borrow;
    unsigned slots = 0;
    for (size_t i = 0; i < b->count; i++)
        slots += number(&b->at[i].peer) == peer ? b->at[i].slots : 0;
    return slots;
}

unsigned market_lost(const struct market *m, unsigned bidder)
{
    return m->bids[bidder].lost;
}

unsigned market_lent(const struct market *m, unsigned peer)
{
    return m->setup.slots - lease_slots_free(&m->lenders[peer].lend.table, m->setup.slots);
}
