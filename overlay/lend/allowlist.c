/* SPDX-License-Identifier: BSD-3-Clause */
/* allowlist.c -- the peers of guests' jobs, and who of them has been met. */
#include "allowlist.h"
#include "overlay/node/node.h"
#include "overlay/sandbox/room.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8192, ALIKE_MOST = ROOM_PEERS_MOST };

/* Who was not met is still one who may call. */
enum acquaintance { LOOKED_AT, MET, NOT_MET };

struct fellow {
    struct id job, submitter;
    struct part_peer peer;
    enum acquaintance how;
};

struct company {
    struct node *node;
    company_changed_fn *changed;
    void *ctx;
    struct fellow *all;
    size_t count;
};

int company_open(struct company **out, struct node *node, company_changed_fn *changed, void *ctx)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return -ENOMEM;
    **out = (struct company){.node = node, .changed = changed, .ctx = ctx};
    return 0;
}

void company_close(struct company *c)
{
    if (c == NULL)
        return;
    links_forget_met(c->node->links, c);
    free(c->all);
    free(c);
}

/* Who answers there is who it was said to be, or nobody's guest calls that address for it. */
static void on_met(void *ctx, const struct addr *at, const struct link_peer *who, const char *why)
{
    struct company *c = ctx;
    (void)why;
    for (size_t i = 0; i < c->count; i++) {
        struct fellow *f = &c->all[i];
        if (f->how == MET || !addr_equal(&f->peer.addr, at))
            continue;
        f->how = who != NULL && id_equal(&who->peer.id, &f->peer.id) ? MET : NOT_MET;
        c->changed(c->ctx, &f->submitter);
    }
}

static bool is_there(const struct company *c, const struct fellow *f)
{
    for (size_t i = 0; i < c->count; i++)
        if (id_equal(&c->all[i].job, &f->job) && id_equal(&c->all[i].submitter, &f->submitter) &&
            id_equal(&c->all[i].peer.id, &f->peer.id))
            return true;
    return false;
}

static size_t count_of(const struct company *c, const struct id *submitter)
{
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++)
        n += id_equal(&c->all[i].submitter, submitter);
    return n;
}

static void add(struct company *c, const struct fellow *f)
{
    struct fellow *more = c->count < MOST && count_of(c, &f->submitter) < ALIKE_MOST
                              ? realloc(c->all, (c->count + 1) * sizeof *more)
                              : NULL;
    if (more == NULL)
        return;
    c->all = more;
    more[c->count++] = *f;
}

void company_enter(struct company *c, const struct id *submitter, const struct msg_group_enter *m)
{
    struct id self = links_self(c->node->links).id;
    for (unsigned i = 0; i < m->members_count; i++) {
        const struct fellow f = {.job = m->job, .submitter = *submitter, .peer = m->members[i]};
        if (!id_equal(&f.peer.id, &self) && f.peer.addr.port != 0 && !is_there(c, &f))
            add(c, &f);
    }
    c->changed(c->ctx, submitter); /* they are being looked at */
    for (unsigned i = 0; i < m->members_count; i++) {
        const struct addr *at = &m->members[i].addr;
        if (!id_equal(&m->members[i].id, &self) && at->port != 0 &&
            links_meet(c->node->links, at, on_met, c) < 0)
            on_met(c, at, NULL, "");
    }
}

void company_leave(struct company *c, const struct id *submitter, const struct msg_group_leave *m)
{
    struct id self = links_self(c->node->links).id;
    for (unsigned i = 0; i < m->members_count; i++) {
        const struct id *gone = &m->members[i].id;
        bool all = id_equal(gone, &self) || id_equal(gone, submitter);
        for (size_t k = 0; k < c->count;)
            if (id_equal(&c->all[k].job, &m->job) && id_equal(&c->all[k].submitter, submitter) &&
                (all || id_equal(&c->all[k].peer.id, gone)))
                c->all[k] = c->all[--c->count];
            else
                k++;
    }
    c->changed(c->ctx, submitter);
}

void company_forget(struct company *c, const struct id *submitter)
{
    for (size_t i = 0; i < c->count;)
        if (id_equal(&c->all[i].submitter, submitter))
            c->all[i] = c->all[--c->count];
        else
            i++;
}

bool company_names(const struct company *c, const struct id *submitter, const struct id *peer)
{
    for (size_t i = 0; i < c->count; i++)
        if (id_equal(&c->all[i].submitter, submitter) && id_equal(&c->all[i].peer.id, peer))
            return true;
    return false;
}

static bool is_met_at(const struct fellow *f, const struct id *submitter, const uint8_t ip[16])
{
    return f->how == MET && id_equal(&f->submitter, submitter) &&
           memcmp(f->peer.addr.ip, ip, sizeof f->peer.addr.ip) == 0;
}

/* A submitter's jobs may have it more than once. */
static bool came_before(const struct company *c, size_t at, const struct id *submitter,
                        const uint8_t ip[16])
{
    for (size_t i = 0; i < at; i++)
        if (is_met_at(&c->all[i], submitter, ip) &&
            id_equal(&c->all[i].peer.id, &c->all[at].peer.id))
            return true;
    return false;
}

const struct part_peer *company_at(const struct company *c, const struct id *submitter,
                                   const uint8_t ip[16], size_t *next)
{
    while (*next < c->count) {
        const size_t at = (*next)++;
        if (is_met_at(&c->all[at], submitter, ip) && !came_before(c, at, submitter, ip))
            return &c->all[at].peer;
    }
    return NULL;
}

uint8_t *company_list(const struct company *c, const struct id *submitter, size_t *length)
{
    size_t count = count_of(c, submitter), at = 0;
    uint8_t *list = malloc(count * ROOM_PEER + 1);
    for (size_t i = 0; list != NULL && i < c->count; i++) {
        const struct fellow *f = &c->all[i];
        if (!id_equal(&f->submitter, submitter) || f->how == NOT_MET)
            continue;
        memcpy(list + at, f->peer.addr.ip, sizeof f->peer.addr.ip);
        list[at + sizeof f->peer.addr.ip] = f->how == MET;
        at += ROOM_PEER;
    }
    *length = at;
    return list;
}
