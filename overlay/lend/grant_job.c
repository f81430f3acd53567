/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_job.c -- what runs under a lease: from the holder's manifest to the end of its room. */
#include "grant_state.h"
#include "allowlist.h"
#include "overlay/files/store.h"
#include "overlay/manifest/folder.h"
#include "overlay/manifest/manifest.h"
#include "overlay/sandbox/room.h"
#include "overlay/transport/uri.h"
#include "overlay/sandbox/limits.h"
#include "overlay/client/words.h"
#include "overlay/node/history.h"
#include "overlay/transport/link.h"
#include "overlay/base/log.h"
#include "overlay/transport/tunnel.h"
#include "overlay/host/cores.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

size_t grant_row(const struct grant_job *job)
{
    return (size_t)(job - job->grant->jobs);
}

static bool is_own_desktop(const struct grant *g, const struct id *holder)
{
    const struct part_peer self = links_self(g->node->links);
    return id_equal(holder, &self.id);
}

static const struct part_peer *holder_of(const struct grant_job *job)
{
    return &job->grant->lend.granted[grant_row(job)].holder;
}

static void on_started(void *ctx, pid_t pid)
{
    struct grant_job *job = ctx;
    struct grant *g = job->grant;
    struct message m = {.kind = MSG_lease_launched};
    m.lease_launched.lease = g->lend.table.at[grant_row(job)].id;
    m.lease_launched.pid = (uint32_t)pid;
    memcpy(m.lease_launched.cores, job->cores, sizeof m.lease_launched.cores);
    job->pid = pid;
    grant_send(g, holder_of(job), &m);
}

static void describe_end(char *text, size_t size, int status, const char *words)
{
    int n = WIFSIGNALED(status)
                ? snprintf(text, size, "its command was killed by signal %d", WTERMSIG(status))
                : snprintf(text, size, "its command ended with status %d", WEXITSTATUS(status));
    if (words[0] != '\0')
        snprintf(text + n, size - (size_t)n, ": %s", words);
}

static bool is_for(const struct grant_job *job, const struct id *holder)
{
    return job->launch != NULL && id_equal(&holder_of(job)->id, holder);
}

size_t grant_rooms(const struct grant *g, const struct id *holder, pid_t *rooms, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < LEASE_MAX && count < most; i++)
        if (is_for(&g->jobs[i], holder) && launch_room(g->jobs[i].launch) > 0)
            rooms[count++] = launch_room(g->jobs[i].launch);
    return count;
}

/* A job may have several leases here, whose ranks call each other. */
static void tell_siblings(struct grant *g, const struct id *holder)
{
    pid_t rooms[ROOM_SIBLINGS_MOST];
    size_t count = grant_rooms(g, holder, rooms, ROOM_SIBLINGS_MOST);
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (is_for(&g->jobs[i], holder) && g->jobs[i].confined)
            launch_siblings(g->jobs[i].launch, rooms, count);
}

void grant_tell_call(struct grant *g, const struct id *holder, const uint8_t ip[16], uint16_t port,
                     bool yes)
{
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (is_for(&g->jobs[i], holder) && g->jobs[i].confined)
            launch_tell_call(g->jobs[i].launch, ip, port, yes);
}

static void on_forked(void *ctx)
{
    struct grant_job *job = ctx;
    tell_siblings(job->grant, &holder_of(job)->id);
}

static void on_calls(void *ctx, const uint8_t ip[16], uint16_t port)
{
    struct grant_job *job = ctx;
    const struct grant_parts *parts = &job->grant->parts;
    parts->calls(parts->ctx, &holder_of(job)->id, ip, port);
}

static void on_overstepped(void *ctx, const char *text)
{
    struct grant_job *job = ctx;
    grant_step(job->grant,
               &(struct lend_event){.kind = LEND_OVERSTEPPED, .row = grant_row(job), .text = text});
}

static void on_over(void *ctx, enum launch_end end, int status, const char *text)
{
    struct grant_job *job = ctx;
    struct grant *g = job->grant;
    char why[sizeof g->lend.granted[0].text];
    struct lend_event event = {.kind = LEND_OVER,
                               .row = grant_row(job),
                               .cause = end == LAUNCH_ENDED    ? LEASE_FINISHED
                                        : end == LAUNCH_FAILED ? LEASE_FAILED
                                                               : LEASE_REVOKED,
                               .status = status,
                               .text = text};
    job->launch = NULL;
    results_end(g->results, &g->lend.table.at[grant_row(job)].id);
    tell_siblings(g, &holder_of(job)->id); /* its pid may be another process's soon */
    if (end == LAUNCH_ENDED) {
        describe_end(why, sizeof why, status, text);
        event.text = why;
    }
    grant_step(g, &event);
}

