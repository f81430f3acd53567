/* SPDX-License-Identifier: BSD-3-Clause */
/* header.h -- the bytes before every payload between two processes of a replicated job.
 *
 *     0     1      2      4     8       16      20       24       32       40
 *     | kind | flags | zero | tag | group | count | length | number | extent |      little-endian
 *
 * length: bytes of payload that follow. group and count name the communicator, tag is the message's
 * (signed). number counts the messages of the channel. What extent means, and the payload, depend
 * on the kind:
 *
 *     HEADER_EAGER     a message; payload: its bytes
 *     HEADER_OFFER     a large or synchronous message is there; extent: its length; no payload
 *     HEADER_ASK       to the sender of the offer: its receive is posted, send
 *     HEADER_BULK      a fragment of it; extent: offset in the message; payload: its bytes
 *     HEADER_HAVE      the message `number` is here in full; extent: hash of its bytes, if these
 * are verified HEADER_ACK       payload: records of 32 bytes | group 8 | count 4 | tag 4 | number 8
 * | hash 8 |: all of the channel below number has been received or offered, hash rolls over all of
 * them HEADER_DECIDE    number: of the first decision in the payload (decide.h) HEADER_DECIDED
 * number: all decisions below are here HEADER_DEAD      payload: vpids of the dead, 4 bytes each
 *     HEADER_AGREE     after a leader's death: like DECIDED, and all decisions that the receiver
 * lacks went before it; extent: the leader that is agreed on, its vpid HEADER_PING, HEADER_PONG a
 * sign of life is wanted, given HEADER_BYE       nothing more will come, and nothing is needed: the
 * end of this link is no death */
#ifndef P2P_HEADER_H
#define P2P_HEADER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEADER_BYTES = 40, HEADER_ACK_BYTES = 32 };

enum header_kind {
    HEADER_EAGER = 1,
    HEADER_OFFER,
    HEADER_ASK,
    HEADER_BULK,
    HEADER_HAVE,
    HEADER_ACK,
    HEADER_DECIDE,
    HEADER_DECIDED,
    HEADER_DEAD,
    HEADER_AGREE,
    HEADER_PING,
    HEADER_PONG,
    HEADER_BYE,
};

struct header {
    uint8_t kind, flags;
    int32_t tag;
    uint64_t group;
    uint32_t count, length;
    uint64_t number, extent;
};

static inline void header_put_u32(uint8_t *p, uint32_t v)
{
    p[0] = v, p[1] = v >> 8, p[2] = v >> 16, p[3] = v >> 24;
}

static inline void header_put_u64(uint8_t *p, uint64_t v)
{
    header_put_u32(p, (uint32_t)v);
    header_put_u32(p + 4, (uint32_t)(v >> 32));
}

static inline uint32_t header_get_u32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t header_get_u64(const uint8_t *p)
{
    return header_get_u32(p) | (uint64_t)header_get_u32(p + 4) << 32;
}

static inline void header_write(uint8_t *p, const struct header *h)
{
    p[0] = h->kind, p[1] = h->flags, p[2] = 0, p[3] = 0;
    header_put_u32(p + 4, (uint32_t)h->tag);
    header_put_u64(p + 8, h->group);
    header_put_u32(p + 16, h->count);
    header_put_u32(p + 20, h->length);
    header_put_u64(p + 24, h->number);
    header_put_u64(p + 32, h->extent);
}

/* False when the bytes are no header: an unknown kind, or a payload on a kind that has none. */
bool header_read(struct header *h, const uint8_t *p);

/* For the transport, which needs no more than these. */
static inline uint32_t header_length(const uint8_t *p)
{
    return header_get_u32(p + 20);
}
#endif
