/* SPDX-License-Identifier: BSD-3-Clause */
/* verify.c -- compares what lanes send: they must send the same, or the program's result is not to
 * be trusted. With payloads verified and three lanes or more, the odd one is outvoted. */
#include "state.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t channel_roll(uint64_t hash, int tag, size_t length)
{
    return (hash ^ ((uint64_t)length << 32 ^ (uint32_t)tag)) * 0x9e3779b97f4a7c15u + 1;
}

/* Of pieces: all but the last must be a multiple of 8 bytes long. */
uint64_t payload_hash(uint64_t hash, const void *bytes, size_t length)
{
    const uint8_t *p = bytes;
    uint64_t word;
    for (; length >= 8; p += 8, length -= 8) {
        memcpy(&word, p, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    if (length > 0) {
        word = length;
        memcpy((uint8_t *)&word + 1, p, length);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

static void diverged(struct engine *e, const struct channel *c, int lane, uint64_t first,
                     uint64_t last, const char *what)
{
    char range[64], tag[32] = "user tags";
    if (c->tag != CHANNEL_USER)
        snprintf(tag, sizeof tag, "tag %d", c->tag);
    if (first == last)
        snprintf(range, sizeof range, "message %" PRIu64, last);
    else
        snprintf(range, sizeof range, "messages %" PRIu64 " to %" PRIu64, first, last);
    engine_stop(e, 1,
                "lanes have diverged: rank %d sends rank %d other %s in lane %d than in lane %d "
                "(communicator %016" PRIx64 ".%u, %s, %s); the program depends on something "
                "that differs between hosts, so no result is given",
                e->rank, c->world, what, lane, e->lane, c->comm->name.group, c->comm->name.count,
                tag, range);
}

/* What the lane's replica of this rank sent was wrong, so what that rank's replica does is too. */
static void drop_lane(struct engine *e, int world, int lane)
{
    death_outvote(e, vpid_of(e, e->rank, lane));
    death_outvote(e, vpid_of(e, world, lane));
}

static bool may_vote(const struct engine *e)
{
    return e->limits.verify && __builtin_popcount(e->of[e->rank].living) >= 3;
}

/* It was outvoted before: whom else it wrote to follows. */
static bool is_odd(const struct engine *e, int lane)
{
    return e->limits.verify && e->link[vpid_of(e, e->rank, lane)].odd;
}

/* Two against one: `same` send what this lane sends, `other` something else. */
static void vote(struct engine *e, int world, lanes_t same, lanes_t other)
{
    if (same)
        FOR_LANES (k, other)
            drop_lane(e, world, k);
    else if (__builtin_popcount(other) >= 2)
        death_outvote(e, e->self);
}

/* Up to number, the lane's hash of the channel is, or is not, the same as here. */
void verify_channel(struct engine *e, struct channel *c, int lane, uint64_t number, bool same)
{
    struct view *v = &c->view[lane];
    lanes_t alike = 0, differ = 0;
    uint64_t from = v->agreed;
    if (same)
        v->agreed = number;
    else if (v->doubt == 0)
        v->doubt = number;
    if (!same && is_odd(e, lane)) {
        drop_lane(e, c->world, lane);
        return;
    }
    if (!same && !may_vote(e)) {
        diverged(e, c, lane, from, number - 1, e->limits.verify ? "bytes" : "tags or lengths");
        return;
    }
    FOR_LANES (k, e->of[e->rank].living & ~only(e->lane))
        if (c->view[k].doubt)
            differ |= only(k);
    FOR_LANES (k, differ)
        FOR_LANES (i, e->of[e->rank].living & ~only(e->lane) & ~differ)
            if (c->view[i].agreed >= c->view[k].doubt)
                alike |= only(i);
    if (differ)
        vote(e, c->world, alike, differ);
}

void verify_entry(struct engine *e, struct entry *entry, int lane, uint64_t payload)
{
    if (!e->limits.verify || !entry->offer)
        return;
    if (payload == entry->payload)
        entry->same |= only(lane);
    else
        entry->other |= only(lane);
    entry->same &= (lanes_t)~only(e->lane); /* what it got is from here */
    if (!entry->other)
        return;
    if (is_odd(e, lane))
        drop_lane(e, entry->channel->world, lane);
    else if (may_vote(e))
        vote(e, entry->channel->world, entry->same, entry->other);
    else
        diverged(e, entry->channel, lane, entry->number, entry->number, "bytes");
}