/* The orted of another desktop's mpirun is to talk to it through the daemons' link, at *port; that
 * of this one over loopback, where alone mpirun listens. */
static char *lead_home(struct grant *g, const struct grant_job *job, char *command, uint16_t *port)
{
    struct part_peer self = links_self(g->node->links);
    uint16_t there = uri_port(command, strlen(command));
    if (there == 0)
        return command;
    if (!id_equal(&holder_of(job)->id, &self.id))
        there =
            tunnel_listen(g->parts.tunnels, holder_of(job), &g->lend.table.at[grant_row(job)].id);
    *port = there;
    char *led = there != 0 ? uri_rewrite(command, there) : NULL;
    free(command);
    return led;
}

/* The owner's own job: where other owners' peers are in it, they could have its processes here do
 * as they like. */
static void confine_own(struct grant *g, const struct msg_manifest *m, struct msg_room_order *order)
{
    const struct settings *s = &g->node->settings;
    const char *const secrets[] = {s->keys, s->authority, s->state, s->work, s->socket, NULL};
    struct err e = {0};
    const bool open = m->folder[0] != '\0' && folder_check(m->folder, secrets, &e) == 0;
    if (m->folder[0] != '\0' && !open)
        log_warn(g->node->log, "%s is not open to a job with other owners' peers: %s", m->folder,
                 e.text);
    limits_of_owner(order, s, open ? m->folder : "");
}

static void describe_sandbox(struct grant *g, size_t row, const struct msg_manifest *m,
                             struct msg_room_order *order)
{
    const bool guest = g->lend.granted[row].guest;
    struct part_ad ad;
    g->jobs[row].confined = guest || m->confine;
    if (guest) {
        grant_ad(g, &ad);
        limits_of_guest(order, &g->node->settings, &ad, g->lend.table.at[row].slots);
    } else if (m->confine) {
        confine_own(g, m, order);
    }
}

/* What lies below the lanes' views is as p2pd-room chooses it. */
static void begin_results(struct grant *g, size_t row, const struct msg_room_order *order)
{
    char below[sizeof order->tree + 8] = "";
    if (order->tree[0] != '\0')
        snprintf(below, sizeof below, "%s/files", order->tree);
    else if (!order->guest || strcmp(order->folder, order->job_folder) == 0)
        snprintf(below, sizeof below, "%s", order->job_folder);
    results_begin(g->results, &g->lend.table.at[row].id, &holder_of(&g->jobs[row])->id, below);
}

static int start_room(struct grant *g, size_t row, const struct msg_manifest *m, struct err *e)
{
    if (g->node->settings.encrypt && !m->encrypts)
        return err_set(e, EACCES,
                       "lends only to jobs that encrypt their messages (pml_replica_encrypt)");
    const struct lease *l = &g->lend.table.at[row];
    struct grant_job *job = &g->jobs[row];
    struct launch_watcher watcher = {.forked = on_forked,
                                     .started = on_started,
                                     .overstepped = on_overstepped,
                                     .calls = on_calls,
                                     .over = on_over,
                                     .ctx = job};
    struct msg_room_order order = {.environment = m->environment,
                                   .environment_length = m->environment_length};
    char *command = strndup((const char *)m->command, m->command_length);
    if (command != NULL)
        command = lead_home(g, job, command, &order.home);
    if (command == NULL)
        return err_set(e, ENOMEM, "no way back to its mpirun could be made");
    order.command = (const uint8_t *)command;
    order.command_length = (uint32_t)strlen(command);
    describe_sandbox(g, row, m, &order);
    limits_narrow(&order, &m->bounds);
    order.programs_count = m->programs_count;
    memcpy(order.programs, m->programs, m->programs_count * sizeof m->programs[0]);
    if (job->tree != NULL)
        snprintf(order.tree, sizeof order.tree, "%s", tree_path(job->tree));
    memcpy(order.job_folder, m->job_folder, sizeof order.job_folder);
    order.lanes = m->lanes;
    order.inputs_count = m->inputs_count;
    memcpy(order.inputs, m->inputs, m->inputs_count * sizeof m->inputs[0]);
    cores_take(g->parts.cores, (unsigned)row, l->slots, job->cores);
    int rc = launch_start(&job->launch, g->launcher, &l->id, &order, &watcher, e);
    if (rc == 0)
        begin_results(g, row, &order);
    free(command);
    return rc;
}

