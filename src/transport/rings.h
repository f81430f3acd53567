/* SPDX-License-Identifier: BSD-3-Clause */
/* rings.h -- the memory that two processes of one host share: a ring for each direction. */
#ifndef P2P_SRC_TRANSPORT_RINGS_H
#define P2P_SRC_TRANSPORT_RINGS_H
#include "turn.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { RING = 256 * 1024, LINE = 64, EXPOSURES = 64 };

/* For what does the writer of a ring wake its reader, by a byte on the socket? Each includes those
 * before it. */
enum ring_sleep {
    RING_AWAKE,    /* nothing */
    RING_PROGRESS, /* what is urgent: the progress thread listens */
    RING_ASLEEP,   /* what the program may be waiting for */
    RING_FULL,     /* room in the ring that it writes */
};

/* Shared. Written by the reader of this ring: bytes consumed so far; enum ring_sleep; whether it
 * reads what is in, and nothing that comes later. */
struct ring {
    _Alignas(LINE) _Atomic uint64_t read;
    _Alignas(LINE) _Atomic uint32_t asleep;
    _Atomic uint32_t closed;
    /* Written by the ring's writer: what it exposes to the reader (remote_read.c), the generation
     * of each; 0: nothing. Written by the reader: it is reading some of that. */
    _Alignas(LINE) _Atomic uint32_t exposures[EXPOSURES];
    _Alignas(LINE) _Atomic uint32_t reading;
    _Alignas(LINE) uint8_t data[RING];
};
_Static_assert(offsetof(struct ring, closed) == 68 && offsetof(struct ring, exposures) == 128 &&
                   offsetof(struct ring, reading) == 384 && offsetof(struct ring, data) == 448 &&
                   sizeof(struct ring) == 448 + RING,
               "as doc/replication.md, section 17, draws it");

struct rings {
    struct ring *out, *in;
    void *map;
    uint64_t written, known_read; /* out */
    size_t widest;                /* record since the ring began again */
    uint64_t consumed, published; /* in */
    uint64_t told;                /* what was consumed when a writer that waits was last woken */
    uint64_t unreturned; /* exposed payloads that were read, and the peer does not know yet */
    uint64_t exposed;    /* bit i: out->exposures[i] is in use */
    uint32_t generation; /* of the last exposure */
    int pid;
    struct turn turn; /* of the peer */
    bool can_read, peer_can_read, said_can_read;
};

/* From the memory of another process, all of it. */
bool rings_read_from(int pid, void *to, uint64_t from, size_t length);
#endif
