/* SPDX-License-Identifier: BSD-3-Clause */
/* rpc.c -- local remote procedure calls: everything but allocating and launching. */
#include "rpc.h"
#include "overlay/borrow/borrowed.h"
#include "overlay/core/lease/lease.h"
#include "overlay/client/words.h"
#include "overlay/node/history.h"
#include "overlay/borrow/outputs.h"
#include "overlay/node/node.h"
#include "overlay/watch/notice.h"
#include "overlay/borrow/reservations.h"
#include "overlay/borrow/roster.h"
#include "overlay/borrow/searches.h"
#include "grid_jobs.h"
#include "relay.h"
#include "topology.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rpc {
    struct node *node;
    rpc_say_fn *say;
    struct notices *notices;
    struct reserves *reserves;
    struct roster *roster;
    struct topologies *topologies;
    struct relay *relay;
    struct grid_jobs *grid_jobs;
};

/* The program that has asked. */
struct rpc_caller {
    struct rpc *rpc;
    void *client;
    pid_t pid;
};

static void say_done(const struct rpc_caller *by, uint32_t token, const struct err *e)
{
    struct message m = {.kind = MSG_local_done};
    m.local_done.token = token;
    m.local_done.code = (uint32_t)e->code;
    memcpy(m.local_done.reason, e->text, sizeof m.local_done.reason);
    by->rpc->say(by->client, &m);
}

/* --- each question and order by its name --- */

static void on_local_reserve(const struct rpc_caller *by, const struct msg_local_reserve *question)
{
    reserve_serve(by->rpc->reserves, by->client, question);
}

static void on_local_job(const struct rpc_caller *by, const struct msg_local_job *job)
{
    roster_job(by->rpc->roster, by->client, by->pid, job);
}

static void on_local_places(const struct rpc_caller *by, const struct msg_local_places *places)
{
    roster_places(by->rpc->roster, by->client, places);
}

static void on_local_output(const struct rpc_caller *by, const struct msg_local_output *said)
{
    roster_output(by->rpc->roster, by->client, said);
}

static void on_local_printed(const struct rpc_caller *by, const struct msg_local_printed *question)
{
    const struct node *node = by->rpc->node;
    struct err e = {0};
    if (roster_printed(by->rpc->roster, by->client, question))
        return;
    if (!outputs_tell(node->settings.state, node->history, question, by->rpc->say, by->client))
        err_set(&e, ENOENT,
                "nothing that a job %s of yours printed is kept here; p2pctl jobs and p2pctl "
                "history show the jobs",
                question->name);
    say_done(by, question->token, &e);
}

static void on_local_jobs(const struct rpc_caller *by, const struct msg_local_jobs *question)
{
    roster_tell(by->rpc->roster, by->client, question->token);
}

static void on_local_grid_jobs(const struct rpc_caller *by,
                               const struct msg_local_grid_jobs *question)
{
    grid_jobs_ask(by->rpc->grid_jobs, by->client, question);
}

static void on_local_control(const struct rpc_caller *by, const struct msg_local_control *order)
{
    struct err e = {0};
    roster_control(by->rpc->roster, order, &e);
    say_done(by, order->token, &e);
}

static void on_local_watch(const struct rpc_caller *by, const struct msg_local_watch *question)
{
    struct err e = {0};
    if (notice_watch(by->rpc->notices, by->client, question->peers != 0) != 0)
        err_set(&e, ENOSPC, "too many programs watch already");
    say_done(by, question->token, &e);
    if (e.code == 0)
        notice_repeat(by->rpc->notices, by->client, question->past);
}

static void on_local_note(const struct rpc_caller *by, const struct msg_local_note *note)
{
    struct log *log = by->rpc->node->log;
    if (note->level == LOG_LEVEL_ERROR)
        log_error(log, "pid %d: %s", (int)by->pid, note->text);
    else if (note->level == LOG_LEVEL_WARN)
        log_warn(log, "pid %d: %s", (int)by->pid, note->text);
    else
        log_info(log, "pid %d: %s", (int)by->pid, note->text);
}

static void on_local_topology(const struct rpc_caller *by,
                              const struct msg_local_topology *question)
{
    topology_ask(by->rpc->topologies, by->client, question);
}

static void on_local_results(const struct rpc_caller *by, const struct msg_local_results *question)
{
    relay_list(by->rpc->relay, by->client, question);
}

static void on_local_read(const struct rpc_caller *by, const struct msg_local_read *question)
{
    relay_read(by->rpc->relay, by->client, question);
}

static void on_local_collected(const struct rpc_caller *by, const struct msg_local_collected *order)
{
    relay_done(by->rpc->relay, order);
}

/* on_NAME() for each message of the list whose receivers are these; one without does not compile.
 */
bool rpc_take(struct rpc *x, void *client, pid_t pid, const struct message *m)
{
    const struct rpc_caller by = {x, client, pid};
    switch ((unsigned)m->kind) {
#define TO_rpc(name)                                                                               \
    case MSG_##name:                                                                               \
        on_##name(&by, message_##name(m));                                                         \
        return true;
#define TO_rpc_order(name) TO_rpc(name)
#define TO_rpc_row(name) TO_rpc(name)
#include "overlay/wire/message_to.h"
    }
    return false;
}

