/* SPDX-License-Identifier: BSD-3-Clause */
/* shm.c -- frames between processes of one host, through two shared rings, one for each direction.
 *
 * A ring has one writer and one reader, so a death at any point leaves nothing broken. Its memory
 * has no name: it goes with its processes. The reader looks at the word where the next record will
 * begin; the writer clears the word behind a record before it publishes the record. A record:
 *
 *     0      4      5             6      8        16
 *     | size | kind | head length | - | length | ...
 *
 *     FRAME      head, payload of `length`
 *     BEGIN      head; a payload of `length` follows in chunks
 *     CHUNKED    `length` bytes of it
 *     EXPOSED    head, u64 address: the payload is read from the sender's memory
 *     READ_DONE  `length`: how many of those were read, the oldest first
 *     CAN_READ   the writer of this can read the other's memory
 *     SKIP       up to the ring's end
 *
 * The socket beside the rings wakes a sleeper and tells of the peer's death. */
#include "endpoint.h"
#include "rings.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { RECORD = 16, CHUNK = 32 * 1024, RECORDS_A_POLL = 128 };
enum kind { NOTHING, FRAME, BEGIN, CHUNKED, EXPOSED, READ_DONE, CAN_READ, SKIP };

/* --- out --- */

static _Atomic uint32_t *ring_word(struct ring *r, uint64_t position)
{
    return (_Atomic uint32_t *)(void *)(r->data + position % RING);
}

static size_t record_rounded(size_t size)
{
    return (size + RECORD - 1) & ~(size_t)(RECORD - 1);
}

static bool ring_has_room(struct rings *r, size_t need)
{
    if (RING - (r->written - r->known_read) >= need)
        return true;
    r->known_read = atomic_load_explicit(&r->out->read, memory_order_acquire);
    return RING - (r->written - r->known_read) >= need;
}

/* With the cleared word after the record, and what is left of the ring if it does not fit there. */
static size_t record_needs(const struct rings *r, size_t body)
{
    const size_t size = RECORD + record_rounded(body), to_end = RING - r->written % RING;
    return size + RECORD + (size > to_end ? to_end : 0);
}

static void ring_skip_to_end(struct rings *r)
{
    const size_t to_end = RING - r->written % RING;
    r->out->data[r->written % RING + 4] = SKIP;
    atomic_store_explicit(ring_word(r->out, r->written + to_end), 0, memory_order_relaxed);
    atomic_store_explicit(ring_word(r->out, r->written), (uint32_t)to_end, memory_order_release);
    r->written += to_end;
}

/* Room for a record with `body` bytes behind its 16; NULL: full. */
static inline uint8_t *record_reserve(struct rings *r, size_t body)
{
    if (!ring_has_room(r, record_needs(r, body)))
        return NULL;
    const size_t size = RECORD + record_rounded(body);
    if (size > RING - r->written % RING)
        ring_skip_to_end(r);
    if (size > r->widest)
        r->widest = size;
    return r->out->data + r->written % RING;
}

/* A writer whose reader has read all begins at the ring's start again: what both use of its memory
 * stays in the cache, and most of it is never touched. Until the reader has gone there, too, only
 * what was written before is free: so that has to be room for a window of such records. */
static void ring_begin_again(struct rings *r)
{
    enum { NEAR = 8 * 1024, WINDOW = 64 };
    const size_t at = r->written % RING;
    if (at < NEAR || at < WINDOW * (r->widest + RECORD))
        return;
    r->known_read = atomic_load_explicit(&r->out->read, memory_order_acquire);
    if (r->known_read != r->written)
        return;
    ring_skip_to_end(r);
    r->widest = 0;
}

/* Without a fence, which would cost as much as the message: a wake-up that is missed by a hair
 * costs the reader the rest of its sleep. Sleeps become long where messages come seldom, and so is
 * a miss: some 50 ns in all the time between two of them. */
