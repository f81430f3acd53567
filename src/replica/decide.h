/* SPDX-License-Identifier: BSD-3-Clause */
/* decide.h -- the decisions of one rank: one sequence, made by its leader, followed by the others.
 *
 * A record: | kind 1 | size 4 | value |; in a run of "not yet" kind has the top bit set, size is
 * the count and there is no value. Records are numbered from 0. Those that some living replica may
 * lack are retained, so that the next leader can pass them on; those with a place in the program
 * wait in `due` until the program gets there. */
#ifndef P2P_SRC_REPLICA_DECIDE_H
#define P2P_SRC_REPLICA_DECIDE_H
#include "engine.h"

enum { DECIDE_RUN = 0x80, DECIDE_HEADER = 5 };

struct fifo {
    uint8_t *base;
    size_t head, tail, size;
};

struct decide {
    struct fifo retained, due;
    uint64_t first; /* number of the first record retained */
    uint64_t told;  /* number after the last one sent to the others, */
    size_t told_at; /* and where it ends, counted from retained.head */
    uint64_t known; /* number after the last one that this replica has, */
    uint64_t bytes; /* and how long all of them are that it ever had: alike in all replicas */
    uint32_t run;   /* "not yet"s that are no record so far, all of one kind */
    uint8_t run_kind;
    uint64_t run_ms; /* when it began */
};

/* A point in the sequence. */
struct decide_mark {
    uint64_t number, bytes;
};

struct decide_record {
    uint8_t kind;
    uint32_t size; /* of value, or how many "not yet"s */
    const uint8_t *value;
};

/* Room for so many bytes more at its end. */
uint8_t *fifo_extend(struct fifo *f, size_t bytes);

void decide_clear(struct decide *d);
void decide_add(struct decide *d, uint8_t kind, const void *value, uint32_t size);
void decide_not_yet(struct decide *d, uint8_t kind, uint64_t now_ms);
void decide_close_run(struct decide *d);
/* Should the others be told something by now? A program that sleeps between its tests would wake
 * them with each one: a few "not yet"s wait a moment for more. */
bool decide_is_worth_telling(const struct decide *d, uint64_t now_ms, bool rests);
/* What the others have not been told: bytes, and the number of the first record; then it counts as
 * told. */
size_t decide_tell(struct decide *d, const uint8_t **bytes, uint64_t *first);
/* All that is retained from this number on. It counts from the first one. */
size_t decide_from(const struct decide *d, uint64_t number, const uint8_t **bytes);
/* All that has come since the mark, as far as it is retained, and the number of its first record;
 * the mark is at the end then. Counts nothing: however much waits, it takes as long. */
size_t decide_since(const struct decide *d, struct decide_mark *m, const uint8_t **bytes,
                    uint64_t *first);
/* Every living replica holds those below number. */
void decide_forget(struct decide *d, uint64_t number);
/* Reads one record; its length in bytes, or 0 if it is none. */
size_t decide_read(struct decide_record *r, const uint8_t *bytes, size_t length);
/* Adds a record from the leader; one with a place in the program becomes due. */
void decide_learn(struct decide *d, const struct decide_record *r);
/* Nothing follows from how often a program asks for these. */
static inline bool decide_is_look(uint8_t kind)
{
    return kind == DECIDE_TIME || kind == DECIDE_FACT;
}
/* The next decision that is due: its value's length (0: not yet), -EAGAIN: none is due, -EPROTO: it
 * is of another kind (*found), -EMSGSIZE: its value is longer than max. peek: it stays due. Times
 * and facts that the leader's program has asked for and this one does not are left out; -ENOENT: it
 * is the other way round. */
int decide_take(struct decide *d, uint8_t kind, void *value, size_t max, bool peek, uint8_t *found);
/* How long the records are that are due no more. */
uint64_t decide_used(const struct decide *d);
#endif
