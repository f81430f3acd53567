/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.c -- communicators by names that all processes of all lanes find alone. */
#include "state.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many communicators a group has had. Context ids would not do: lanes give them out differently
 * when nonblocking operations overlap. */
struct group_count {
    uint64_t group;
    uint32_t count;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t hash_group(const int *world, int size)
{
    uint64_t h = mix(0, (uint64_t)size);
    for (int i = 0; i < size; i++)
        h = mix(h, (uint64_t)world[i]);
    return h;
}

/* Both sides of an intercommunicator find the same name. */
static uint64_t name_group(const int *local, int local_size, const int *remote, int remote_size)
{
    uint64_t h = hash_group(local, local_size);
    if (!remote)
        return h;
    uint64_t other = hash_group(remote, remote_size);
    return h < other ? mix(h, other) : mix(other, h);
}

static struct group_count *group_find(struct engine *e, uint64_t group)
{
    size_t mask = e->group_size - 1, i;
    if (e->group_size == 0)
        return NULL;
    for (i = group & mask; e->groups[i].count; i = (i + 1) & mask)
        if (e->groups[i].group == group)
            break;
    return &e->groups[i];
}

static void group_grow(struct engine *e)
{
    struct group_count *old = e->groups;
    size_t size = e->group_size;
    e->group_size = size ? 2 * size : 64;
    e->groups = engine_memory(e->group_size * sizeof *e->groups);
    for (size_t i = 0; i < size; i++)
        if (old[i].count)
            *group_find(e, old[i].group) = old[i];
    free(old);
}

static uint32_t next_count(struct engine *e, uint64_t group)
{
    if (2 * e->group_count >= e->group_size)
        group_grow(e);
    struct group_count *g = group_find(e, group);
    if (g->count == 0)
        e->group_count++;
    g->group = group;
    return g->count++;
}

static bool was_made(struct engine *e, uint64_t group, uint32_t count)
{
    struct group_count *g = group_find(e, group);
    return g && count < g->count;
}

static struct engine_comm **bucket_of(struct engine *e, uint64_t group, uint32_t count)
{
    return &e->bucket[(group ^ (group >> 32) ^ count) % COMM_BUCKETS];
}

static struct engine_comm *look_up(struct engine *e, uint64_t group, uint32_t count)
{
    struct engine_comm *c = *bucket_of(e, group, count);
    while (c && (c->name.group != group || c->name.count != count))
        c = c->next;
    return c;
}

static struct engine_comm *comm_make(struct engine *e, uint64_t group, uint32_t count)
{
    struct engine_comm *c = engine_memory(sizeof *c), **at = bucket_of(e, group, count);
    c->name = (struct comm_name){group, count};
    c->partner = engine_memory((size_t)e->ranks * sizeof *c->partner);
    TAILQ_INIT(&c->channels);
    LIST_INIT(&c->retired);
    if (match_init(&c->match, e->ranks) != 0)
        abort();
    c->next = *at;
    return *at = c;
}

struct engine_comm *comm_find(struct engine *e, uint64_t group, uint32_t count)
{
    struct engine_comm *c = e->last_comm;
    if (c && c->name.group == group && c->name.count == count)
        return c;
    c = look_up(e, group, count);
    if (!c && was_made(e, group, count))
        return NULL;
    if (!c)
        c = comm_make(e, group, count);
    return e->last_comm = c;
}

/* The unexpected are about to be freed; the sender of an offer should not wait for ever. */
static void forget_unexpected(struct engine *e, struct channel *c, int say)
{
    struct engine_message *m, *next;
    for (m = TAILQ_FIRST(&c->coming); m; m = next) {
        next = TAILQ_NEXT(m, coming);
        if (!m->unexpected)
            continue;
        if (say)
            receive_say_have(e, m, false);
        TAILQ_REMOVE(&c->coming, m, coming);
        m->offer = false;
    }
}

static void comm_destroy(struct engine *e, struct engine_comm *c)
{
    if (e->last_comm == c)
        e->last_comm = NULL;
    channel_each(e, c, forget_unexpected, false);
    match_clear(&c->match);
    channel_clear(e, c);
    free(c->partner);
    free(c->world);
    free(c->rank_of);
    free(c);
}

void comm_sweep(struct engine *e)
{
    struct engine_comm **at, *c;
    if (!e->sweep)
        return;
    e->sweep = false;
    for (int i = 0; i < COMM_BUCKETS; i++)
        for (at = &e->bucket[i]; (c = *at);) {
            if (c->freed && c->busy == 0) {
                *at = c->next;
                comm_destroy(e, c);
            } else {
                at = &c->next;
            }
        }
}

void comm_clear(struct engine *e)
{
    for (int i = 0; i < COMM_BUCKETS; i++)
        for (struct engine_comm *c = e->bucket[i], *next; c; c = next) {
            next = c->next;
            comm_destroy(e, c);
        }
    free(e->groups);
}

static struct engine_comm *comm_bind(struct engine *e, uint64_t group, const int *world, int size,
                                     bool by_tag)
{
    uint32_t count = next_count(e, group);
    struct engine_comm *c = look_up(e, group, count);
    if (!c)
        c = comm_make(e, group, count);
    c->bound = true;
    c->by_tag = by_tag;
    c->size = size;
    c->world = engine_memory((size_t)c->size * sizeof *c->world);
    memcpy(c->world, world, (size_t)c->size * sizeof *c->world);
    c->rank_of = engine_memory((size_t)e->ranks * sizeof *c->rank_of);
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
    uint64_t group = mix(mix(of->name.group, of->name.count), TWIN);
    return comm_bind(e, group, of->world, of->size, by_tag);
}

/* Nothing that arrives later is looked at: acknowledge what did. */
static void leave(struct engine *e, struct channel *c, int arg)
{
    (void)arg;
    if (c->unacked)
        ack_flush(e, c->world);
    forget_unexpected(e, c, true);
}

void engine_comm_free(struct engine *e, struct engine_comm *c)
{
    c->freed = true;
    channel_each(e, c, leave, 0);
    if (e->last_comm == c)
        e->last_comm = NULL;
    match_clear(&c->match);
    e->sweep |= c->busy == 0;
}