static void peer_wake(struct endpoint *e, enum ring_sleep least)
{
    struct ring *out = e->rings->out;
    if (atomic_load_explicit(&out->asleep, memory_order_relaxed) >= least &&
        atomic_exchange(&out->asleep, RING_AWAKE) != RING_AWAKE)
        (void)!send(e->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static enum ring_sleep sleep_that_ends(enum transport_urgency urgency)
{
    return urgency == TRANSPORT_URGENT ? RING_PROGRESS : RING_ASLEEP;
}

static inline void record_publish(struct endpoint *e, uint8_t *p, enum kind kind,
                                  size_t head_length, uint64_t length, size_t body)
{
    struct rings *r = e->rings;
    const size_t size = RECORD + record_rounded(body);
    p[4] = (uint8_t)kind;
    p[5] = (uint8_t)head_length;
    memcpy(p + 8, &length, sizeof length);
    atomic_store_explicit(ring_word(r->out, r->written + size), 0, memory_order_relaxed);
    atomic_store_explicit(ring_word(r->out, r->written), (uint32_t)size, memory_order_release);
    r->written += size;
}

static void record_publish_and_wake(struct endpoint *e, uint8_t *p, enum kind kind,
                                    size_t head_length, uint64_t length, size_t body)
{
    record_publish(e, p, kind, head_length, length, body);
    peer_wake(e, sleep_that_ends(TRANSPORT_URGENT));
}

/* Wakes nobody. */
static inline bool frame_write(struct endpoint *e, const void *head, size_t head_length,
                               const void *payload, size_t length)
{
    uint8_t *p = record_reserve(e->rings, head_length + length);
    if (p == NULL)
        return false;
    if (head_length > 0)
        memcpy(p + RECORD, head, head_length);
    if (length > 0)
        memcpy(p + RECORD + head_length, payload, length);
    record_publish(e, p, FRAME, head_length, length, head_length + length);
    return true;
}

/* Answers to many frames that are read in one go would each wake the peer, and it would find one.
 */
static enum transport_urgency wake_late(struct transport *t, struct endpoint *e,
                                        enum transport_urgency urgency)
{
    if (!t->reading || urgency == TRANSPORT_QUIET)
        return urgency;
    const enum ring_sleep least = sleep_that_ends(urgency);
    if (e->late == RING_AWAKE || least < e->late)
        e->late = least;
    t->late = true;
    return TRANSPORT_QUIET;
}

void shm_wake_late(struct transport *t)
{
    for (uint32_t i = 0; t->late && i < t->ring_count; i++) {
        struct endpoint *e = t->ring_peers[i];
        if (e->late != RING_AWAKE && e->state == LINK_OPEN)
            peer_wake(e, e->late);
        e->late = RING_AWAKE;
    }
    t->late = false;
    t->late_bytes = 0;
}

bool shm_send(struct transport *t, struct endpoint *e, enum transport_urgency urgency,
              const void *head, size_t head_length, const void *payload, size_t length)
{
    if (e->unwritten != NULL || !frame_write(e, head, head_length, payload, length))
        return false;
    urgency = wake_late(t, e, urgency);
    if (urgency != TRANSPORT_QUIET)
        peer_wake(e, sleep_that_ends(urgency));
    return true;
}

static bool frame_write_exposed(struct endpoint *e, const struct out_frame *f)
{
    uint64_t address = (uint64_t)(uintptr_t)f->payload;
    uint8_t *p = record_reserve(e->rings, f->head_length + sizeof address);
    if (p == NULL)
        return false;
    memcpy(p + RECORD, f->bytes + TCP_HEADER, f->head_length);
    memcpy(p + RECORD + f->head_length, &address, sizeof address);
    record_publish_and_wake(e, p, EXPOSED, f->head_length, f->length,
                            f->head_length + sizeof address);
    return true;
}

static bool frame_write_begin(struct endpoint *e, const struct out_frame *f)
{
    uint8_t *p = record_reserve(e->rings, f->head_length);
    if (p == NULL)
        return false;
    memcpy(p + RECORD, f->bytes + TCP_HEADER, f->head_length);
    record_publish_and_wake(e, p, BEGIN, f->head_length, f->length, f->head_length);
    return true;
}

static bool record_write_bare(struct endpoint *e, enum kind kind, uint64_t number)
{
    uint8_t *p = record_reserve(e->rings, 0);
    if (p == NULL)
        return false;
    record_publish_and_wake(e, p, kind, 0, number, 0);
    return true;
}

static bool frame_write_chunks(struct endpoint *e, const struct out_frame *f)
{
    while (e->offset - 1 < f->length) { /* 0: not begun */
        size_t at = e->offset - 1, n = f->length - at < CHUNK ? f->length - at : CHUNK;
        uint8_t *p = record_reserve(e->rings, n);
        if (p == NULL)
            return false;
        memcpy(p + RECORD, f->payload + at, n);
        record_publish_and_wake(e, p, CHUNKED, 0, n, n);
        e->offset += n;
    }
    return true;
}

/* Writes the first frame that is not yet written, as far as it goes; true when all of it is. */
static bool frame_write_next(struct transport *t, struct endpoint *e)
{
    struct out_frame *f = e->unwritten;
    bool small = f->length <= TRANSPORT_SMALL;
    if (e->offset == 0 && small) {
        if (!frame_write(e, f->bytes + TCP_HEADER, f->head_length, f->payload, f->length))
            return false;
        peer_wake(e, sleep_that_ends(TRANSPORT_URGENT));
    } else if (e->offset == 0 && f->token != NULL && e->rings->peer_can_read) {
        if (!frame_write_exposed(e, f))
            return false;
        f->exposed = true;
        t->exposed++;
    } else {
        if (e->offset == 0 && !frame_write_begin(e, f))
            return false;
        e->offset += e->offset == 0;
        if (!frame_write_chunks(e, f))
            return false;
    }
    e->unwritten = f->next; /* and stays in the queue until poll may call `sent` */
    e->offset = 0;
    return true;
}

static void read_done_tell(struct endpoint *e)
{
    if (e->rings->unreturned > 0 && record_write_bare(e, READ_DONE, e->rings->unreturned))
        e->rings->unreturned = 0;
}

static void frames_write(struct transport *t, struct endpoint *e)
{
    while (e->unwritten != NULL && frame_write_next(t, e))
        t->moved++;
}

/* Whatever sleeps on this side, such as the progress thread, is to be woken for room, too. */
static bool ring_ask_for_room(struct endpoint *e)
{
    uint32_t was = atomic_load_explicit(&e->rings->in->asleep, memory_order_relaxed);
    return (was == RING_PROGRESS || was == RING_ASLEEP) &&
           atomic_compare_exchange_strong(&e->rings->in->asleep, &was, RING_FULL);
}

void shm_flush(struct transport *t, struct endpoint *e)
{
    struct rings *r = e->rings;
    if (r->can_read && !r->said_can_read)
        r->said_can_read = record_write_bare(e, CAN_READ, 0);
    read_done_tell(e);
    frames_write(t, e);
    if (e->unwritten != NULL && ring_ask_for_room(e))
        frames_write(t, e); /* room may have come meanwhile */
    if (e->unwritten != NULL)
        peer_wake(e, RING_PROGRESS);
}

/* A frame that never fits in the ring waits for those before it, and not for room. */
bool shm_try(struct transport *t, struct endpoint *e, enum transport_urgency urgency,
             const void *head, size_t head_length, const void *payload, size_t length)
{
    const bool sent =
        shm_send(t, e, urgency, head, head_length, payload, length) ||
        (ring_ask_for_room(e) && shm_send(t, e, urgency, head, head_length, payload, length));
    if (sent)
        return true;
    e->wanted = record_needs(e->rings, length <= TRANSPORT_SMALL ? head_length + length : 0);
    peer_wake(e, RING_PROGRESS);
    return false;
}

static void ring_look_for_room(struct transport *t, struct endpoint *e)
{
    if (e->unwritten != NULL || !ring_has_room(e->rings, e->wanted))
        return;
    e->wanted = 0;
    t->moved++;
}

/* --- in --- */

static void read_done(struct transport *t, struct endpoint *e, uint64_t exposures)
{
    for (struct out_frame *f = e->first; f != e->unwritten && exposures > 0; f = f->next)
        if (f->exposed) {
            f->exposed = false;
            t->exposed--;
            exposures--;
        }
    t->moved++;
}

static void frames_say_sent(struct transport *t, struct endpoint *e)
{
    while (e->state == LINK_OPEN && e->first != e->unwritten && !e->first->exposed)
        endpoint_done_first(t, e);
}

static bool frame_remote_read(struct transport *t, struct endpoint *e, const uint8_t *p,
                              uint64_t length)
{
    uint64_t address;
    size_t head_length = p[5];
    memcpy(&address, p + RECORD + head_length, sizeof address);
    uint8_t *place = frame_begins(t, e, p + RECORD, head_length, length);
    if (place != NULL && !rings_read_from(e->rings->pid, place, address, length))
        return false;
    e->rings->unreturned++;
    read_done_tell(e); /* at once: the sender exposes only a few pieces at a time */
    frame_ends(t, e);
    return true;
}

static void chunk_take(struct transport *t, struct endpoint *e, const uint8_t *p, uint64_t length)
{
    if (!e->in.active || length > e->in.length - e->in.got)
        return;
    t->moved++;
    frame_goes_on(t, e, p + RECORD, length);
}

/* One record; false: the sender's memory is gone, and so is the sender. */
static bool record_take(struct transport *t, struct endpoint *e, uint8_t *p)
{
    size_t head_length = p[5];
    uint64_t length;
    memcpy(&length, p + 8, sizeof length);
    switch ((enum kind)p[4]) {
    case FRAME:
        frame_small(t, e, p + RECORD, head_length, p + RECORD + head_length, length);
        break;
    case BEGIN:
        frame_begins(t, e, p + RECORD, head_length, length);
        break;
    case CHUNKED:
        chunk_take(t, e, p, length);
        break;
    case EXPOSED:
        return frame_remote_read(t, e, p, length);
    case READ_DONE:
        read_done(t, e, length);
        break;
    case CAN_READ:
        e->rings->peer_can_read = true;
        break;
    case NOTHING:
    case SKIP:
        break;
    }
    return true;
}

static void ring_publish_read(struct rings *r)
{
    r->published = r->consumed;
    atomic_store_explicit(&r->in->read, r->consumed, memory_order_release);
}

static void ring_tell_room(struct endpoint *e)
{
    ring_publish_read(e->rings);
    e->rings->told = e->rings->consumed;
    peer_wake(e, RING_FULL);
}

bool shm_waiting(const struct endpoint *e)
{
    const struct rings *r = e->rings;
    return e->state == LINK_OPEN &&
           atomic_load_explicit(ring_word(r->in, r->consumed), memory_order_acquire) != 0;
}

void shm_poll(struct transport *t, struct endpoint *e)
{
    struct rings *r = e->rings;
    for (int i = 0; i < RECORDS_A_POLL && e->state == LINK_OPEN; i++) {
        uint32_t size = atomic_load_explicit(ring_word(r->in, r->consumed), memory_order_acquire);
        if (size == 0)
            break;
        bool alive = record_take(t, e, r->in->data + r->consumed % RING);
        r->consumed += size;
        if (!alive)
            endpoint_lost(t, e, "its memory is gone");
        else if (r->consumed - r->told >= RING / 4)
            ring_tell_room(e);
    }
    if (e->state != LINK_OPEN)
        return;
    if (r->published != r->consumed) {
        ring_publish_read(r);
        ring_begin_again(r); /* a peer that answers has most likely read all */
    }
    if (e->unwritten != NULL || r->unreturned > 0 || r->said_can_read != r->can_read)
        shm_flush(t, e);
    if (e->wanted > 0)
        ring_look_for_room(t, e);
    if (e->first != e->unwritten)
        frames_say_sent(t, e);
}

/* Asking for a wake-up and looking once more must not be swapped. */
void shm_arm(struct endpoint *e, enum ring_sleep how)
{
    if (e->state != LINK_OPEN)
        return;
    if (how != RING_AWAKE && (e->unwritten != NULL || e->wanted > 0))
        how = RING_FULL;
    atomic_store_explicit(&e->rings->in->asleep, how, memory_order_relaxed);
    if (how != RING_AWAKE && e->rings->told != e->rings->consumed)
        ring_tell_room(e);
    atomic_thread_fence(memory_order_seq_cst);
}

/* A ring outlives its writer. That the reader has the ring is known when something has come from
 * it. The reader closes a ring and then looks at what is in it; the writer writes and then looks
 * whether the ring is closed: one of them sees the other. */
bool shm_survives(const struct endpoint *e)
{
    atomic_thread_fence(memory_order_seq_cst);
    return e->unwritten == NULL && e->rings->consumed > 0 &&
           atomic_load_explicit(&e->rings->out->closed, memory_order_relaxed) == 0;
}

bool shm_drained(struct endpoint *e)
{
    atomic_store_explicit(&e->rings->in->closed, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    return !shm_waiting(e);
}

void shm_ready(struct transport *t, struct endpoint *e)
{
    char wakes[64];
    ssize_t n = recv(e->fd, wakes, sizeof wakes, MSG_DONTWAIT);
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    while (shm_waiting(e)) /* what it wrote before its end counts */
        shm_poll(t, e);
    if (e->state == LINK_OPEN)
        endpoint_lost(t, e, "its process has ended");
}
