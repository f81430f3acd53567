/* SPDX-License-Identifier: BSD-3-Clause */
/* reservations.c -- reservations of this daemon's programs. */
#include "reservations.h"
#include "searches.h"
#include "borrowed.h"
#include "overlay/base/names.h"
#include "overlay/node/node.h"
#include "overlay/watch/notice.h"
#include "overlay/client/p2pgrid.h"
#include "overlay/client/words.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESERVATIONS_MAX = 64 };

struct reservation {
    struct reserves *all;
    struct id id;
    void *client; /* that made it; NULL: it stays without */
    char name[64];
    uint64_t began_ms, until_ms;
    struct event *timer;
};

struct reserves {
    struct node *node;
    struct borrowed *borrowed;
    struct searches *searches;
    struct notices *notices;
    reserve_say_fn *say;
    struct reservation *at[RESERVATIONS_MAX];
    size_t count;
};

static struct reservation *reservations_find(const struct reserves *r, const struct id *id)
{
    for (size_t i = 0; i < r->count; i++)
        if (id_equal(&r->at[i]->id, id))
            return r->at[i];
    return NULL;
}

void *reserve_holder(struct reserves *r, const struct id *reservation)
{
    return reservations_find(r, reservation);
}

static void *find_owner(void *ctx, const struct id *reservation)
{
    return reserve_holder(ctx, reservation);
}

/* Leases within it are ended by the peers that granted it. */
static void end(struct reservation *one, const char *why)
{
    struct reserves *r = one->all;
    struct msg_local_notice notice = {.what = NOTICE_ALLOCATION_ENDED, .reservation = one->id};
    for (size_t i = 0; i < r->count; i++)
        if (r->at[i] == one)
            r->at[i] = r->at[--r->count];
    searches_cancel(r->searches, one);
    borrowed_release_all(r->borrowed, one);
    log_info(r->node->log, "allocation %s ended: %s", one->name, why);
    snprintf(notice.text, sizeof notice.text, "allocation %s ended: %s", one->name, why);
    notice_send(r->notices, &notice);
    event_free(one->timer);
    free(one);
}

static void reservations_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct reservation *one = ctx;
    (void)fd, (void)what;
    struct message m = {.kind = MSG_local_event};
    m.local_event.event = GRID_ALLOCATION_ENDED;
    m.local_event.lease = one->id;
    strcpy(m.local_event.text, "its time is over");
    if (one->client != NULL)
        one->all->say(one->client, &m);
    end(one, "its time is over");
}

static void set_end(struct reservation *one, uint64_t until_ms)
{
    uint64_t now = node_now_ms(), left = until_ms > now ? until_ms - now : 0;
    const uint64_t most = (uint64_t)RESERVE_SECONDS_MAX * 1000;
    left = left < most ? left : most;
    one->until_ms = now + left;
    struct timeval t = {.tv_sec = (time_t)(left / 1000), .tv_usec = (long)(left % 1000) * 1000};
    evtimer_add(one->timer, &t);
}

static struct reservation *make(struct reserves *r, void *client,
                                const struct msg_local_reserve *wish, struct err *e)
{
    struct reservation *one = r->count < RESERVATIONS_MAX ? calloc(1, sizeof *one) : NULL;
    if (one != NULL)
        one->timer = evtimer_new(r->node->base, reservations_on_time, one);
    if (one == NULL || one->timer == NULL) {
        free(one);
        err_set(e, EAGAIN, "p2pd keeps %zu allocations already; give one back", r->count);
        return NULL;
    }
    one->all = r;
    one->client = wish->stays ? NULL : client;
    one->began_ms = node_now_ms();
    randombytes_buf(&one->id, sizeof one->id);
    id_text(&one->id, one->name);
    if (wish->name[0] != '\0')
        memcpy(one->name, wish->name, sizeof one->name);
    set_end(one, node_now_ms() + (uint64_t)wish->seconds * 1000);
    return r->at[r->count++] = one;
}

