/* SPDX-License-Identifier: BSD-3-Clause */
/* company.c -- the peers of guests' jobs, and who of them has been met. */
#include "company.h"
#include "grant.h"
#include "node.h"
#include "room.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8192, ALIKE_MOST = ROOM_PEERS_MOST };

struct fellow {
    struct id job, submitter;
    struct part_peer peer;
    bool met;
};

struct company {
    struct node *node;
    struct fellow *all;
    size_t count;
};

int company_open(struct company **out, struct node *node)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return -ENOMEM;
    (*out)->node = node;
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

static void changed(struct company *c, const struct id *submitter)
{
    if (c->node->grant != NULL)
        grant_peers(c->node->grant, submitter);
}

/* Who answers there is who it was said to be, or nobody's guest calls that address for it. */
static void on_met(void *ctx, const struct addr *at, const struct link_peer *who, const char *why)
{
    struct company *c = ctx;
    (void)why;
    for (size_t i = 0; i < c->count;) {
        struct fellow *f = &c->all[i];
        struct id submitter = f->submitter;
        bool here = !f->met && f->peer.addr.port == at->port &&
                    memcmp(f->peer.addr.ip, at->ip, sizeof at->ip) == 0;
        bool right = who != NULL && id_equal(&who->peer.id, &f->peer.id);
        if (here && right)
            f->met = true;
        else if (here)
            *f = c->all[--c->count];
        i += !here || right;
        if (here)
            changed(c, &submitter);
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

void company_enter(struct company *c, const struct part_peer *submitter,
                   const struct msg_group_enter *m)
{
    struct id self = links_self(c->node->links).id;
    struct part_peer named[sizeof m->members / sizeof m->members[0]];
    unsigned count = 0;
    for (unsigned i = 0; i < m->members_count; i++) {
        const bool its_own = id_equal(&m->members[i].id, &submitter->id);
        named[count] = its_own ? *submitter : m->members[i];
        count += !id_equal(&named[count].id, &self) && named[count].addr.port != 0;
    }
    for (unsigned i = 0; i < count; i++) {
        const struct fellow f = {.job = m->job, .submitter = submitter->id, .peer = named[i]};
        if (!is_there(c, &f))
            add(c, &f);
    }
    changed(c, &submitter->id); /* they are being looked at */
    for (unsigned i = 0; i < count; i++)
        if (links_meet(c->node->links, &named[i].addr, on_met, c) < 0)
            on_met(c, &named[i].addr, NULL, "");
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
    changed(c, submitter);
}

void company_forget(struct company *c, const struct id *submitter)
{
    for (size_t i = 0; i < c->count;)
        if (id_equal(&c->all[i].submitter, submitter))
            c->all[i] = c->all[--c->count];
        else
            i++;
}

uint8_t *company_list(const struct company *c, const struct id *submitter, size_t *length)
{
    size_t count = count_of(c, submitter), at = 0;
    uint8_t *list = malloc(count * ROOM_PEER + 1);
    for (size_t i = 0; list != NULL && i < c->count; i++) {
        const struct fellow *f = &c->all[i];
        if (!id_equal(&f->submitter, submitter))
            continue;
        memcpy(list + at, f->peer.addr.ip, sizeof f->peer.addr.ip);
        list[at + sizeof f->peer.addr.ip] = f->met;
        at += ROOM_PEER;
    }
    *length = at;
    return list;
}
