/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.c -- communicators by names that all processes of all lanes compute alike, without messages.
 */
#include "state.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_group(const int *world, int size)
{
    uint64_t h = hash_mix(0, (uint64_t)size);
    for (int i = 0; i < size; i++)
        h = hash_mix(h, (uint64_t)world[i]);
    return h;
}

/* Both sides of an intercommunicator compute the same name. */
static uint64_t name_group(const int *local, int local_size, const int *remote, int remote_size)
{
    uint64_t h = hash_group(local, local_size);
    if (!remote)
        return h;
    uint64_t other = hash_group(remote, remote_size);
    return h < other ? hash_mix(h, other) : hash_mix(other, h);
}

/* How many communicators a group has had. Context ids would not do: lanes assign them differently
 * when nonblocking operations overlap. */
static uintptr_t group_made(const struct engine *e, uint64_t group)
{
    return (uintptr_t)table_get(&e->groups, group);
}

static uint32_t group_next_count(struct engine *e, uint64_t group)
{
    const uintptr_t made = group_made(e, group);
    table_put(&e->groups, group, (void *)(made + 1));
    return (uint32_t)made;
}

static bool comm_was_made(const struct engine *e, uint64_t group, uint32_t count)
{
    return count < group_made(e, group);
}

static struct engine_comm **comm_bucket(const struct engine *e, const struct comm_name *name)
{
    return &e->bucket[hash_mix(name->group, name->count) & (e->bucket_count - 1)];
}

static struct engine_comm *comm_look_up(const struct engine *e, uint64_t group, uint32_t count)
{
    const struct comm_name name = {group, count};
    struct engine_comm *c = e->bucket_count > 0 ? *comm_bucket(e, &name) : NULL;
    while (c && (c->name.group != group || c->name.count != count))
        c = c->next;
    return c;
}

/* A lane that is ahead may name thousands that this lane has yet to make. */
static void comm_grow_buckets(struct engine *e)
{
    struct engine_comm *c, **at;
    free(e->bucket);
    e->bucket_count = e->bucket_count ? 2 * e->bucket_count : 64;
    e->bucket = memory_zeroed(e->bucket_count * sizeof *e->bucket);
    LIST_FOREACH (c, &e->comms, all) {
        at = comm_bucket(e, &c->name);
        c->next = *at;
        *at = c;
    }
}

size_t comm_size(const struct engine *e)
{
    const size_t by_rank = sizeof(struct partner *) + sizeof(struct match_source *);
    return sizeof(struct engine_comm) + (size_t)e->ranks * by_rank + sizeof(struct partner);
}

static struct engine_comm *comm_make(struct engine *e, uint64_t group, uint32_t count)
{
    struct engine_comm *c = memory_zeroed(sizeof *c), **at;
    if (e->counts.comms == e->bucket_count)
        comm_grow_buckets(e);
    engine_count(&e->counts.comms, &e->counts.comms_peak);
    LIST_INSERT_HEAD(&e->comms, c, all);
    c->name = (struct comm_name){group, count};
    c->once_most = 2 * (unsigned)e->limits.cycle.window;
    c->partner = memory_zeroed((size_t)e->ranks * sizeof *c->partner);
    TAILQ_INIT(&c->channels);
    match_init(&c->match, e->ranks, e->rank);
    at = comm_bucket(e, &c->name);
    c->next = *at;
    return *at = c;
}

struct engine_comm *comm_find_any(struct engine *e, uint64_t group, uint32_t count)
{
    struct engine_comm *c = comm_look_up(e, group, count);
    if (!c && comm_was_made(e, group, count))
        return NULL;
    if (!c)
        c = comm_make(e, group, count);
    return e->last_comm = c;
}

/* The unexpected messages are about to be freed; the sender of a large one must not wait for ever.
 */
static void channel_forget_unexpected(struct engine *e, struct channel *c, int say)
{
    struct engine_message *m, *next;
    for (m = TAILQ_FIRST(&c->coming); m; m = next) {
        next = TAILQ_NEXT(m, large->coming);
        if (!m->unexpected)
            continue;
        if (say)
            have_say(e, m);
        head_drop(e, m);
        TAILQ_REMOVE(&c->coming, m, large->coming);
        m->rendezvous = false;
    }
}

