/* SPDX-License-Identifier: BSD-3-Clause */
/* header.h -- the bytes before every payload between two processes of a replicated job.
 *
 *     0     1      2      4     8       16      20       24       32       40
 *     | kind | flags | zero | tag | group | count | length | number | extent |    little-endian
 *
 * length: bytes of payload that follow. group and count name the communicator, tag is the message's
 * (signed), number counts the messages of the channel. Extent and payload depend on the kind:
 *
 *     EAGER    a message; payload: its bytes
 *     OFFER    a large message is there; extent: its length; payload: a loan (engine.h), or none
 *     ASK      to the sender of the offer: its receive is posted, send
 *     BULK     a fragment of it; extent: offset in the message; payload: its bytes
 *     HAVE     it is here in full; extent: hash of its bytes if these are verified, else of the
 *              channel's messages up to it
 *     ACK      payload: records | group 8 | count 4 | tag 4 | number 8 | hash 8 |: all messages of
 *              the channel below number have come or are offered, hash rolls over them
 *     DECIDE   payload: decisions (decide.h), the first one's number is `number`
 *     DECIDED  all decisions below number are here
 *     AGREE    after a leader's death, from each other replica to the next one: DECIDED, and
 *              all that you lack went before this; extent: the next leader's vpid
 *     RALLY    to the other replicas of its rank: I have come to rally `number` (engine.h)
 *     WHERE    where is your program, what have you got from my rank (place.c)? extent 1: answer
 *              when you have sent all that others have got from yours
 *     HERE     the answer to WHERE `number`; acknowledgements went before it; extent: the place,
 *              of a replica of the same rank
 *     ATTACH   to the other replicas of its rank: memory `number`, extent: its length, is the
 *              tag-th that was attached to the window (region.c)
 *     DEAD     payload: vpids, 4 bytes each; extent: enum header_death
 *     PING     a sign of life is wanted
 *     PONG     and given
 *     BYE      I need nothing, and nothing more will come: the end of this link is no death
 *     DONE     before that, if payloads are verified: all that I sent was compared */
#ifndef P2P_SRC_REPLICA_HEADER_H
#define P2P_SRC_REPLICA_HEADER_H
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
    HEADER_RALLY,
    HEADER_WHERE,
    HEADER_HERE,
    HEADER_ATTACH,
    HEADER_PING,
    HEADER_PONG,
    HEADER_BYE,
    HEADER_DONE,
};

enum header_flag {
    HEADER_BY_TAG = 1, /* the communicator's messages are numbered for each tag */
    HEADER_SYNC = 2,   /* EAGER: say HAVE when it is matched; OFFER: say whether that is for good */
    HEADER_CLOSED = 4, /* ACK, HAVE: the communicator is no more, so there is no hash */
    HEADER_FIRM = 8,   /* HAVE: the program of the receiver will never see it otherwise */
    HEADER_KEPT = 16,  /* DECIDE, DECIDED: the link keeps it, and nobody waits for the answer */
};

enum header_death {
    HEADER_ODD = 1,      /* they were outvoted */
    HEADER_DECLARED = 2, /* they may live, and have to go */
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

/* May the transport refuse it for now? The others are few and small. */
static inline bool header_may_wait(const uint8_t *p)
{
    return p[0] == HEADER_EAGER || p[0] == HEADER_OFFER || p[0] == HEADER_BULK;
}

#endif