void rpc_hear(struct rpc *x, const struct link_peer *from, const struct message *m)
{
    if (message_receiver(m->kind) == RECEIVER_collect)
        relay_take(x->relay, from, m);
    else if (message_receiver(m->kind) == RECEIVER_grid_jobs)
        grid_jobs_take(x->grid_jobs, from, m);
    else
        topologies_take(x->topologies, from, m);
}

void rpc_forget(struct rpc *x, const void *client)
{
    notice_forget(x->notices, client);
    topology_forget(x->topologies, client);
    relay_forget(x->relay, client);
    grid_jobs_forget(x->grid_jobs, client);
    roster_forget(x->roster, client);
    reserve_forget(x->reserves, client);
}

void *rpc_holder(struct rpc *x, void *client, const struct msg_local_allocate *want, struct err *e)
{
    char id[ID_TEXT + 1];
    if (want->use == LEASE_PLAIN)
        return client;
    void *holder = reserve_holder(x->reserves, &want->reservation);
    id_text(&want->reservation, id);
    if (want->use >= LEASE_USES)
        err_set(e, EINVAL, "use %u: there is no such one", want->use);
    else if (holder == NULL)
        err_set(e, ENOENT, "there is no allocation %s (any more); p2pctl alloc makes a new one",
                id);
    if (e->code != 0)
        return NULL;
    return want->use == LEASE_RESERVES ? holder : client;
}

struct notices *rpc_notices(const struct rpc *x)
{
    return x->notices;
}

void rpc_jobs(const struct rpc *x, void *client, uint32_t token)
{
    roster_rows(x->roster, client, token);
}

void rpc_totals(const struct rpc *x, struct msg_local_totals *out)
{
    out->began_ms = notice_epoch(x->notices);
    out->jobs = notice_count(x->notices, NOTICE_JOB_DONE);
    out->peers_lost = notice_count(x->notices, NOTICE_NODE_DOWN);
    out->processes_lost = notice_count(x->notices, NOTICE_REPLICA_LOST);
}

bool rpc_event(struct rpc *x, const void *owner, const struct msg_local_event *event)
{
    return reserve_hears(x->reserves, owner, event);
}

static void rpc_on_down(void *ctx, const struct id *peer, const char *name, const char *why)
{
    struct rpc *x = ctx;
    notice_node_down(x->notices, peer, name, why);
}

static void rpc_on_news(void *ctx, const char *text)
{
    struct rpc *x = ctx;
    struct msg_local_notice notice = {.what = NOTICE_NEWS};
    snprintf(notice.text, sizeof notice.text, "%s", text);
    notice_send(x->notices, &notice);
}

static bool rpc_waits(void *ctx, const void *client, uint32_t *place, uint32_t *free)
{
    struct wait_told told;
    if (!searches_waiting(ctx, client, &told))
        return false;
    *place = told.place;
    *free = told.free;
    return true;
}

static void rpc_on_past(void *ctx, const struct msg_local_past *past, const struct recent *output)
{
    struct rpc *x = ctx;
    struct err e = {0};
    if (history_add(x->node->history, past, &e) != 0)
        log_warn(x->node->log, "not in the history: %s", e.text);
    e = (struct err){0};
    if (outputs_add(x->node->settings.state, x->node->history, past, output, &e) != 0)
        log_warn(x->node->log, "what the job printed is not kept: %s", e.text);
}

int rpc_open(struct rpc **out, struct node *node, const struct rpc_parts *parts, rpc_say_fn *say,
             struct err *e)
{
    struct rpc *x = calloc(1, sizeof *x);
    *out = x;
    if (x == NULL)
        return err_set(e, ENOMEM, "out of memory");
    x->node = node;
    x->say = say;
    x->notices = notices_new(say);
    x->roster = roster_new(x->notices, say, rpc_on_past, x);
    x->topologies = topologies_open(node, say);
    x->relay = relay_open(node, say);
    if (x->notices == NULL || x->roster == NULL || x->topologies == NULL || x->relay == NULL ||
        reserves_open(&x->reserves, node, parts->borrowed, parts->searches, x->notices, say, e) !=
            0)
        return err_set(e, ENOMEM, "out of memory");
    const struct told_jobs told = {node, x->roster, x->reserves, parts->grant};
    x->grid_jobs = grid_jobs_open(node, parts->walks, &told, say);
    if (x->grid_jobs == NULL)
        return err_set(e, ENOMEM, "out of memory");
    roster_ask_waits(x->roster, rpc_waits, parts->searches);
    borrowed_on_down(parts->borrowed, rpc_on_down, x);
    history_listen(node->history, rpc_on_news, x);
    outputs_sweep(node->settings.state, node->history);
    return 0;
}

void rpc_close(struct rpc *x)
{
    if (x == NULL)
        return;
    history_listen(x->node->history, NULL, NULL);
    grid_jobs_close(x->grid_jobs);
    reserves_close(x->reserves);
    topologies_close(x->topologies);
    relay_close(x->relay);
    roster_free(x->roster);
    notices_free(x->notices);
    free(x);
}
