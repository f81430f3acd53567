/* SPDX-License-Identifier: BSD-3-Clause */
/* fetch.h -- a peer that fetches the objects of a list, as a pure state machine: it asks whom the
 * offerer names, reports what came, and gives up on those that say nothing. Time is milliseconds.
 */
#ifndef P2P_OVERLAY_CORE_FILES_FETCH_H
#define P2P_OVERLAY_CORE_FILES_FETCH_H
#include "overlay/wire/message.h"

enum {
    FETCH_COMING = 8,         /* at a time; the offerer keeps to fewer */
    FETCH_GIVER_MS = 15000,   /* without a byte from a giver, and the next one is asked for */
    FETCH_REJOIN_MS = 4000,   /* without a word of what to fetch, and the offerer is told again */
    FETCH_OFFERER_MS = 60000, /* without anything at all, and it is over */
};

struct fetch_coming {
    uint32_t object;
    uint32_t bytes; /* that are here, from its beginning */
    uint32_t size;  /* of what comes: packed, it is less than the object */
    struct part_peer giver;
    uint64_t heard_ms;
    bool used;
};

struct fetch {
    struct fetch_coming coming[FETCH_COMING];
    uint64_t heard_ms;  /* anything came */
    uint64_t joined_ms; /* the offerer was told what is here */
    bool over;
};

enum fetch_action_kind {
    FETCH_ASK,    /* .peer for .object */
    FETCH_FAILED, /* tell the offerer: .object did not come from .peer; .wrong */
    FETCH_JOIN,   /* tell the offerer what is here */
    FETCH_OVER,   /* the offerer is silent for too long */
};

struct fetch_action {
    enum fetch_action_kind kind;
    uint32_t object;
    struct part_peer peer;
    bool wrong;
};

struct fetch_out {
    size_t count;
    struct fetch_action action[FETCH_COMING + 2];
};

void fetch_init(struct fetch *f, uint64_t now_ms, struct fetch_out *out);
/* The offerer names a source; has: it is here already. */
void fetch_get(struct fetch *f, uint32_t object, const struct part_peer *giver, bool has,
               uint64_t now_ms, struct fetch_out *out);
/* Bytes of an object from that peer, of `size` in all: where they belong among the FETCH_COMING, or
 * -1: they were not asked for, are not the next ones, or are of another size than those before. */
int fetch_data(struct fetch *f, const struct id *giver, uint32_t object, uint32_t offset,
               uint32_t length, uint32_t size, uint64_t now_ms);
bool fetch_is_whole(const struct fetch *f, int place);
/* It came, and was right or wrong. */
void fetch_done(struct fetch *f, int place, bool right, struct fetch_out *out);
void fetch_refused(struct fetch *f, const struct id *giver, uint32_t object, struct fetch_out *out);
void fetch_gone(struct fetch *f, const struct id *giver, struct fetch_out *out);
void fetch_tick(struct fetch *f, uint64_t now_ms, struct fetch_out *out);
#endif
