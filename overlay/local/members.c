/* SPDX-License-Identifier: BSD-3-Clause */
/* members.c -- sightings, kept up for as long as links are open, and the authority's ledger. */
#include "members.h"
#include "overlay/base/log.h"
#include "overlay/membership/ledger.h"
#include "overlay/membership/sightings.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_S = 60, SAVE_LOOKS = 10 };

struct members {
    struct node *node;
    struct sightings *seen;
    struct event *timer;
    unsigned looks;
};

static void see_open_links(struct members *x)
{
    const uint64_t now = (uint64_t)time(NULL);
    for (size_t i = 0; i < sightings_count(x->seen); i++) {
        const struct msg_local_member m = *sightings_at(x->seen, i);
        if (link_is_open(x->node->links, &m.peer))
            sightings_see(x->seen, &m.peer, m.name, now);
    }
}

static void members_save(struct members *x)
{
    struct err e = {0};
    if (sightings_save(x->seen, &e) != 0)
        log_warn(x->node->log, "when members were seen is not kept: %s", e.text);
}

static void members_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct members *x = ctx;
    (void)fd, (void)what;
    see_open_links(x);
    if (++x->looks % SAVE_LOOKS == 0)
        members_save(x);
}

int members_open(struct members **out, struct node *node, struct err *e)
{
    const struct timeval period = {.tv_sec = LOOK_S};
    struct members *x = calloc(1, sizeof *x);
    *out = x;
    if (x == NULL)
        return err_set(e, ENOMEM, "out of memory");
    x->node = node;
    x->seen = sightings_open(node->settings.state);
    x->timer = event_new(node->base, -1, EV_PERSIST, members_on_time, x);
    if (x->seen == NULL || x->timer == NULL || event_add(x->timer, &period) != 0)
        return err_set(e, ENOMEM, "out of memory");
    return 0;
}

void members_close(struct members *x)
{
    if (x == NULL)
        return;
    if (x->seen != NULL) {
        see_open_links(x);
        members_save(x);
    }
    if (x->timer != NULL)
        event_free(x->timer);
    sightings_close(x->seen);
    free(x);
}

void members_see(struct members *x, const struct id *peer, const char *name)
{
    sightings_see(x->seen, peer, name, (uint64_t)time(NULL));
}

static unsigned tell_admitted(const struct members *x, const struct ledger *admitted,
                              struct message *m, members_row_fn *row, void *ctx)
{
    for (size_t i = 0; i < admitted->count; i++) {
        const struct ledger_entry *entry = &admitted->at[i];
        const struct msg_local_member *seen = sightings_of(x->seen, &entry->id);
        m->local_member.peer = entry->id;
        snprintf(m->local_member.name, sizeof m->local_member.name, "%s", entry->name);
        m->local_member.seen = seen != NULL ? seen->seen : 0;
        m->local_member.ends = (uint64_t)entry->ends;
        m->local_member.revoked = entry->revoked;
        row(ctx, m);
    }
    return (unsigned)admitted->count;
}

void members_tell(struct members *x, uint32_t token, members_row_fn *row, void *ctx)
{
    struct message m = {.kind = MSG_local_member}, done = {.kind = MSG_local_done};
    struct ledger admitted = {0};
    struct err e = {0};
    see_open_links(x);
    m.local_member.token = done.local_done.token = token;
    if (ledger_read(&admitted, x->node->settings.authority, &e) == 0)
        done.local_done.count = tell_admitted(x, &admitted, &m, row, ctx);
    for (size_t i = 0; i < sightings_count(x->seen); i++) {
        if (ledger_at(&admitted, &sightings_at(x->seen, i)->peer) != NULL)
            continue;
        m.local_member = *sightings_at(x->seen, i);
        m.local_member.token = token;
        row(ctx, &m);
        done.local_done.count++;
    }
    ledger_free(&admitted);
    row(ctx, &done);
}
