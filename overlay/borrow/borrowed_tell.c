/* SPDX-License-Identifier: BSD-3-Clause */
/* borrowed_tell.c -- what the owner of a lease hears of it. */
#include "borrowed_state.h"
#include "overlay/client/p2pgrid.h"
#include <stdio.h>
#include <string.h>

static void fill_from_peer(struct msg_local_event *event, const char *name, const struct message *m)
{
    const struct msg_lease_recall *recall = &m->lease_recall;
    switch ((unsigned)m->kind) {
    case MSG_lease_launched:
        event->event = GRID_LAUNCHED;
        event->pid = m->lease_launched.pid;
        memcpy(event->cores, m->lease_launched.cores, sizeof event->cores);
        break;
    case MSG_lease_recall:
        event->event = GRID_LEASE_RECALLED;
        snprintf(event->text, sizeof event->text, "%s %s within %u s", name, recall->text,
                 (recall->within_ms + 999) / 1000);
        break;
    case MSG_lease_ending:
        event->event = GRID_LEASE_ENDING;
        snprintf(event->text, sizeof event->text, "%s: %.440s", name, m->lease_ending.text);
        break;
    case MSG_lease_seen:
        event->event = GRID_LEASE_SEEN;
        event->waits = m->lease_seen.waits;
        break;
    case MSG_lease_fetching:
        event->event = GRID_FETCHING;
        event->have = m->lease_fetching.have;
        event->all = m->lease_fetching.all;
        break;
    }
}

static enum grid_event_kind end_of(enum borrow_action_kind kind)
{
    return kind == BORROW_FAILED   ? GRID_LAUNCH_FAILED
           : kind == BORROW_PARTED ? GRID_PEER_SILENT
                                   : GRID_LEASE_ENDED;
}

void borrowed_tell(const struct borrowed *b, const struct borrow_action *a)
{
    struct msg_local_event event = {.lease = a->lease, .status = a->status};
    if (a->kind == BORROW_TELL) {
        fill_from_peer(&event, a->of->name, a->message);
    } else {
        event.event = (uint8_t)end_of(a->kind);
        snprintf(event.text, sizeof event.text, "%s: %.440s", a->of->name, a->text);
    }
    b->event(b->event_ctx, a->of->owner, &event);
}
