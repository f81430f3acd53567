/* SPDX-License-Identifier: BSD-3-Clause */
/* rings.h -- the memory that two processes of one host share: a ring for each direction. */
#ifndef P2P_SRC_TRANSPORT_RINGS_H
#define P2P_SRC_TRANSPORT_RINGS_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { RING = 256 * 1024, LINE = 64, LOANS = 64 };

/* What makes a byte on the socket wake the reader of a ring up? Each adds to those before it. */
enum ring_sleep {
    RING_AWAKE,    /* nothing */
    RING_ATTENDED, /* what is urgent, as an attendant is there for that */
    RING_ASLEEP,   /* what a program may be waiting for */
    RING_FULL,     /* room in the ring that it writes */
};

/* Shared. By the reader of this ring: bytes consumed so far; enum ring_sleep; it reads what is in,
 * and nothing that comes later. */
struct ring {
    _Alignas(LINE) _Atomic uint64_t read;
    _Alignas(LINE) _Atomic uint32_t asleep;
    _Atomic uint32_t closed;
    /* By the ring's writer: what it has lent to its reader (remote_read.c), the turn of each; 0:
     * nothing. By the reader: it is reading some of that. */
    _Alignas(LINE) _Atomic uint32_t loans[LOANS];
    _Alignas(LINE) _Atomic uint32_t reading;
    _Alignas(LINE) uint8_t data[RING];
};

struct rings {
    struct ring *out, *in;
    void *map;
    uint64_t written, known_read; /* out */
    uint64_t consumed, published; /* in */
    uint64_t owed;                /* payloads of the peer's that were read, to be told */
    uint64_t lent;                /* bit i: out->loans[i] is in use */
    uint32_t turn;                /* of the last loan */
    int pid;
    bool can_read, peer_reads, said_reads;
};

/* From the memory of another process, all of it. */
bool rings_read_from(int pid, void *to, uint64_t from, size_t length);
#endif
