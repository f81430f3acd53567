/* SPDX-License-Identifier: BSD-3-Clause */
/* relay.c -- questions of programs to other peers, under tokens of this daemon's own. */
#include "relay.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RELAYED_MOST = 256, PATIENCE_MS = 10000, LOOK_MS = 500 };

struct relayed {
    void *client;
    uint32_t token, asked; /* the client's, and this daemon's */
    struct id peer;
    uint64_t until_ms; /* later with each piece that comes */
};

struct relay {
    struct node *node;
    relay_say_fn *say;
    struct event *timer;
    struct relayed at[RELAYED_MOST];
    size_t count;
    uint32_t token;
};

/* Closes the row. */
static void relay_end(struct relay *r, size_t i, int code, const char *why)
{
    const struct relayed was = r->at[i];
    struct message m = {.kind = MSG_local_done};
    r->at[i] = r->at[--r->count];
    m.local_done.token = was.token;
    m.local_done.code = (uint32_t)code;
    snprintf(m.local_done.reason, sizeof m.local_done.reason, "%s", why);
    r->say(was.client, &m);
}

static void relay_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct relay *r = ctx;
    const uint64_t now = node_now_ms();
    (void)fd, (void)what;
    for (size_t i = r->count; i-- > 0;)
        if (now >= r->at[i].until_ms)
            relay_end(r, i, ETIMEDOUT, "the peer does not answer");
    if (r->count > 0)
        evtimer_add(r->timer, &(struct timeval){.tv_usec = LOOK_MS * 1000});
}

static void relay_on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct relay *r = ctx;
    (void)why;
    for (size_t i = r->count; i-- > 0;)
        if (id_equal(&r->at[i].peer, peer))
            relay_end(r, i, EHOSTUNREACH, "the peer is gone");
}

/* *token is where the question has its token. */
static void relay_ask(struct relay *r, void *client, uint32_t theirs, const struct part_peer *peer,
                      struct message *m, uint32_t *token)
{
    struct message full = {.kind = MSG_local_done};
    if (r->count == RELAYED_MOST) {
        full.local_done.token = theirs;
        full.local_done.code = EAGAIN;
        strcpy(full.local_done.reason, "too many ask for results; try again");
        r->say(client, &full);
        return;
    }
    *token = ++r->token;
    r->at[r->count++] = (struct relayed){.client = client,
                                         .token = theirs,
                                         .asked = *token,
                                         .peer = peer->id,
                                         .until_ms = node_now_ms() + PATIENCE_MS};
    if (link_send(r->node->links, peer, m) != 0)
        relay_end(r, r->count - 1, EHOSTUNREACH, "the peer cannot be reached");
    else
        evtimer_add(r->timer, &(struct timeval){.tv_usec = LOOK_MS * 1000});
}

void relay_list(struct relay *r, void *client, const struct msg_local_results *q)
{
    struct message m = {.kind = MSG_results_ask};
    m.results_ask = (struct msg_results_ask){.lease = q->lease, .lane = q->lane, .from = q->from};
    relay_ask(r, client, q->token, &q->peer, &m, &m.results_ask.token);
}

void relay_read(struct relay *r, void *client, const struct msg_local_read *q)
{
    struct message m = {.kind = MSG_results_read};
    m.results_read = (struct msg_results_read){.lease = q->lease,
                                               .lane = q->lane,
                                               .path = q->path,
                                               .path_length = q->path_length,
                                               .offset = q->offset,
                                               .length = q->length,
                                               .digest = q->digest};
    relay_ask(r, client, q->token, &q->peer, &m, &m.results_read.token);
}

void relay_done(struct relay *r, const struct msg_local_collected *order)
{
    struct message m = {.kind = MSG_results_done, .results_done.lease = order->lease};
    (void)link_send(r->node->links, &order->peer, &m); /* else it forgets by itself */
}

/* --- answers --- */

static bool relay_find(const struct relay *r, const struct link_peer *from, uint32_t token,
                       size_t *i)
{
    for (*i = 0; *i < r->count; ++*i)
        if (r->at[*i].asked == token && id_equal(&r->at[*i].peer, &from->peer.id))
            return true;
    return false;
}

static void relay_on_results_names(struct relay *r, const struct link_peer *from,
                                   const struct msg_results_names *said)
{
    size_t i;
    struct message m = {.kind = MSG_local_names};
    if (!relay_find(r, from, said->token, &i))
        return;
    if (said->reason[0] != '\0') {
        relay_end(r, i, EIO, said->reason);
        return;
    }
    m.local_names.token = r->at[i].token;
    m.local_names.all = said->all;
    m.local_names.left_out = said->left_out;
    m.local_names.results_count = said->results_count;
    memcpy(m.local_names.results, said->results, said->results_count * sizeof said->results[0]);
    r->say(r->at[i].client, &m);
    relay_end(r, i, 0, "");
}

static void relay_on_results_bytes(struct relay *r, const struct link_peer *from,
                                   const struct msg_results_bytes *said)
{
    size_t i;
    struct message m = {.kind = MSG_local_bytes};
    if (!relay_find(r, from, said->token, &i))
        return;
    if (said->reason[0] != '\0') {
        relay_end(r, i, EIO, said->reason);
        return;
    }
    r->at[i].until_ms = node_now_ms() + PATIENCE_MS;
    m.local_bytes = (struct msg_local_bytes){.token = r->at[i].token,
                                             .size = said->size,
                                             .mtime = said->mtime,
                                             .data = said->data,
                                             .data_length = said->data_length};
    r->say(r->at[i].client, &m);
    if (said->last)
        relay_end(r, i, 0, "");
}

enum takes {
#define TO_collect(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void relay_take(struct relay *r, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case TAKES_results_names:
        relay_on_results_names(r, from, &m->results_names);
        break;
    case TAKES_results_bytes:
        relay_on_results_bytes(r, from, &m->results_bytes);
        break;
    }
}

/* --- the beginning and the end --- */

void relay_forget(struct relay *r, const void *client)
{
    for (size_t i = r->count; i-- > 0;)
        if (r->at[i].client == client)
            r->at[i] = r->at[--r->count];
}

struct relay *relay_open(struct node *node, relay_say_fn *say)
{
    struct relay *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->node = node;
    r->say = say;
    r->timer = evtimer_new(node->base, relay_on_time, r);
    if (r->timer == NULL || links_on_gone(node->links, relay_on_gone, r) != 0) {
        if (r->timer != NULL)
            event_free(r->timer);
        free(r);
        return NULL;
    }
    return r;
}

void relay_close(struct relay *r)
{
    if (r == NULL)
        return;
    links_forget_gone(r->node->links, relay_on_gone, r);
    event_free(r->timer);
    free(r);
}
