/* SPDX-License-Identifier: BSD-3-Clause */
/* header.h -- the bytes before every payload between two processes of a replicated job.
 *
 *     0     1      2      4     8       16      20       24       32       40
 *     | kind | flags | zero | tag | group | count | length | number | extent |    little-endian
 *
 * length: bytes of payload that follow. group and count name the communicator, tag is the message's
 * (signed), number counts the messages of the channel. What else they mean depends on the kind
 * (doc/replication.md, section 2, has all of it):
 *
 *     EAGER    a message; payload: its bytes
 *     RTS      a large message is there; extent: its length; payload: a key to read it (engine.h),
 *              or none
 *     CTS      to the sender of RTS: its receive is posted, send
 *     DATA     a fragment of it; extent: offset in the message; payload: its bytes; the first one
 *              may come unasked (HEADER_HEAD)
 *     HAVE     it is here in full; extent: hash of its bytes if these are verified, else of the
 *              channel's messages up to it
 *     ACK      payload: records | group 8 | count 4 | tag 4 | number 8 | hash 8 |: of all messages
 *              of the channel below number, EAGER or RTS came; hash rolls over them
 *     DECIDE   payload: decisions (decide.h); the first one's number is `number`
 *     DECIDED  all decisions below number are here; extent: bytes of them that my program has used
 *     AGREE    after a leader's death, from each other replica to the next one: DECIDED, and
 *              all that you lack went before this; extent: the next leader, as a replica's number
 *     BARRIER  to the other replicas of its rank: this one has entered barrier `number` (engine.h)
 *     WHERE    where is your program, and which messages of my rank have you got (place.c)? extent
 *              1: answer when you have sent all that others have got from yours
 *     HERE     the answer to WHERE `number`; acknowledgements went before it; extent: the place,
 *              if the two are of the same rank
 *     ATTACH   to the other replicas of its rank: memory `number`, extent: its length, is the
 *              tag-th that was attached to the window (region.c)
 *     DEAD     payload: numbers of replicas, 4 bytes each; extent: enum header_death
 *     PING     a sign of life is wanted
 *     PONG     and given
 *     BYE      I need nothing, and nothing more will come: the end of this link is no death
 *     DONE     before that, if payloads are verified: all that I sent was compared
 *     WITNESS  what follows may depend on these decisions. payload: records | rank 4 | number 8 |
 *              decision (decide.h) |; extent: all replicas of my rank hold those below (witness.c)
 *     SETTLE   say when all replicas of your rank hold its decisions below `number`
 *     SETTLED  they do
 *     RECALL   after a leader's death, from the next one to all processes: which of its decisions
 *              do you know? payload: numbers of replicas, 4 bytes each, that are not there,
 *              whether they have died or said good-bye
 *     RECALLED the answer to RECALL `number`; WITNESS went before it
 *     LOOKS    my program, at place `extent`, waits for yours: say when that has left the place
 *              (look.c). number 1: I lead, and it waits until yours has used what I have decided
 *     PAST     the answer: mine is at place `extent`; what I have decided went before this */
#ifndef P2P_SRC_REPLICA_HEADER_H
#define P2P_SRC_REPLICA_HEADER_H
#include "overlay/base/bytes.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEADER_BYTES = 40, HEADER_ACK_BYTES = 32 };

enum header_kind {
    HEADER_EAGER = 1,
    HEADER_RTS,
    HEADER_CTS,
    HEADER_DATA,
    HEADER_HAVE,
    HEADER_ACK,
    HEADER_DECIDE,
    HEADER_DECIDED,
    HEADER_DEAD,
    HEADER_AGREE,
    HEADER_BARRIER,
    HEADER_WHERE,
    HEADER_HERE,
    HEADER_ATTACH,
    HEADER_PING,
    HEADER_PONG,
    HEADER_BYE,
    HEADER_DONE,
    HEADER_WITNESS,
    HEADER_SETTLE,
    HEADER_SETTLED,
    HEADER_RECALL,
    HEADER_RECALLED,
    HEADER_LOOKS,
    HEADER_PAST,
};

enum header_flag {
    HEADER_BY_TAG = 1, /* the communicator's messages are numbered for each tag */
    HEADER_SYNC =
        2, /* EAGER: send HAVE when it is matched; RTS: say in HAVE whether it is for good */
    HEADER_CLOSED = 4, /* ACK, HAVE: the communicator is no more, so there is no hash */
    HEADER_FIRM = 8,   /* HAVE: the program of the receiver will never see it otherwise */
    HEADER_SURVIVES =
        16, /* DECIDE, DECIDED: the link survives its writer, so nothing waits for the answer */
    HEADER_BESIDE = 32, /* HAVE with FIRM: the replica of its lane says so, too; no need to hurry */
    HEADER_HEAD = 64,   /* DATA: sent without being asked for; CTS: such a piece counts, if you sent
                           one */
};

enum header_death {
    HEADER_OUTVOTED = 1, /* they were outvoted */
    HEADER_DECLARED = 2, /* they may live, and then have to end */
};

struct header {
    uint8_t kind, flags;
    int32_t tag;
    uint64_t group;
    uint32_t count, length;
    uint64_t number, extent;
};

static inline void header_write(uint8_t *p, const struct header *h)
{
    p[0] = h->kind, p[1] = h->flags, p[2] = 0, p[3] = 0;
    bytes_put_u32(p + 4, (uint32_t)h->tag);
    bytes_put_u64(p + 8, h->group);
    bytes_put_u32(p + 16, h->count);
    bytes_put_u32(p + 20, h->length);
    bytes_put_u64(p + 24, h->number);
    bytes_put_u64(p + 32, h->extent);
}

/* False when the bytes are no header: an unknown kind, or a payload on a kind that has none. */
bool header_read(struct header *h, const uint8_t *p);

/* For the transport, which needs no more than these. */
static inline uint32_t header_length(const uint8_t *p)
{
    return bytes_get_u32(p + 20);
}

/* May the transport refuse the frame for now? All others are few and small. */
static inline bool header_may_wait(const uint8_t *p)
{
    return p[0] == HEADER_EAGER || p[0] == HEADER_RTS || p[0] == HEADER_DATA;
}

#endif
