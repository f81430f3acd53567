/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_link.c -- the connections to each other peer, and those whose peer is not known yet. */
#include "link_state.h"
#include <stdlib.h>

struct peer_link *peer_link_get(struct links *l, const struct id *id)
{
    struct peer_link *f = idmap_get(&l->peer_links, id);
    if (f != NULL)
        return f;
    f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->id = *id;
    f->waiting = evbuffer_new();
    if (f->waiting != NULL && idmap_put(&l->peer_links, id, f) == 0)
        return f;
    if (f->waiting != NULL)
        evbuffer_free(f->waiting);
    free(f);
    return NULL;
}

void peer_link_free(struct links *l, struct peer_link *f)
{
    idmap_remove(&l->peer_links, &f->id);
    for (unsigned i = 0; i < f->count; i++)
        connection_free(f->all[i]);
    l->connections -= f->count;
    evbuffer_free(f->waiting);
    free(f);
}

struct pending *pending_find(struct links *l, const struct connection *c, const struct id *wanted)
{
    for (struct pending *s = l->pending; s != NULL; s = s->next)
        if (c != NULL ? s->connection == c : !id_is_zero(wanted) && id_equal(&s->wanted, wanted))
            return s;
    return NULL;
}

void pending_remove(struct links *l, struct pending *s)
{
    struct pending **at = &l->pending;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free(s);
}

void peer_link_give_up(struct links *l, struct peer_link *f, const char *why)
{
    struct id id = f->id;
    peer_link_free(l, f);
    links_tell_gone(l, &id, why);
}

static bool peer_link_is_ending(const struct peer_link *f)
{
    for (unsigned i = 0; i < f->count; i++)
        if (connection_is_ending(f->all[i]))
            return true;
    return false;
}

void peer_link_choose(struct peer_link *f)
{
    if (f->in_use != NULL && !connection_is_open(f->in_use))
        f->in_use = NULL;
    if (f->in_use != NULL || peer_link_is_ending(f))
        return;
    for (unsigned i = 0; i < f->count && f->in_use == NULL; i++)
        if (connection_is_open(f->all[i]))
            f->in_use = f->all[i];
    size_t length = f->in_use != NULL ? evbuffer_get_length(f->waiting) : 0;
    if (length > 0) {
        connection_send(f->in_use, evbuffer_pullup(f->waiting, -1), length);
        evbuffer_drain(f->waiting, length);
    }
}

size_t peer_link_backlog(const struct peer_link *f)
{
    return evbuffer_get_length(f->waiting) +
           (f->in_use != NULL ? connection_backlog(f->in_use) : 0);
}

struct pending *pending_new(struct links *l, const struct id *wanted)
{
    struct pending *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    if (wanted != NULL)
        s->wanted = *wanted;
    s->next = l->pending;
    l->pending = s;
    return s;
}
