/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.c -- hwloc's description of machines. */
#include "topology.h"
#include "overlay/host/hardware.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUESTIONS_MAX = 256, PATIENCE_MS = 3000, LOOK_MS = 500, XML_MAX = 131072 };

struct question {
    void *client;
    uint32_t token, asked; /* the client's, and this daemon's */
    struct id peer;
    uint64_t until_ms;
};

struct topologies {
    struct node *node;
    topology_say_fn *say;
    struct event *timer;
    struct question at[QUESTIONS_MAX];
    size_t count;
    uint32_t token;
    char *own; /* made for the first question */
};

static const char *topology_describe(struct topologies *t)
{
    char *xml = t->own == NULL ? hardware_describe() : NULL;
    if (xml != NULL && strlen(xml) < XML_MAX)
        t->own = xml;
    else
        free(xml);
    return t->own;
}

static void say_failed(struct topologies *t, void *client, uint32_t token, int code,
                       const char *why)
{
    struct message m = {.kind = MSG_local_done};
    m.local_done.token = token;
    m.local_done.code = (uint32_t)code;
    snprintf(m.local_done.reason, sizeof m.local_done.reason, "%s", why);
    t->say(client, &m);
}

static void topology_drop(struct topologies *t, size_t i, const char *why)
{
    struct question q = t->at[i];
    t->at[i] = t->at[--t->count];
    say_failed(t, q.client, q.token, EHOSTUNREACH, why);
}

static void topology_answer(struct topologies *t, size_t i, const struct msg_topology *said)
{
    struct question q = t->at[i];
    struct message m = {.kind = MSG_local_machine};
    t->at[i] = t->at[--t->count];
    m.local_machine.token = q.token;
    m.local_machine.xml = said->xml;
    m.local_machine.xml_length = said->xml_length;
    t->say(q.client, &m);
    say_failed(t, q.client, q.token, 0, "");
}

static void topology_on_topology(struct topologies *t, const struct link_peer *from,
                                 const struct msg_topology *said)
{
    struct message back = {.kind = MSG_topology};
    if (said->xml_length == 0) {
        const char *xml = topology_describe(t);
        if (xml == NULL)
            return;
        back.topology.token = said->token;
        back.topology.xml = (const uint8_t *)xml;
        back.topology.xml_length = (uint32_t)strlen(xml);
        link_send(t->node->links, &from->peer, &back); /* if it is lost, the asker gives up */
        return;
    }
    for (size_t i = 0; i < t->count; i++)
        if (t->at[i].asked == said->token && id_equal(&t->at[i].peer, &from->peer.id)) {
            topology_answer(t, i, said);
            return;
        }
}

enum takes {
#define TO_topology(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void topologies_take(struct topologies *t, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_topology:
        topology_on_topology(t, from, &m->topology);
        break;
    }
}

static void topology_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct topologies *t = ctx;
    uint64_t now = node_now_ms();
    (void)fd, (void)what;
    for (size_t i = 0; i < t->count;)
        if (now >= t->at[i].until_ms)
            topology_drop(t, i, "the peer does not say what its machine is like");
        else
            i++;
    if (t->count > 0)
        evtimer_add(t->timer, &(struct timeval){.tv_usec = LOOK_MS * 1000});
}

void topology_ask(struct topologies *t, void *client, const struct msg_local_topology *question)
{
    struct message m = {.kind = MSG_topology};
    if (t->count == QUESTIONS_MAX) {
        say_failed(t, client, question->token, EAGAIN, "too many ask for topologies; try again");
        return;
    }
    struct question *q = &t->at[t->count];
    *q = (struct question){.client = client,
                           .token = question->token,
                           .asked = ++t->token,
                           .peer = question->peer.id,
                           .until_ms = node_now_ms() + PATIENCE_MS};
    m.topology.token = q->asked;
    t->count++;
    if (link_send(t->node->links, &question->peer, &m) != 0)
        topology_drop(t, t->count - 1, "the peer cannot be reached");
    else
        evtimer_add(t->timer, &(struct timeval){.tv_usec = LOOK_MS * 1000});
}

void topology_forget(struct topologies *t, const void *client)
{
    for (size_t i = 0; i < t->count;)
        if (t->at[i].client == client)
            t->at[i] = t->at[--t->count];
        else
            i++;
}

struct topologies *topologies_open(struct node *node, topology_say_fn *say)
{
    struct topologies *t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    t->node = node;
    t->say = say;
    t->timer = evtimer_new(node->base, topology_on_time, t);
    return t;
}

void topologies_close(struct topologies *t)
{
    if (t == NULL)
        return;
    event_free(t->timer);
    free(t->own);
    free(t);
}