static void comm_unlist(struct engine *e, struct engine_comm *c)
{
    struct engine_comm **at = comm_bucket(e, &c->name);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    LIST_REMOVE(c, all);
    e->counts.comms--;
    if (e->last_comm == c)
        e->last_comm = NULL;
}

static void comm_destroy(struct engine *e, struct engine_comm *c)
{
    comm_unlist(e, c);
    channel_each(e, c, channel_forget_unexpected, false);
    match_clear(&c->match);
    channel_clear(e, c); /* which may list it */
    if (c->swept)
        LIST_REMOVE(c, sweep);
    region_clear(c);
    free(c->partner);
    free(c->world);
    free(c->rank_of);
    free(c);
}

void comm_sweep_later(struct engine *e, struct engine_comm *c)
{
    if (!c->swept)
        LIST_INSERT_HEAD(&e->sweep, c, sweep);
    c->swept = true;
}

/* A message of it is being read, by the transport. */
static bool comm_is_being_read(const struct engine *e, const struct engine_comm *c)
{
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].placed && e->link[i].placed->channel->comm == c)
            return true;
    return false;
}

void comm_sweep(struct engine *e)
{
    struct engine_comm *c, *next;
    for (c = LIST_FIRST(&e->sweep); c; c = next) {
        next = LIST_NEXT(c, sweep);
        if (c->freed && comm_is_being_read(e, c))
            continue;
        LIST_REMOVE(c, sweep);
        c->swept = false;
        if (c->freed && c->busy == 0)
            comm_destroy(e, c);
        else
            channel_sweep(e, c);
    }
}

void comm_clear(struct engine *e)
{
    struct engine_comm *c;
    while ((c = LIST_FIRST(&e->comms)))
        comm_destroy(e, c);
    free(e->bucket);
    table_clear(&e->groups);
}

static struct engine_comm *comm_bind(struct engine *e, uint64_t group, const int *world, int size,
                                     bool by_tag)
{
    uint32_t count = group_next_count(e, group);
    struct engine_comm *c = comm_look_up(e, group, count);
    if (!c)
        c = comm_make(e, group, count);
    c->bound = true;
    c->by_tag = by_tag;
    c->size = size;
    c->world = memory_zeroed((size_t)c->size * sizeof *c->world);
    memcpy(c->world, world, (size_t)c->size * sizeof *c->world);
    c->rank_of = memory_zeroed((size_t)e->ranks * sizeof *c->rank_of);
    memset(c->rank_of, -1, (size_t)e->ranks * sizeof *c->rank_of);
    for (int i = 0; i < c->size; i++)
        c->rank_of[c->world[i]] = i;
    return c;
}

struct engine_comm *engine_comm_add(struct engine *e, const int *local, int local_size,
                                    const int *remote, int remote_size, bool by_tag)
{
    uint64_t group = name_group(local, local_size, remote, remote_size);
    return remote ? comm_bind(e, group, remote, remote_size, by_tag)
                  : comm_bind(e, group, local, local_size, by_tag);
}

struct engine_comm *engine_comm_twin(struct engine *e, const struct engine_comm *of, bool by_tag)
{
    enum { TWIN = 2 };
    uint64_t group = hash_mix(hash_mix(of->name.group, of->name.count), TWIN);
    return comm_bind(e, group, of->world, of->size, by_tag);
}

/* Nothing that arrives later is looked at: acknowledge what did. */
static void channel_leave(struct engine *e, struct channel *c, int arg)
{
    (void)arg;
    if (c->unacked)
        ack_flush(e, c->world);
    channel_forget_unexpected(e, c, true);
}

void engine_comm_free(struct engine *e, struct engine_comm *c)
{
    c->freed = true;
    if (c->by_place)
        LIST_REMOVE(c, agents);
    channel_each(e, c, channel_leave, 0);
    if (e->last_comm == c)
        e->last_comm = NULL;
    match_clear(&c->match);
    comm_sweep_later(e, c);
}
