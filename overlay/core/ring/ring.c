/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c -- one peer's part of the overlay: hands each event to the file that deals with it. */
#include "ring_state.h"
#include "overlay/base/random.h"
#include <assert.h>
#include <string.h>

enum {
    SLEEP_US = 5 * SECOND
}; /* a round this late: this machine was asleep, and the silence of others means nothing */

static size_t ring_aligned(size_t n)
{
    return (n + 15) / 16 * 16;
}

size_t ring_size(const struct ring_setup *setup)
{
    return ring_aligned(sizeof(struct ring)) +
           ring_aligned(setup->searches * sizeof(struct search)) +
           ring_aligned(setup->record_bytes);
}

struct ring *ring_init(void *memory, const struct ring_setup *setup, uint64_t now_us)
{
    assert(setup->record_bytes >= RING_RECORDS_MIN && setup->searches > 0);
    memset(memory, 0, ring_size(setup));
    struct ring *ring = memory;
    uint8_t *rest = (uint8_t *)memory + ring_aligned(sizeof *ring);
    ring->self = setup->self;
    ring->random = setup->seed;
    ring->fits = setup->fits;
    ring->context = setup->context;
    ring->now = now_us;
    ring->standing = RING_ALONE;
    ring->epoch = (uint32_t)ring_random(ring) | 1; /* differs from the one before a restart */
    ring->serial = (uint32_t)ring_random(ring);
    ring->round_due = ring_soon(ring, ROUND_US);
    ring->copy_due = ring_soon(ring, ROUND_US);
    ring->ad.back.depth = UINT8_MAX;
    ring->search_count = setup->searches;
    ring->searches = (struct search *)rest;
    store_init(&ring->store, rest + ring_aligned(setup->searches * sizeof(struct search)),
               setup->record_bytes);
    vivaldi_init(&ring->vivaldi);
    return ring;
}

/* --- for the other files --- */

uint64_t ring_random(struct ring *ring)
{
    return splitmix64(&ring->random);
}

uint64_t ring_soon(struct ring *ring, uint64_t delay_us)
{
    return ring->now + delay_us * 3 / 4 + ring_random(ring) % (delay_us / 2);
}

uint32_t ring_serial(struct ring *ring)
{
    if (++ring->serial == 0)
        ring->serial = 1;
    return ring->serial;
}

bool peer_is(const struct part_peer *a, const struct part_peer *b)
{
    return id_equal(&a->id, &b->id);
}

/* The peer is no member: it is removed from every list. */
void ring_drop_peer(struct ring *ring, const struct part_peer *peer, enum gone why)
{
    for (unsigned i = 0; i < ASKS; i++)
        if (ring->asks[i].tries > 0 && peer_is(&ring->asks[i].peer, peer))
            ring->asks[i].tries = 0;
    struct part_peer gone = *peer; /* it may point into a list */
    if (ring->standing != RING_GONE && why != GONE_APART)
        outsider_add(ring, &gone, why == GONE_LEFT);
    finger_lost(ring, &gone.id);
    route_lost(ring, &gone.id);
    neighbour_lost(ring, &gone);
}

/* --- events --- */

/* A neighbour or finger by its id; NULL: it is none. */
static const struct part_peer *ring_find_known(const struct ring *ring, const struct id *id)
{
    if (ring->predecessors > 0 && id_equal(&ring->predecessor[0].id, id))
        return &ring->predecessor[0];
    for (unsigned i = 0; i < ring->successor_count; i++)
        if (id_equal(&ring->successors[i].id, id))
            return &ring->successors[i];
    unsigned slot = finger_slot(ring, id);
    return slot < FINGERS && id_equal(&ring->fingers[slot].peer.id, id) ? &ring->fingers[slot].peer
                                                                        : NULL;
}

