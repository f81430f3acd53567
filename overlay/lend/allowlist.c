/* SPDX-License-Identifier: BSD-3-Clause */
/* allowlist.c -- the peers of guests' jobs, and which of them have answered. */
#include "allowlist.h"
#include "overlay/node/node.h"
#include "overlay/sandbox/room.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MOST = 8192, ENTRIES_OF_ONE_MOST = ROOM_PEERS_MOST };

/* One that has not answered at its address may still connect to this host. */
enum allowlist_state { ALLOWLIST_ASKED, ALLOWLIST_PRESENT, ALLOWLIST_ABSENT };

struct allowlist_entry {
    struct id job, submitter;
    struct part_peer peer;
    enum allowlist_state state;
};

struct allowlist {
    struct node *node;
    allowlist_changed_fn *changed;
    void *ctx;
    struct allowlist_entry *all;
    size_t count;
};

int allowlist_open(struct allowlist **out, struct node *node, allowlist_changed_fn *changed,
                   void *ctx)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return -ENOMEM;
    **out = (struct allowlist){.node = node, .changed = changed, .ctx = ctx};
    return 0;
}

void allowlist_close(struct allowlist *list)
{
    if (list == NULL)
        return;
    links_forget_met(list->node->links, list);
    free(list->all);
    free(list);
}

/* The daemon there must have the id that the submitter named, or no guest connects to the address.
 */
static void allowlist_on_answer(void *ctx, const struct addr *at, const struct link_peer *who,
                                const char *why)
{
    struct allowlist *list = ctx;
    (void)why;
    for (size_t i = 0; i < list->count; i++) {
        struct allowlist_entry *f = &list->all[i];
        if (f->state == ALLOWLIST_PRESENT || !addr_equal(&f->peer.addr, at))
            continue;
        f->state = who != NULL && id_equal(&who->peer.id, &f->peer.id) ? ALLOWLIST_PRESENT
                                                                       : ALLOWLIST_ABSENT;
        list->changed(list->ctx, &f->submitter);
    }
}

static bool allowlist_has(const struct allowlist *list, const struct allowlist_entry *f)
{
    for (size_t i = 0; i < list->count; i++)
        if (id_equal(&list->all[i].job, &f->job) &&
            id_equal(&list->all[i].submitter, &f->submitter) &&
            id_equal(&list->all[i].peer.id, &f->peer.id))
            return true;
    return false;
}

static size_t allowlist_count_of(const struct allowlist *list, const struct id *submitter)
{
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++)
        n += id_equal(&list->all[i].submitter, submitter);
    return n;
}

static void allowlist_add_entry(struct allowlist *list, const struct allowlist_entry *f)
{
    struct allowlist_entry *more =
        list->count < ENTRIES_MOST && allowlist_count_of(list, &f->submitter) < ENTRIES_OF_ONE_MOST
            ? realloc(list->all, (list->count + 1) * sizeof *more)
            : NULL;
    if (more == NULL)
        return;
    list->all = more;
    more[list->count++] = *f;
}

void allowlist_add(struct allowlist *list, const struct id *submitter,
                   const struct msg_group_enter *m)
{
    struct id self = links_self(list->node->links).id;
    for (unsigned i = 0; i < m->members_count; i++) {
        const struct allowlist_entry f = {
            .job = m->job, .submitter = *submitter, .peer = m->members[i]};
        if (!id_equal(&f.peer.id, &self) && f.peer.addr.port != 0 && !allowlist_has(list, &f))
            allowlist_add_entry(list, &f);
    }
    list->changed(list->ctx, submitter); /* they are being looked at */
    for (unsigned i = 0; i < m->members_count; i++) {
        const struct addr *at = &m->members[i].addr;
        if (!id_equal(&m->members[i].id, &self) && at->port != 0 &&
            links_meet(list->node->links, at, allowlist_on_answer, list) < 0)
            allowlist_on_answer(list, at, NULL, "");
    }
}

void allowlist_remove(struct allowlist *list, const struct id *submitter,
                      const struct msg_group_leave *m)
{
    struct id self = links_self(list->node->links).id;
    for (unsigned i = 0; i < m->members_count; i++) {
        const struct id *gone = &m->members[i].id;
        bool all = id_equal(gone, &self) || id_equal(gone, submitter);
        for (size_t k = 0; k < list->count;)
            if (id_equal(&list->all[k].job, &m->job) &&
                id_equal(&list->all[k].submitter, submitter) &&
                (all || id_equal(&list->all[k].peer.id, gone)))
                list->all[k] = list->all[--list->count];
            else
                k++;
    }
    list->changed(list->ctx, submitter);
}

void allowlist_forget(struct allowlist *list, const struct id *submitter)
{
    for (size_t i = 0; i < list->count;)
        if (id_equal(&list->all[i].submitter, submitter))
            list->all[i] = list->all[--list->count];
        else
            i++;
}

bool allowlist_names(const struct allowlist *list, const struct id *submitter,
                     const struct id *peer)
{
    for (size_t i = 0; i < list->count; i++)
        if (id_equal(&list->all[i].submitter, submitter) && id_equal(&list->all[i].peer.id, peer))
            return true;
    return false;
}

static bool entry_is_present_at(const struct allowlist_entry *f, const struct id *submitter,
                                const uint8_t ip[16])
{
    return f->state == ALLOWLIST_PRESENT && id_equal(&f->submitter, submitter) &&
           memcmp(f->peer.addr.ip, ip, sizeof f->peer.addr.ip) == 0;
}

/* Several jobs of a submitter may have the same peer. */
static bool allowlist_had_before(const struct allowlist *list, size_t at,
                                 const struct id *submitter, const uint8_t ip[16])
{
    for (size_t i = 0; i < at; i++)
        if (entry_is_present_at(&list->all[i], submitter, ip) &&
            id_equal(&list->all[i].peer.id, &list->all[at].peer.id))
            return true;
    return false;
}

const struct part_peer *allowlist_at(const struct allowlist *list, const struct id *submitter,
                                     const uint8_t ip[16], size_t *next)
{
    while (*next < list->count) {
        const size_t at = (*next)++;
        if (entry_is_present_at(&list->all[at], submitter, ip) &&
            !allowlist_had_before(list, at, submitter, ip))
            return &list->all[at].peer;
    }
    return NULL;
}

uint8_t *allowlist_for_room(const struct allowlist *list, const struct id *submitter,
                            size_t *length)
{
    size_t count = allowlist_count_of(list, submitter), at = 0;
    uint8_t *out = malloc(count * ROOM_PEER + 1);
    for (size_t i = 0; out != NULL && i < list->count; i++) {
        const struct allowlist_entry *f = &list->all[i];
        if (!id_equal(&f->submitter, submitter) || f->state == ALLOWLIST_ABSENT)
            continue;
        memcpy(out + at, f->peer.addr.ip, sizeof f->peer.addr.ip);
        out[at + sizeof f->peer.addr.ip] = f->state == ALLOWLIST_PRESENT;
        at += ROOM_PEER;
    }
    *length = at;
    return out;
}
