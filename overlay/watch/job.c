/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c -- the clock and the datagrams of each job's group. */
#include "job_state.h"
#include "overlay/transport/datagram.h"
#include "overlay/discovery/finder.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    JOBS_MAX = 256,
    MEMBERS_FIRST = 16, /* members */
    SETTLE_US =
        1000 *
        1000, /* from the beginning of a job until its members ping, as all know of it by then */
    DECLARED_MAX = GROUP_ACTIONS, /* in one step */
    PROBE_MS = 20,                /* for a probe to be sent and acknowledged */
};

/* --- jobs --- */

struct job *jobs_find(const struct jobs *j, const struct id *id)
{
    for (struct job *job = j->all; job != NULL; job = job->next)
        if (id_equal(&job->id, id))
            return job;
    return NULL;
}

struct job *jobs_find_own(const struct jobs *j, const void *owner)
{
    for (struct job *job = j->all; job != NULL; job = job->next)
        if (job->owner == owner)
            return job;
    return NULL;
}

void job_free(struct job *job)
{
    struct jobs *j = job->jobs;
    struct job **at = &j->all;
    while (*at != NULL && *at != job)
        at = &(*at)->next;
    if (*at != NULL) {
        *at = job->next;
        j->count--;
    }
    if (job->timer != NULL)
        event_free(job->timer);
    free(job->group);
    free(job->members);
    free(job);
}

static void job_on_time(evutil_socket_t fd, short what, void *ctx);

/* An empty group, as at the job's begin. */
static bool make_group(struct job *job)
{
    struct group_setup setup = {.self = links_self(job->jobs->node->links),
                                .job = job->id,
                                .submitter = job->submitter,
                                .seed =
                                    ((uint64_t)randombytes_random() << 32) | randombytes_random(),
                                .members = MEMBERS_FIRST};
    void *memory = malloc(group_size(&setup));
    if (memory == NULL)
        return false;
    free(job->group);
    job->group = group_init(memory, &setup, clock_us() + SETTLE_US);
    job->most = MEMBERS_FIRST;
    return true;
}

struct job *job_new(struct jobs *j, const struct id *id, const struct id *submitter)
{
    struct job *job = j->count < JOBS_MAX ? calloc(1, sizeof *job) : NULL;
    if (job == NULL)
        return NULL;
    job->jobs = j;
    job->id = *id;
    job->submitter = *submitter;
    job->timer = evtimer_new(j->node->base, job_on_time, job);
    if (job->timer == NULL || !make_group(job)) {
        job_free(job);
        return NULL;
    }
    job->next = j->all;
    j->all = job;
    j->count++;
    return job;
}

/* --- the group's steps --- */

static void set_timer(struct job *job)
{
    uint64_t due = group_deadline(job->group), now = clock_us();
    uint64_t wait = due > now ? due - now : 0;
    event_add(job->timer, &(struct timeval){.tv_sec = (time_t)(wait / 1000000),
                                            .tv_usec = (suseconds_t)(wait % 1000000)});
}

static void log_dead(const struct job *job, const struct id *peer)
{
    char text[ID_TEXT + 1];
    id_text(peer, text);
    log_info(job->jobs->node->log, "peer %.8s of a job is silent: the others hold it for dead",
             text);
}

/* The others declared this peer dead while it was suspended for long. If it is the submitter, it
 * begins a new group under a new id; another submitter has already given this peer up. */
static void begin_anew(struct job *job)
{
    randombytes_buf(&job->id, sizeof job->id);
    for (unsigned i = 0; i < job->count; i++) {
        job->members[i].told = false;
        job->members[i].probed_us = 0;
    }
    if (make_group(job)) /* without memory, the members that know the old id are lost */
        event_active(job->jobs->flush, 0, 0);
    set_timer(job);
}

/* The owner may change jobs in its callback, so it is called last. */
static void tell_declared(struct job *job, const struct id *dead, unsigned count)
{
    struct jobs *j = job->jobs;
    const void *owner = job->owner;
    bool self = false, submitter = false;
    for (unsigned i = 0; i < count; i++) {
        self = self || id_equal(&dead[i], &identity_card(j->node->identity)->id);
        submitter = submitter || id_equal(&dead[i], &job->submitter);
        log_dead(job, &dead[i]);
    }
    if (owner == NULL && (self || submitter))
        job_free(job);
    else if (self)
        begin_anew(job);
    else
        set_timer(job);
    for (unsigned i = 0; owner != NULL && !self && i < count; i++)
        if (j->declared != NULL)
            j->declared(j->ctx, owner, &dead[i]);
}

struct job_peer *job_member(const struct job *job, const struct id *peer)
{
    for (unsigned i = 0; i < job->count; i++)
        if (id_equal(&job->members[i].peer.id, peer) && !job->members[i].leaves)
            return &job->members[i];
    return NULL;
}

/* When the peer's host was probed; NULL: this daemon does not probe it. */
static uint64_t *probed_us(struct job *job, const struct id *peer)
{
    struct job_peer *m = job_member(job, peer);
    if (job->owner == NULL)
        return id_equal(peer, &job->submitter) ? &job->probed_us : NULL;
    return m != NULL ? &m->probed_us : NULL;
}

static void job_probe(struct job *job, const struct group_action *a)
{
    uint64_t *since = probed_us(job, &a->peer.id);
    if (since != NULL &&
        link_send_frame(job->jobs->node->links, &a->peer, a->frame, a->frame_length) == 0)
        *since = clock_us();
}