void grant_forget_results(void *grant, const struct id *lease)
{
    struct grant *g = grant;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (g->jobs[i].launch != NULL && id_equal(&g->lend.table.at[i].id, lease))
            launch_forget(g->jobs[i].launch);
}

void grant_look(struct grant *g, size_t row)
{
    struct grant_job *job = &g->jobs[row];
    struct message m = {.kind = MSG_lease_seen, .lease_seen.lease = g->lend.table.at[row].id};
    if (job->launch == NULL)
        return;
    m.lease_seen.waits = (uint16_t)launch_waits(job->launch);
    grant_send(g, holder_of(job), &m);
}

void grant_peers(struct grant *g, const struct id *holder)
{
    size_t length;
    uint8_t *peers = allowlist_for_room(g->parts.allowlist, holder, &length);
    for (size_t i = 0; peers != NULL && i < LEASE_MAX; i++)
        if (is_for(&g->jobs[i], holder) && g->jobs[i].confined)
            launch_allow(g->jobs[i].launch, peers, length);
    free(peers);
}

/* For the owner's eyes: what begins here. A job of this very desktop is no news. */
static void note_begin(struct grant *g, size_t row, const struct msg_manifest *m)
{
    struct grant_job *job = &g->jobs[row];
    const struct lease *l = &g->lend.table.at[row];
    job->began_ms = history_now_ms();
    g->launched++;
    snprintf(job->program, sizeof job->program, "%s",
             m->programs_count > 0 ? m->programs[0].path : "");
    if (!is_own_desktop(g, &l->holder))
        history_say(g->node->history, "%s of %s runs %s here, on %u slot%s", l->user, job->from,
                    job->program[0] != '\0' ? job->program : "a program of the system", l->slots,
                    l->slots == 1 ? "" : "s");
}

void grant_note_end(struct grant *g, size_t row, const struct lend_action *a)
{
    const struct grant_job *job = &g->jobs[row];
    struct msg_local_past past = {
        .what = PAST_LEASE, .began_ms = job->began_ms, .slots = a->slots, .lanes = 1};
    struct err e = {0};
    if (job->began_ms == 0 || is_own_desktop(g, &a->peer.id))
        return;
    past.took_ms = history_now_ms() - job->began_ms;
    snprintf(past.name, sizeof past.name, "%s", job->from);
    snprintf(past.user, sizeof past.user, "%s", a->user);
    snprintf(past.program, sizeof past.program, "%s", job->program);
    snprintf(past.text, sizeof past.text, "%.255s", a->text);
    if (history_add(g->node->history, &past, &e) != 0)
        log_warn(g->node->log, "not in the history: %s", e.text);
    history_say(g->node->history, "%s of %s has ended here: %s", a->user, job->from, a->text);
}

int grant_start(struct grant *g, size_t row, struct err *e)
{
    struct grant_job *job = &g->jobs[row];
    const struct id holder = holder_of(job)->id;
    const int rc = start_room(g, row, manifest_job(job->manifest), e);
    if (rc == 0)
        note_begin(g, row, manifest_job(job->manifest));
    manifest_free(job->manifest);
    job->manifest = NULL;
    if (rc != 0)
        return rc;
    grant_peers(g, &holder);
    return 0;
}

int grant_launch(struct grant *g, size_t row, const struct link_peer *from,
                 const struct msg_lease_launch *m, struct err *e)
{
    const struct part_peer self = links_self(g->node->links);
    struct grant_job *job = &g->jobs[row];
    snprintf(job->from, sizeof job->from, "%s", from->card->name);
    int rc = manifest_open(&job->manifest, m, from->card, &self.id, e);
    if (rc == 0)
        rc = hash_is_zero(&manifest_job(job->manifest)->files.list) ? grant_start(g, row, e)
                                                                    : grant_fetch(g, row, from, e);
    if (rc == 0)
        return 0;
    log_warn(g->node->log, "a job of %s is not started: %s", from->card->name, e->text);
    return rc;
}