/* The event may name a peer without its address; the last known address is used to ask it again. */
static void ring_unreachable(struct ring *ring, const struct part_peer *peer)
{
    const struct part_peer *member = ring_find_known(ring, &peer->id);
    struct part_peer gone = member != NULL ? *member : *peer;
    bool candidate = false;
    for (unsigned i = 0; i < ASKS; i++) {
        struct ask *a = &ring->asks[i];
        if (a->tries == 0 || !peer_is(&a->peer, peer))
            continue;
        if (gone.addr.port == 0)
            gone.addr = a->peer.addr;
        candidate = candidate || (a->why != WHY_OUTSIDER && a->why != WHY_OTHER_RING);
        a->tries = 0;
    }
    route_lost(ring, &peer->id);
    if (candidate || member != NULL)
        ring_drop_peer(ring, &gone, GONE_SILENT);
}

enum takes {
#define TO_ring(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

static void ring_take_message(struct ring *ring, const struct part_peer *from,
                              const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_ring_ask:
        neighbour_asked(ring, from, &m->ring_ask);
        break;
    case MSG_ring_state:
        neighbour_told(ring, from, &m->ring_state);
        break;
    case MSG_ring_leave:
        neighbour_left(ring, from, &m->ring_leave);
        break;
    case MSG_ring_changed:
        neighbour_changed(ring, from, &m->ring_changed);
        break;
    case MSG_ring_find:
        route_find(ring, &m->ring_find, from);
        break;
    case MSG_ring_find_ack:
        route_acked(ring, m->ring_find_ack.hop);
        break;
    case MSG_ring_found:
        route_found(ring, from, &m->ring_found);
        break;
    case MSG_ring_put:
        record_on_put(ring, from, &m->ring_put);
        break;
    case MSG_ring_put_done:
        record_on_put_done(ring, &m->ring_put_done);
        break;
    case MSG_ring_get:
        record_on_get(ring, &m->ring_get);
        break;
    case MSG_ring_got:
        record_on_got(ring, &m->ring_got);
        break;
    case MSG_ring_copy:
        copy_on_copy(ring, from, &m->ring_copy);
        break;
    case MSG_ring_have:
        copy_on_have(ring, from, &m->ring_have);
        break;
    case MSG_ring_want:
        copy_on_want(ring, from, &m->ring_want);
        break;
    case MSG_ad_put:
        bucket_on_put(ring, from, &m->ad_put);
        break;
    case MSG_ad_put_done:
        ads_on_put_done(ring, from, &m->ad_put_done);
        break;
    case MSG_ad_near:
        bucket_on_near(ring, from, &m->ad_near);
        break;
    case MSG_ad_near_answer:
        nearest_answered(ring, &m->ad_near_answer);
        break;
    case MSG_ad_report:
        report_on_report(ring, from, &m->ad_report);
        break;
    case MSG_ad_reported:
        report_on_reported(ring, &m->ad_reported);
        break;
    }
}

static void ring_leave_all(struct ring *ring)
{
    if (ring->standing != RING_GONE) {
        ads_leave(ring);
        copy_leave(ring);
        neighbour_leave(ring);
        ring->standing = RING_GONE;
    }
    act(ring, RING_LEFT, 0);
}

static void ring_tick_all(struct ring *ring)
{
    if (ring->standing == RING_GONE)
        return;
    if (ring->now > ring->round_due + SLEEP_US) {
        ask_forget(ring);
        watch_return(ring);
    }
    ask_tick(ring);
    if (ring->now >= ring->round_due) {
        ring->rounds++;
        ring->round_due = ring_soon(ring, ROUND_US);
        outsider_round(ring);
        watch_round(ring);
        finger_round(ring);
        report_round(ring);
        record_round(ring);
    }
    copy_tick(ring);
    ads_tick(ring);
    route_tick(ring);
}