struct dead {
    unsigned count;
    struct id at[DECLARED_MAX];
};

static void job_take(struct job *job, const struct group_event *event, struct dead *dead)
{
    struct jobs *j = job->jobs;
    group_step(job->group, event, clock_us(), &j->out);
    for (unsigned i = 0; i < j->out.count; i++) {
        const struct group_action *a = &j->out.action[i];
        switch (a->kind) {
        case GROUP_SEND:
            datagram_send(j->parts.datagrams, &a->peer, a->frame, a->frame_length);
            break;
        case GROUP_PROBE:
            job_probe(job, a);
            break;
        case GROUP_DECLARED:
            if (dead->count < DECLARED_MAX)
                dead->at[dead->count++] = a->peer.id;
            break;
        case GROUP_DOUBTED:
        case GROUP_TRUSTED:
            break;
        }
    }
}

/* Has the host acknowledged the probe? The quicker test serves only the submitter, and only while
 * this machine is not slow itself; giving up the submitter later loses nothing, as its leases end
 * anyway. */
static bool is_reached(const struct job *job, const struct id *peer, uint64_t *since_us)
{
    const struct links *links = job->jobs->node->links;
    const bool hurry = job->owner != NULL && group_slowness(job->group) == 0;
    uint64_t ms = (clock_us() - *since_us) / 1000;
    if (*since_us == 0 || ms < PROBE_MS ||
        !(hurry ? link_heard(links, peer, (unsigned)ms) : link_answers(links, peer)))
        return false;
    *since_us = 0;
    return true;
}

/* A suspect whose host has acknowledged the probe. */
static bool find_reached(struct job *job, struct group_event *event)
{
    *event = (struct group_event){.kind = GROUP_REACHED, .peer.id = job->submitter};
    if (job->owner == NULL)
        return is_reached(job, &job->submitter, &job->probed_us);
    for (unsigned i = 0; i < job->count; i++) {
        struct job_peer *m = &job->members[i];
        event->peer = m->peer;
        if (is_reached(job, &m->peer.id, &m->probed_us))
            return true;
    }
    return false;
}

/* A job of another submitter may be freed by this. */
static void job_step(struct job *job, const struct group_event *event)
{
    struct dead dead = {.count = 0};
    struct group_event reached;
    while (find_reached(job, &reached))
        job_take(job, &reached, &dead);
    job_take(job, event, &dead);
    if (dead.count > 0)
        tell_declared(job, dead.at, dead.count);
    else
        set_timer(job);
}

static void job_on_time(evutil_socket_t fd, short what, void *ctx)
{
    const struct group_event tick = {.kind = GROUP_TICK};
    (void)fd, (void)what;
    job_step(ctx, &tick);
}

static void job_on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct jobs *j = ctx;
    const struct group_event event = {.kind = GROUP_UNREACHABLE, .peer.id = *peer};
    (void)why;
    for (struct job *job = j->all, *next; job != NULL; job = next) {
        next = job->next;
        enum group_state state;
        if (group_state_of(job->group, peer, &state))
            job_step(job, &event);
    }
}

void job_take_out(struct job *job, const struct id *peer)
{
    const struct group_event event = {.kind = GROUP_REMOVE, .peer.id = *peer};
    job_step(job, &event);
}

void job_add(struct job *job, const struct part_peer *peer)
{
    const struct group_event event = {.kind = GROUP_ADD, .peer = *peer};
    if (group_members(job->group) == job->most && job->most < GROUP_MEMBERS_MAX) {
        struct group_setup larger = {.members = 2 * job->most};
        void *memory = malloc(group_size(&larger));
        if (memory == NULL)
            return;
        struct group *old = job->group;
        job->group = group_move(memory, larger.members, old);
        job->most = larger.members;
        free(old);
    }
    job_step(job, &event);
}

void jobs_take_group(void *jobs, const struct part_peer *from, const struct message *m)
{
    struct job *job = jobs_find(jobs, group_job(m));
    const struct group_event event = {.kind = GROUP_MESSAGE, .peer = *from, .message = m};
    if (job != NULL)
        job_step(job, &event);
}

/* --- begin and end --- */

int jobs_open(struct jobs **out, struct node *node, const struct jobs_parts *parts, struct err *e)
{
    struct jobs *j = calloc(1, sizeof *j);
    if (j == NULL)
        return err_set(e, ENOMEM, "no memory");
    j->node = node;
    j->parts = *parts;
    j->flush = event_new(node->base, -1, 0, jobs_tell, j);
    if (j->flush == NULL || finder_open(&j->finder, node, parts->overlay, jobs_found, j) < 0 ||
        links_on_gone(node->links, job_on_gone, j) < 0) {
        jobs_close(j);
        return err_set(e, ENOMEM, "no memory");
    }
    datagrams_on_message(parts->datagrams, jobs_take_group, j);
    *out = j;
    return 0;
}

void jobs_close(struct jobs *j)
{
    if (j == NULL)
        return;
    links_forget_gone(j->node->links, job_on_gone, j);
    finder_close(j->finder);
    datagrams_on_message(j->parts.datagrams, NULL, NULL);
    while (j->all != NULL)
        job_free(j->all);
    if (j->flush != NULL)
        event_free(j->flush);
    free(j);
}

void jobs_on_declared(struct jobs *j, jobs_declared_fn *declared, void *ctx)
{
    j->declared = declared;
    j->ctx = ctx;
}
