/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_job.c -- what runs under a lease: from the holder's manifest to the end of its room. */
#include "grant_state.h"
#include "allowlist.h"
#include "overlay/manifest/folder.h"
#include "overlay/manifest/manifest.h"
#include "overlay/sandbox/room.h"
#include "overlay/transport/uri.h"
#include "overlay/sandbox/limits.h"
#include "overlay/transport/link.h"
#include "overlay/base/log.h"
#include "overlay/transport/tunnel.h"
#include "overlay/host/cores.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void on_started(void *ctx, pid_t pid)
{
    struct grant_job *job = ctx;
    struct grant *g = job->grant;
    struct message m = {.kind = MSG_lease_launched};
    m.lease_launched.lease = g->table.at[job - g->jobs].id;
    m.lease_launched.pid = (uint32_t)pid;
    memcpy(m.lease_launched.cores, job->cores, sizeof m.lease_launched.cores);
    job->pid = pid;
    grant_send(g, &job->holder, &m);
}

static void describe_end(struct grant_job *job, const char *words)
{
    size_t size = sizeof job->text;
    int n = WIFSIGNALED(job->status)
                ? snprintf(job->text, size, "its command was killed by signal %d",
                           WTERMSIG(job->status))
                : snprintf(job->text, size, "its command ended with status %d",
                           WEXITSTATUS(job->status));
    if (words[0] != '\0')
        snprintf(job->text + n, size - (size_t)n, ": %s", words);
}

static bool is_for(const struct grant_job *job, const struct id *holder)
{
    return job->launch != NULL && id_equal(&job->holder.id, holder);
}

size_t grant_rooms(const struct grant *g, const struct id *holder, pid_t *rooms, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < LEASE_MAX && count < most; i++)
        if (is_for(&g->jobs[i], holder))
            rooms[count++] = launch_room(g->jobs[i].launch);
    return count;
}

/* A job may have several leases here, whose ranks call each other. */
static void tell_kin(struct grant *g, const struct id *holder)
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

static void on_calls(void *ctx, const uint8_t ip[16], uint16_t port)
{
    struct grant_job *job = ctx;
    const struct grant_parts *parts = &job->grant->parts;
    parts->calls(parts->ctx, &job->holder.id, ip, port);
}

/* Its room waits with ending it until the holder is told. */
static void on_overstepped(void *ctx, const char *text)
{
    struct grant_job *job = ctx;
    struct grant *g = job->grant;
    struct lease *l = &g->table.at[job - g->jobs];
    if (l->state == LEASE_ENDING)
        return; /* for another reason, which is known */
    snprintf(job->text, sizeof job->text, "%s", text);
    lease_end(l, LEASE_REVOKED);
    grant_settle(g);
}

static void on_over(void *ctx, enum launch_end end, int status, const char *text)
{
    struct grant_job *job = ctx;
    struct grant *g = job->grant;
    struct lease *l = &g->table.at[job - g->jobs];
    job->launch = NULL;
    tell_kin(g, &job->holder.id); /* its pid may be another process's soon */
    job->status = status;
    if (l->state != LEASE_ENDING && end == LAUNCH_ENDED) {
        describe_end(job, text);
        lease_end(l, LEASE_FINISHED);
    } else if (l->state != LEASE_ENDING) { /* else as was wanted, for a reason that is known */
        snprintf(job->text, sizeof job->text, "%s", text);
        lease_end(l, end == LAUNCH_FAILED ? LEASE_FAILED : LEASE_REVOKED);
    }
    grant_settle(g);
}

/* The orted of another desktop's mpirun is to talk to it through the daemons' link, at *port; that
 * of this one over loopback, where alone mpirun listens. */
static char *lead_home(struct grant *g, const struct grant_job *job, const struct lease *l,
                       char *command, uint16_t *port)
{
    struct part_peer self = links_self(g->node->links);
    uint16_t there = uri_port(command, strlen(command));
    if (there == 0)
        return command;
    if (!id_equal(&job->holder.id, &self.id))
        there = tunnel_listen(g->parts.tunnels, &job->holder, &l->id);
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

static void build_walls(struct grant *g, struct lease *l, const struct msg_manifest *m,
                        struct msg_room_order *order)
{
    struct grant_job *job = &g->jobs[grant_index(g, l)];
    struct part_ad ad;
    job->confined = job->guest || m->confine;
    if (job->guest) {
        grant_ad(g, &ad);
        limits_of_guest(order, &g->node->settings, &ad, l->slots);
    } else if (m->confine) {
        confine_own(g, m, order);
    }
}

static int start(struct grant *g, struct lease *l, const struct msg_manifest *m, struct err *e)
{
    if (g->node->settings.encrypt && !m->encrypts)
        return err_set(e, EACCES,
                       "lends only to jobs that encrypt their messages (pml_replica_encrypt)");
    struct grant_job *job = &g->jobs[grant_index(g, l)];
    struct launch_watcher watcher = {.started = on_started,
                                     .overstepped = on_overstepped,
                                     .calls = on_calls,
                                     .over = on_over,
                                     .ctx = job};
    struct msg_room_order order = {.environment = m->environment,
                                   .environment_length = m->environment_length};
    char *command = strndup((const char *)m->command, m->command_length);
    if (command != NULL)
        command = lead_home(g, job, l, command, &order.home);
    if (command == NULL)
        return err_set(e, ENOMEM, "no way back to its mpirun could be made");
    order.command = (const uint8_t *)command;
    order.command_length = (uint32_t)strlen(command);
    build_walls(g, l, m, &order);
    limits_narrow(&order, &m->bounds);
    order.programs_count = m->programs_count;
    memcpy(order.programs, m->programs, m->programs_count * sizeof m->programs[0]);
    order.inputs_count = m->inputs_count;
    memcpy(order.inputs, m->inputs, m->inputs_count * sizeof m->inputs[0]);
    cores_take(g->parts.cores, (unsigned)grant_index(g, l), l->slots, job->cores);
    int rc = launch_start(&job->launch, g->launcher, &l->id, &order, &watcher, e);
    free(command);
    return rc;
}

void grant_look(struct grant *g, const struct lease *l)
{
    struct grant_job *job = &g->jobs[grant_index(g, l)];
    struct message m = {.kind = MSG_lease_seen, .lease_seen.lease = l->id};
    if (job->launch == NULL)
        return;
    m.lease_seen.waits = (uint16_t)launch_waits(job->launch);
    grant_send(g, &job->holder, &m);
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

void grant_launch(struct grant *g, struct lease *l, const struct link_peer *from,
                  const struct msg_lease_launch *m)
{
    struct grant_job *job = &g->jobs[grant_index(g, l)];
    struct part_peer self = links_self(g->node->links);
    struct manifest *signed_job;
    struct err e = {0};
    if (l->use == LEASE_RESERVES || !lease_run(l)) {
        log_warn(g->node->log, "a second command for one lease was asked for and not started");
        return;
    }
    int rc = manifest_open(&signed_job, m, from->card, &self.id, &e);
    if (rc == 0) {
        rc = start(g, l, manifest_job(signed_job), &e);
        manifest_free(signed_job);
    }
    if (rc == 0) {
        grant_peers(g, &from->peer.id);
        tell_kin(g, &from->peer.id);
        return;
    }
    log_warn(g->node->log, "a job of %s is not started: %s", from->card->name, e.text);
    snprintf(job->text, sizeof job->text, "%s", e.text);
    lease_end(l, LEASE_FAILED);
}
