/* SPDX-License-Identifier: BSD-3-Clause */
/* listens.c -- asks other daemons which of a job's ports are open, and answers such questions. */
#include "listens.h"
#include "overlay/base/clock.h"
#include "allowlist.h"
#include "overlay/sandbox/confine.h"
#include "grant.h"
#include "inquiry.h"
#include "overlay/host/listening.h"
#include "overlay/node/node.h"
#include "overlay/sandbox/room.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum {
    ASKED_MOST = 256, /* questions of other daemons that wait for a look */
    FOUND_MOST = 8,   /* submitters whose sockets are remembered */
    LOOK_SHARE = 4,   /* looks take at most one part in so many of the time */
};

/* A question of another daemon. */
struct listens_question {
    struct part_peer by;
    uint32_t token;
    struct id submitter;
    uint16_t port;
};

/* What was found for a submitter. */
struct listens_known {
    struct id submitter;
    struct listening_found found;
};

struct listens {
    struct node *node;
    const struct allowlist *allowlist;
    struct grant *grant;
    listens_uses_fn *uses;
    void *ctx; /* of uses */
    struct event *timer, *look;
    struct inquiry inquiry;
    struct listens_question asked[ASKED_MOST];
    size_t asked_count;
    uint64_t next_look_us;
    struct listens_known known[FOUND_MOST];
    size_t next_known;
    struct message answer; /* the one being made */
};

static void listens_set_timer(struct event *timer, uint64_t due_us)
{
    const uint64_t now = clock_us(), wait = due_us > now ? due_us - now : 0;
    const struct timeval t = {.tv_sec = (time_t)(wait / 1000000),
                              .tv_usec = (suseconds_t)(wait % 1000000)};
    evtimer_add(timer, &t);
}

/* --- asking --- */

/* With the address at which it has answered, if it still is of the job; else a link to it must
 * exist. */
static struct part_peer listens_peer(const struct listens *l, const struct inquiry_row *row)
{
    const struct inquiry_call *call = &row->call;
    size_t next = 0;
    for (const struct part_peer *p;
         (p = allowlist_at(l->allowlist, &call->submitter, call->ip, &next)) != NULL;)
        if (id_equal(&p->id, &row->peer))
            return *p;
    return (struct part_peer){.id = row->peer};
}

static void listens_send(struct listens *l, const struct inquiry_row *row)
{
    const struct part_peer to = listens_peer(l, row);
    struct message m = {.kind = MSG_listens_ask};
    m.listens_ask.token = row->token;
    m.listens_ask.submitter = row->call.submitter;
    m.listens_ask.port = row->call.port;
    if (link_send(l->node->links, &to, &m) != 0)
        inquiry_gone(&l->inquiry, &row->peer, node_now_ms());
}

static void listens_settle(struct listens *l, const struct inquiry_call *call, bool yes)
{
    grant_tell_call(l->grant, &call->submitter, call->ip, call->port, yes);
}

static void listens_continue(struct listens *l)
{
    struct inquiry_row row;
    for (enum inquiry_step s;
         (s = inquiry_due(&l->inquiry, node_now_ms(), &row)) != INQUIRY_NOTHING;)
        if (s == INQUIRY_ASK)
            listens_send(l, &row);
        else
            listens_settle(l, &row.call, false);
    const uint64_t deadline_ms = inquiry_deadline(&l->inquiry);
    if (deadline_ms != UINT64_MAX)
        listens_set_timer(l->timer, deadline_ms * 1000);
}

static void listens_on_time(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    listens_continue(ctx);
}

static void listens_on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct listens *l = ctx;
    (void)why;
    inquiry_gone(&l->inquiry, peer, node_now_ms());
    event_active(l->timer, 0, 0);
}

void listens_ask(struct listens *l, const struct id *submitter, const uint8_t ip[16], uint16_t port)
{
    struct inquiry_call call = {.submitter = *submitter, .port = port};
    size_t next = 0;
    memcpy(call.ip, ip, sizeof call.ip);
    if (inquiry_is_open(&l->inquiry, &call))
        return;
    for (const struct part_peer *p; (p = allowlist_at(l->allowlist, submitter, ip, &next)) != NULL;)
        inquiry_add(&l->inquiry, &call, &p->id, node_now_ms());
    if (!inquiry_is_open(&l->inquiry, &call))
        listens_settle(l, &call, false);
    event_active(l->timer, 0, 0); /* questions of several ranks go together */
}

static void listens_on_answer(struct listens *l, const struct link_peer *from,
                              const struct msg_listens_answer *m)
{
    struct inquiry_call call;
    bool yes = false;
    if (inquiry_hear(&l->inquiry, &from->peer.id, m->token, (enum inquiry_answer)m->answer,
                     node_now_ms(), &call, &yes) == INQUIRY_SETTLED)
        listens_settle(l, &call, yes);
    for (size_t i = 0; i < m->ports_count && yes; i++) {
        call.port = m->ports[i].number;
        listens_settle(l, &call, true);
    }
    listens_continue(l);
}

/* --- answering --- */

static void listens_reply(struct listens *l, const struct listens_question *a,
                          const struct message *m)
{
    struct message one = *m;
    one.listens_answer.token = a->token;
    link_send(l->node->links, &a->by, &one); /* if it is lost, the asker sees the link break */
}

