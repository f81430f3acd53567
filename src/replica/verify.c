/* SPDX-License-Identifier: BSD-3-Clause */
/* verify.c -- compares what lanes send: it must be the same, or the program's result is not to be
 * trusted. With payloads verified and three lanes or more, the one that differs is outvoted. */
#include "state.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void verify_diverged(struct engine *e, const struct channel *c, int lane, uint64_t first,
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
                DIVERGED "rank %d sends rank %d other %s in lane %d than in lane %d (communicator "
                         "%016" PRIx64 ".%u, %s, %s)" DIVERGED_MEND,
                e->rank, c->world, what, lane, e->lane, c->comm->name.group, c->comm->name.count,
                tag, range);
}

/* What the lane's replica of this rank sent was wrong, so what the receiving replica of that lane
 * does is wrong too. */
static void verify_drop_lane(struct engine *e, int world, int lane)
{
    death_outvote(e, replica_of(e, e->rank, lane));
    death_outvote(e, replica_of(e, world, lane));
}

/* Has this rank's replica in the lane itself sent what the lane got? It is no witness when another
 * did for it. */
static bool verify_sends_itself(const struct engine *e, int lane)
{
    return !e->link[replica_of(e, e->rank, lane)].dead;
}

/* Replicas that are not dead: they live, or have ended well. */
static lanes_t verify_undead(const struct engine *e, int world)
{
    lanes_t set = 0;
    for (int k = 0; k < e->lanes; k++)
        if (!e->link[replica_of(e, world, k)].dead)
            set |= lane_bit(k);
    return set;
}

/* Lanes that may yet say whether they got the same as this one sends. */
static lanes_t verify_may_tell(const struct engine *e, int world)
{
    return e->by_rank[e->rank].living & e->by_rank[world].living & (lanes_t)~lane_bit(e->lane);
}

/* It was outvoted before: then everything that it has sent is in doubt. */
static bool verify_is_outvoted(const struct engine *e, int lane)
{
    return e->link[replica_of(e, e->rank, lane)].outvoted;
}

enum verdict { VERDICT_WAIT, VERDICT_ITS_FAULT, VERDICT_OUR_FAULT, VERDICT_UNDECIDED };

/* Two against one. `same` got from other replicas what this one sends, `other` got something else,
 * one of which is judged; `open` have still to tell. */
static enum verdict verify_judge(const struct engine *e, int lane, lanes_t same, lanes_t other,
                                 lanes_t open)
{
    int needed =
        lane == e->lane ? 2 : 1; /* what our own lane got, we have sent: no third opinion */
    lanes_t against = 0;
    FOR_LANES (k, other)
        if (verify_sends_itself(e, k) && k != e->lane)
            against |= lane_bit(k);
    if (!e->limits.verify)
        return VERDICT_UNDECIDED;
    if (__builtin_popcount(same) >= needed || verify_is_outvoted(e, lane))
        return VERDICT_ITS_FAULT;
    if (against & (against - 1))
        return VERDICT_OUR_FAULT;
    return open ? VERDICT_WAIT : VERDICT_UNDECIDED;
}

/* Lanes that got, up to this number, from another replica what this one has sent. */
static lanes_t verify_alike(const struct engine *e, const struct channel *c, uint64_t number)
{
    lanes_t set = 0;
    for (int k = 0; k < e->lanes; k++)
        if (k != e->lane && c->view[k].agreed >= number && verify_sends_itself(e, k))
            set |= lane_bit(k);
    return set;
}

static lanes_t verify_doubted(const struct engine *e, const struct channel *c)
{
    lanes_t set = 0;
    FOR_LANES (k, verify_undead(e, c->world))
        if (c->view[k].doubt)
            set |= lane_bit(k);
    return set;
}

/* False: undecided, and the caller has to say which messages differ. */
static bool verify_carry_out(struct engine *e, enum verdict verdict, int world, int lane)
{
    switch (verdict) {
    case VERDICT_WAIT:
        e->doubtful = true;
        return true;
    case VERDICT_ITS_FAULT:
        verify_drop_lane(e, world, lane);
        return true;
    case VERDICT_OUR_FAULT:
        death_outvote(e, e->self);
        return true;
    case VERDICT_UNDECIDED:
        break;
    }
    return false;
}

static void verify_judge_channel(struct engine *e, struct channel *c)
{
    lanes_t other = verify_doubted(e, c), open = verify_may_tell(e, c->world) & (lanes_t)~other;
    FOR_LANES (k, other) {
        const struct view *v = &c->view[k];
        if (!verify_carry_out(e, verify_judge(e, k, verify_alike(e, c, v->doubt), other, open),
                              c->world, k))
            verify_diverged(e, c, k, v->agreed, v->doubt - 1,
                            e->limits.verify ? "bytes" : "tags or lengths");
    }
}

/* Up to number, the lane's hash of the channel is, or is not, the same as here. */
void verify_channel(struct engine *e, struct channel *c, int lane, uint64_t number, bool same)
{
    struct view *v = &c->view[lane];
    if (same && number > v->agreed)
        v->agreed = number;
    else if (!same && v->doubt == 0)
        v->doubt = number;
    if (verify_doubted(e, c))
        verify_judge_channel(e, c);
}

static void verify_judge_entry(struct engine *e, struct entry *entry)
{
    const struct channel *c = entry->channel;
    lanes_t other = entry->other & verify_undead(e, c->world);
    lanes_t open = verify_may_tell(e, c->world) & entry->have_not & (lanes_t)~other;
    FOR_LANES (k, other)
        if (!verify_carry_out(e, verify_judge(e, k, entry->same, other, open), c->world, k))
            verify_diverged(e, c, k, entry->number, entry->number, "bytes");
}

/* A lane has this message. `hash`: of its bytes, if these are verified, else of the channel. */
void verify_entry(struct engine *e, struct entry *entry, int lane, uint64_t hash)
{
    if (!e->limits.verify) {
        verify_channel(e, entry->channel, lane, entry->number + 1, hash == entry->rolling);
        return;
    }
    if (!entry->rendezvous)
        return;
    if (hash != entry->wait->payload)
        entry->other |= lane_bit(lane);
    else if (lane != e->lane && verify_sends_itself(e, lane))
        entry->same |= lane_bit(lane);
    verify_judge_entry(e, entry);
}

static void verify_all_of(struct engine *e, struct channel *c, int arg)
{
    struct entry *entry;
    (void)arg;
    verify_judge_channel(e, c);
    TAILQ_FOREACH (entry, &c->entries, sent)
        verify_judge_entry(e, entry);
}

/* A replica that could have told is gone: judge again. */
void verify_again(struct engine *e)
{
    if (!e->doubtful)
        return;
    e->doubtful = false;
    struct engine_comm *c;
    LIST_FOREACH (c, &e->comms, all)
        channel_each(e, c, verify_all_of, 0);
}
