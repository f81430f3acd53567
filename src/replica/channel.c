/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.c -- finds the channel of a message. In a channel all lanes send in the same order.
 *
 * That holds for all user tags of a communicator together. It does not for internal tags: progress
 * sends them, and nonblocking collectives that are in flight together progress differently in every
 * lane. There each tag is a channel.
 *
 * Each nonblocking collective has such a channel to itself. A lane that is far ahead makes channels
 * here of collectives that this lane has yet to begin, since it acknowledges their messages. The
 * size of its log bounds how many (log.c). When a collective is over here (cycle.h) and no lane
 * needs what it has sent, its channels are freed; late frames for it are dropped. */
#include "state.h"
#include <stdlib.h>
#include <string.h>

static bool is_of_cycle(const struct engine *e, int tag)
{
    return tag < 0 && cycle_has(&e->limits.cycle, tag);
}

size_t channel_size(const struct engine *e)
{
    return sizeof(struct channel) + (size_t)e->lanes * sizeof(struct view);
}

static struct channel *channel_make(struct engine *e, struct engine_comm *comm, int world, int tag,
                                    bool by_tag)
{
    struct channel *c = memory_zeroed(channel_size(e));
    c->comm = comm;
    c->world = world;
    c->tag = tag;
    c->by_tag = by_tag;
    TAILQ_INSERT_TAIL(&comm->channels, c, of_comm);
    engine_count(&e->counts.channels, &e->counts.channels_peak);
    TAILQ_INIT(&c->entries);
    TAILQ_INIT(&c->coming);
    TAILQ_INIT(&c->early);
    return c;
}

static void channel_free(struct engine *e, struct channel *c)
{
    struct early *early;
    struct engine_message *m;
    e->counts.channels--;
    if (is_of_cycle(e, c->tag))
        c->comm->once--;
    log_clear(e, c);
    while ((early = TAILQ_FIRST(&c->early))) {
        TAILQ_REMOVE(&c->early, early, by_number);
        free(early);
    }
    while ((m = TAILQ_FIRST(&c->coming)))
        message_free(e, m);
    if (c->unacked)
        TAILQ_REMOVE(&e->by_rank[c->world].dirty, c, dirty);
    if (c->pending)
        TAILQ_REMOVE(&e->pending, c, to_send);
    TAILQ_REMOVE(&c->comm->channels, c, of_comm);
    free(c);
}

static uint64_t tag_key(int tag)
{
    return (uint32_t)tag;
}

static struct channel *tag_add(struct engine *e, struct engine_comm *comm, struct partner *p,
                               int world, int tag, bool by_tag)
{
    struct channel *c = channel_make(e, comm, world, tag, by_tag);
    table_put(&p->tags, tag_key(tag), c);
    if (is_of_cycle(e, tag) && ++comm->once >= comm->once_most)
        comm_sweep_later(e, comm);
    return c;
}

struct channel *channel_search(struct engine *e, struct engine_comm *comm, int world, int tag,
                               bool by_tag)
{
    struct partner *p = comm->partner[world];
    if (!p)
        p = comm->partner[world] = memory_zeroed(sizeof *p);
    if (tag >= 0 && !by_tag) {
        if (!p->user)
            p->user = channel_make(e, comm, world, CHANNEL_USER, false);
        return p->user;
    }
    struct channel *c = table_get(&p->tags, tag_key(tag));
    if (c || (is_of_cycle(e, tag) && cycle_is_over(&comm->cycle, &e->limits.cycle, tag)))
        return c;
    return tag_add(e, comm, p, world, tag, by_tag);
}

/* --- nonblocking collectives --- */

static bool channel_is_needed(const struct engine *e, const struct channel *c)
{
    return !TAILQ_EMPTY(&c->entries) || c->messages > 0 || !is_of_cycle(e, c->tag) ||
           !cycle_is_over(&c->comm->cycle, &e->limits.cycle, c->tag);
}

static void channel_drop(struct engine *e, struct channel *c)
{
    struct partner *p = c->comm->partner[c->world];
    if (c->unacked)
        ack_flush(e, c->world);
    table_remove(&p->tags, tag_key(c->tag));
    channel_free(e, c);
}

void channel_sweep(struct engine *e, struct engine_comm *comm)
{
    struct channel *c, *next;
    for (c = TAILQ_FIRST(&comm->channels); c; c = next) {
        next = TAILQ_NEXT(c, of_comm);
        if (!channel_is_needed(e, c))
            channel_drop(e, c);
    }
    /* The threshold doubles, so that each channel is looked at a few times at most. */
    const unsigned least = 2 * (unsigned)e->limits.cycle.window;
    comm->once_most = 2 * comm->once > least ? 2 * comm->once : least;
}

bool channel_cycle_begins(struct engine *e, struct engine_comm *comm, int tag)
{
    if (!is_of_cycle(e, tag) || cycle_begin(&comm->cycle, &e->limits.cycle, tag))
        return true;
    engine_stop(e, 1,
                "rank %d starts a persistent collective again when %d others have begun on its "
                "communicator since, and cannot number its messages any more; start it more "
                "often, or give it a communicator of its own",
                e->rank, e->limits.cycle.window);
    return false;
}

void channel_cycle_ends(struct engine *e, struct engine_comm *comm, int tag)
{
    if (is_of_cycle(e, tag))
        cycle_end(&comm->cycle, tag);
}

struct channel *channel_named(struct engine *e, struct engine_comm *comm, int world, int name)
{
    bool user = name == CHANNEL_USER;
    return channel_find(e, comm, world, user ? 0 : name, !user && name >= 0);
}

void channel_each(struct engine *e, struct engine_comm *comm,
                  void (*visit)(struct engine *, struct channel *, int), int arg)
{
    struct channel *c, *next;
    for (c = TAILQ_FIRST(&comm->channels); c; c = next) {
        next = TAILQ_NEXT(c, of_comm);
        visit(e, c, arg);
    }
}

void channel_clear(struct engine *e, struct engine_comm *comm)
{
    struct channel *c;
    while ((c = TAILQ_FIRST(&comm->channels)))
        channel_free(e, c);
    for (int i = 0; i < e->ranks; i++) {
        struct partner *p = comm->partner[i];
        if (p)
            table_clear(&p->tags);
        free(p);
    }
    cycle_clear(&comm->cycle);
}

struct header channel_header(const struct channel *c, uint8_t kind, int tag, uint64_t number)
{
    return (struct header){.kind = kind,
                           .flags = c->by_tag ? HEADER_BY_TAG : 0,
                           .tag = tag,
                           .group = c->comm->name.group,
                           .count = c->comm->name.count,
                           .number = number};
}