static bool listens_may_ask(const struct listens *l, const struct id *submitter,
                            const struct id *peer)
{
    const struct part_peer self = links_self(l->node->links);
    if (id_equal(submitter, peer))
        return true;
    return id_equal(submitter, &self.id) ? l->uses(l->ctx, peer)
                                         : allowlist_names(l->allowlist, submitter, peer);
}

static struct listening_found *listens_found(struct listens *l, const struct id *submitter)
{
    for (size_t i = 0; i < FOUND_MOST; i++)
        if (id_equal(&l->known[i].submitter, submitter))
            return &l->known[i].found;
    struct listens_known *k = &l->known[l->next_known];
    l->next_known = (l->next_known + 1) % FOUND_MOST;
    *k = (struct listens_known){.submitter = *submitter};
    return &k->found;
}

/* A socket listens there that is not known yet: the submitter's rooms are searched, once a look. */
static bool listens_is_unknown(const struct listens *l, const struct listening_table *t,
                               const struct id *submitter, const struct listening_found *found)
{
    for (size_t i = 0; i < l->asked_count; i++)
        if (id_equal(&l->asked[i].submitter, submitter) &&
            listening_at(t, l->asked[i].port, found) == LISTENING_OTHERS)
            return true;
    return false;
}

/* The part of the answer that is the same for all questions about that submitter. */
static void listens_describe(struct message *m, const struct listening_table *t,
                             const struct listening_found *found)
{
    enum { MOST = sizeof m->listens_answer.ports / sizeof m->listens_answer.ports[0] };
    uint16_t ports[MOST];
    *m = (struct message){.kind = MSG_listens_answer};
    const size_t count = listening_ports(t, found, confine_rank_ports().first, ports, MOST);
    m->listens_answer.ports_count = (uint16_t)count;
    for (size_t i = 0; i < count; i++)
        m->listens_answer.ports[i].number = ports[i];
}

/* Answers all that is asked about the first one's submitter. */
static void listens_answer_one(struct listens *l, const struct listening_table *t)
{
    const struct id submitter = l->asked[0].submitter;
    struct listening_found *found = listens_found(l, &submitter);
    pid_t rooms[ROOM_SIBLINGS_MOST];
    if (listens_is_unknown(l, t, &submitter, found))
        listening_find(found, t, rooms,
                       grant_rooms(l->grant, &submitter, rooms, ROOM_SIBLINGS_MOST));
    struct message *yes = &l->answer, no = {.kind = MSG_listens_answer};
    listens_describe(yes, t, found);
    yes->listens_answer.answer = INQUIRY_YES;
    for (size_t i = 0; i < l->asked_count;) {
        const struct listens_question a = l->asked[i];
        if (!id_equal(&a.submitter, &submitter)) {
            i++;
            continue;
        }
        l->asked[i] = l->asked[--l->asked_count];
        listens_reply(l, &a, listening_at(t, a.port, found) == LISTENING_FOUND ? yes : &no);
    }
}

static void listens_on_look(evutil_socket_t fd, short what, void *ctx)
{
    struct listens *l = ctx;
    struct listening_table t;
    const uint64_t begin = clock_us();
    (void)fd, (void)what;
    listening_read(&t);
    while (l->asked_count > 0)
        listens_answer_one(l, &t);
    free(t.at);
    const uint64_t now = clock_us();
    l->next_look_us = now + (now - begin) * (LOOK_SHARE - 1);
}

static void listens_on_ask(struct listens *l, const struct link_peer *from,
                           const struct msg_listens_ask *m)
{
    const struct listens_question a = {
        .by = from->peer, .token = m->token, .submitter = m->submitter, .port = m->port};
    if (l->asked_count == ASKED_MOST || !listens_may_ask(l, &m->submitter, &from->peer.id)) {
        struct message later = {.kind =
                                    MSG_listens_answer}; /* the submitter may be about to name it */
        later.listens_answer.answer = INQUIRY_LATER;
        listens_reply(l, &a, &later);
        return;
    }
    l->asked[l->asked_count++] = a;
    if (!evtimer_pending(l->look, NULL))
        listens_set_timer(l->look, l->next_look_us);
}

enum takes {
#define TO_listens(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void listens_take(struct listens *l, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_listens_ask:
        listens_on_ask(l, from, &m->listens_ask);
        break;
    case MSG_listens_answer:
        listens_on_answer(l, from, &m->listens_answer);
        break;
    }
}

/* --- begin and end --- */

int listens_open(struct listens **out, struct node *node, const struct allowlist *allowlist,
                 struct grant *grant, listens_uses_fn *uses, void *ctx)
{
    struct listens *l = calloc(1, sizeof *l);
    *out = l;
    if (l == NULL)
        return -ENOMEM;
    l->node = node;
    l->allowlist = allowlist;
    l->grant = grant;
    l->uses = uses;
    l->ctx = ctx;
    l->timer = evtimer_new(node->base, listens_on_time, l);
    l->look = evtimer_new(node->base, listens_on_look, l);
    return l->timer != NULL && l->look != NULL ? links_on_gone(node->links, listens_on_gone, l)
                                               : -ENOMEM;
}

void listens_close(struct listens *l)
{
    if (l == NULL)
        return;
    links_forget_gone(l->node->links, listens_on_gone, l);
    if (l->timer != NULL)
        event_free(l->timer);
    if (l->look != NULL)
        event_free(l->look);
    free(l);
}