static void ring_take_event(struct ring *ring, const struct ring_event *event)
{
    switch (event->kind) {
    case RING_TICK:
        break;
    case RING_MESSAGE:
        outsider_spoke(ring, &event->peer);
        ring_take_message(ring, &event->peer, event->message);
        break;
    case RING_UNREACHABLE:
        ring_unreachable(ring, &event->peer);
        break;
    case RING_JOIN:
        outsider_join(ring, &event->peer);
        break;
    case RING_MOVED:
        ring->self.addr = event->peer.addr;
        watch_return(ring);
        break;
    case RING_LEAVE:
        ring_leave_all(ring);
        break;
    case RING_LOOKUP:
        if (route_lookup(ring, LOOK_USER, event->token, &event->key) == NULL)
            act(ring, RING_FAILED, event->token)->status = RING_FULL;
        break;
    case RING_PUT:
        record_put(ring, event->token, event->record);
        break;
    case RING_GET:
        if (route_lookup(ring, LOOK_GET, event->token, &event->key) == NULL)
            act(ring, RING_FAILED, event->token)->status = RING_FULL;
        break;
    case RING_PUBLISH:
        ads_publish(ring, event->value, event->value_length);
        break;
    case RING_NEAREST:
        nearest_start(ring, event->token, event->want, event->require);
        break;
    case RING_CANCEL:
        route_cancel(ring, event->token);
        nearest_cancel(ring, event->token);
        break;
    }
}

void ring_step(struct ring *ring, const struct ring_event *event, uint64_t now_us,
               struct ring_out *out)
{
    out->count = 0;
    out->used = 0;
    ring->out = out;
    ring->now = now_us > ring->now ? now_us : ring->now;
    ring->changed = false;
    ring_take_event(ring, event);
    ring_tick_all(ring);
    if (ring->changed) {
        copy_changed(ring);
        neighbour_tell_predecessor(ring);
        act(ring, RING_NEIGHBOURS, 0);
    }
    ring->out = NULL;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t ring_deadline(const struct ring *ring)
{
    if (ring->standing == RING_GONE)
        return UINT64_MAX;
    uint64_t due = sooner(ring->round_due, copy_deadline(ring));
    due = sooner(due, sooner(ask_deadline(ring), route_deadline(ring)));
    return sooner(due, ads_deadline(ring));
}

/* --- reading --- */

enum ring_standing ring_standing(const struct ring *ring)
{
    return ring->standing;
}

const struct part_peer *ring_self(const struct ring *ring)
{
    return &ring->self;
}

const struct part_peer *ring_predecessor(const struct ring *ring)
{
    return ring->predecessors > 0 ? &ring->predecessor[0] : NULL;
}

const struct part_peer *ring_successor(const struct ring *ring, unsigned i)
{
    return i < ring->successor_count ? &ring->successors[i] : NULL;
}

const struct part_peer *ring_finger(const struct ring *ring, unsigned i)
{
    for (unsigned slot = 0; slot < FINGERS; slot++)
        if (ring->fingers[slot].rtt_us != 0 && i-- == 0)
            return &ring->fingers[slot].peer;
    return NULL;
}

const struct part_coordinate *ring_place(const struct ring *ring)
{
    return &ring->vivaldi.place;
}

static unsigned add_known(struct part_peer *peers, unsigned count, unsigned most,
                          const struct part_peer *peer)
{
    for (unsigned i = 0; i < count; i++)
        if (peer_is(&peers[i], peer))
            return count;
    if (count < most)
        peers[count++] = *peer;
    return count;
}

unsigned ring_known(const struct ring *ring, struct part_peer *peers, unsigned most)
{
    unsigned n = 0;
    for (unsigned i = 0; i < ring->successor_count; i++)
        n = add_known(peers, n, most, &ring->successors[i]);
    for (unsigned i = 0; i < ring->predecessors; i++)
        n = add_known(peers, n, most, &ring->predecessor[i]);
    for (unsigned i = 0; i < FINGERS; i++)
        if (ring->fingers[i].rtt_us != 0)
            n = add_known(peers, n, most, &ring->fingers[i].peer);
    for (unsigned i = 0; i < OUTSIDERS; i++)
        if (ring->outsiders[i].used && !ring->outsiders[i].left)
            n = add_known(peers, n, most, &ring->outsiders[i].peer);
    return n;
}