static void tell(const struct reservation *one, void *client, uint32_t token, bool leases)
{
    struct reserves *r = one->all;
    struct message m = {.kind = MSG_local_reservation};
    struct message row = {.kind = MSG_local_lease};
    uint64_t now = node_now_ms();
    m.local_reservation.token = row.local_lease.token = token;
    for (unsigned i = 0; borrowed_nth(r->borrowed, one, i, &row.local_lease); i++) {
        m.local_reservation.slots += row.local_lease.slots;
        if (leases)
            r->say(client, &row);
    }
    m.local_reservation.reservation = one->id;
    memcpy(m.local_reservation.name, one->name, sizeof one->name);
    m.local_reservation.used = borrow_used(borrowed_held(r->borrowed), &one->id);
    m.local_reservation.seconds =
        (uint32_t)(((one->until_ms > now ? one->until_ms - now : 0) + 999) / 1000);
    r->say(client, &m);
}

static void serve_one(struct reserves *r, void *client, const struct msg_local_reserve *wish,
                      struct err *e)
{
    struct reservation *one = wish->verb == RESERVE_NEW ? make(r, client, wish, e)
                                                        : reservations_find(r, &wish->reservation);
    char id[ID_TEXT + 1];
    if (one == NULL) {
        id_text(&wish->reservation, id);
        err_set(e, ENOENT, "there is no allocation %s (any more)", id);
        return;
    }
    if (wish->verb == RESERVE_PROLONG)
        set_end(one, one->until_ms + (uint64_t)wish->seconds * 1000);
    else if (wish->verb == RESERVE_KEEP)
        one->client = wish->stays ? NULL : client;
    tell(one, client, wish->token, wish->verb == RESERVE_TELL);
    if (wish->verb == RESERVE_RELEASE)
        end(one, "it was given back");
}

void reserve_serve(struct reserves *r, void *client, const struct msg_local_reserve *wish)
{
    static const struct id none;
    struct message m = {.kind = MSG_local_done};
    struct err e = {0};
    if (wish->verb > RESERVE_RELEASE || (wish->verb == RESERVE_NEW && wish->seconds == 0))
        err_set(&e, EINVAL, "an allocation needs a time");
    else if (wish->verb == RESERVE_TELL && id_equal(&wish->reservation, &none))
        for (size_t i = 0; i < r->count; i++)
            tell(r->at[i], client, wish->token, false);
    else
        serve_one(r, client, wish, &e);
    m.local_done.token = wish->token;
    m.local_done.code = (uint32_t)e.code;
    memcpy(m.local_done.reason, e.text, sizeof m.local_done.reason);
    r->say(client, &m);
}

bool reserve_describe(const struct reserves *r, size_t nth, struct part_grid_job *out)
{
    struct msg_local_lease lease;
    if (nth >= r->count)
        return false;
    const struct reservation *one = r->at[nth];
    memcpy(out->name, one->name, sizeof out->name);
    out->state = GRID_JOB_RESERVES;
    for (; borrowed_nth(r->borrowed, one, out->peers, &lease); out->peers++) {
        out->slots += lease.slots;
        names_add(out->where, sizeof out->where, lease.name);
    }
    out->age_ms = node_now_ms() - one->began_ms;
    return true;
}

void reserve_forget(struct reserves *r, const void *client)
{
    for (size_t i = 0; i < r->count;)
        if (r->at[i]->client == client)
            end(r->at[i], "the program that asked for it has ended");
        else
            i++;
}

bool reserve_hears(struct reserves *r, const void *owner, const struct msg_local_event *event)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->at[i] != owner)
            continue;
        struct message m = {.kind = MSG_local_event, .local_event = *event};
        log_info(r->node->log, "allocation %s: %s", r->at[i]->name, event->text);
        if (r->at[i]->client != NULL)
            r->say(r->at[i]->client, &m);
        return true;
    }
    return false;
}

int reserves_open(struct reserves **out, struct node *node, struct borrowed *borrowed,
                  struct searches *searches, struct notices *notices, reserve_say_fn *say,
                  struct err *e)
{
    struct reserves *r = calloc(1, sizeof *r);
    *out = r;
    if (r == NULL)
        return err_set(e, ENOMEM, "out of memory");
    *r = (struct reserves){
        .node = node, .borrowed = borrowed, .searches = searches, .notices = notices, .say = say};
    borrowed_find_owner(borrowed, find_owner, r);
    return 0;
}

void reserves_close(struct reserves *r)
{
    if (r == NULL)
        return;
    while (r->count > 0)
        end(r->at[0], "p2pd ends");
    free(r);
}
