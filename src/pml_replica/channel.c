/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.c -- finds the channel of a message. In a channel all lanes send in the same order.
 *
 * That holds for all user tags of a communicator together. It does not for internal tags: progress
 * sends them, and nonblocking collectives that are in flight together progress differently in every
 * lane. There each tag is a channel. Tags of nonblocking collectives are used once and come in a
 * cycle; a window of them is kept: a tag whose place a younger one took is closed. */
#include "state.h"
#include <stdlib.h>
#include <string.h>

static struct channel *channel_make(struct engine *e, struct engine_comm *comm, int world, int tag,
                                    bool by_tag)
{
    struct channel *c = engine_memory(sizeof *c + (size_t)e->lanes * sizeof c->view[0]);
    c->comm = comm;
    c->world = world;
    c->tag = tag;
    c->by_tag = by_tag;
    TAILQ_INSERT_TAIL(&comm->channels, c, of_comm);
    TAILQ_INIT(&c->entries);
    TAILQ_INIT(&c->coming);
    TAILQ_INIT(&c->early);
    return c;
}

static void channel_free(struct engine *e, struct channel *c)
{
    struct early *early;
    struct engine_message *m;
    log_clear(e, c);
    while ((early = TAILQ_FIRST(&c->early))) {
        TAILQ_REMOVE(&c->early, early, by_number);
        free(early);
    }
    while ((m = TAILQ_FIRST(&c->coming)))
        message_free(m);
    if (c->unacked)
        TAILQ_REMOVE(&e->of[c->world].dirty, c, dirty);
    if (c->pending)
        TAILQ_REMOVE(&e->pending, c, to_send);
    TAILQ_REMOVE(&c->comm->channels, c, of_comm);
    free(c);
}

static struct tag_slot *slot_of(struct partner *p, int tag)
{
    unsigned mask = p->tag_size - 1, i = (uint32_t)tag * 2654435761u & mask;
    while (p->tags[i].channel && p->tags[i].tag != tag)
        i = (i + 1) & mask;
    return &p->tags[i];
}

static void tags_grow(struct partner *p)
{
    struct tag_slot *old = p->tags;
    unsigned size = p->tag_size;
    p->tag_size = size ? 2 * size : 16;
    p->tags = engine_memory(p->tag_size * sizeof *p->tags);
    for (unsigned i = 0; i < size; i++)
        if (old[i].channel)
            *slot_of(p, old[i].tag) = old[i];
    free(old);
}

static struct channel *of_tag(struct engine *e, struct engine_comm *comm, struct partner *p,
                              int world, int tag, bool by_tag)
{
    if (2 * p->tag_count >= p->tag_size)
        tags_grow(p);
    struct tag_slot *s = slot_of(p, tag);
    if (!s->channel) {
        *s = (struct tag_slot){tag, channel_make(e, comm, world, tag, by_tag)};
        p->tag_count++;
    }
    return s->channel;
}

static bool in_cycle(const struct engine_limits *l, int tag)
{
    return tag <= l->cycle_first && tag >= l->cycle_last &&
           !(tag <= l->fixed_first && tag >= l->fixed_last);
}

/* Was tag a given out after tag b? Half a cycle apart is far enough to be sure. */
static bool is_younger(const struct engine_limits *l, int a, int b)
{
    int64_t cycle = (int64_t)l->cycle_first - l->cycle_last + 1, ahead = (int64_t)b - a;
    if (ahead < 0)
        ahead += cycle;
    return ahead < cycle / 2;
}

static bool is_quiet(const struct channel *c)
{
    return TAILQ_EMPTY(&c->entries) && c->messages == 0 && !c->unacked && TAILQ_EMPTY(&c->early);
}

/* Its tag lost its place to a younger one; a slow lane may still need it. */
static void retire(struct engine *e, struct channel *c)
{
    struct channel *i, *next;
    LIST_INSERT_HEAD(&c->comm->retired, c, retired);
    if (c->unacked)
        ack_flush(e, c->world);
    for (i = LIST_FIRST(&c->comm->retired); i; i = next) {
        next = LIST_NEXT(i, retired);
        if (!is_quiet(i))
            continue;
        LIST_REMOVE(i, retired);
        channel_free(e, i);
    }
}

static struct channel *find_retired(struct engine_comm *comm, int world, int tag)
{
    struct channel *c;
    LIST_FOREACH (c, &comm->retired, retired)
        if (c->world == world && c->tag == tag)
            break;
    return c;
}

static struct channel *of_cycle(struct engine *e, struct engine_comm *comm, struct partner *p,
                                int world, int tag)
{
    if (!p->cycle)
        p->cycle = engine_memory(ENGINE_WINDOW * sizeof *p->cycle);
    struct channel **at = &p->cycle[(unsigned)(e->limits.cycle_first - tag) % ENGINE_WINDOW];
    if (*at && (*at)->tag == tag)
        return *at;
    if (*at && !is_younger(&e->limits, tag, (*at)->tag))
        return find_retired(comm, world, tag);
    if (*at)
        retire(e, *at);
    return *at = channel_make(e, comm, world, tag, false);
}

struct channel *channel_find(struct engine *e, struct engine_comm *comm, int world, int tag,
                             bool by_tag)
{
    struct partner *p = comm->partner[world];
    if (!p)
        p = comm->partner[world] = engine_memory(sizeof *p);
    if (tag >= 0 && !by_tag) {
        if (!p->user)
            p->user = channel_make(e, comm, world, CHANNEL_USER, false);
        return p->user;
    }
    if (tag < 0 && in_cycle(&e->limits, tag))
        return of_cycle(e, comm, p, world, tag);
    return of_tag(e, comm, p, world, tag, by_tag);
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
        if (p) {
            free(p->cycle);
            free(p->tags);
        }
        free(p);
    }
}
