/* SPDX-License-Identifier: BSD-3-Clause */
/* job_list.c -- who is in which job: its submitter's daemon knows, and tells the others. */
#include "job_state.h"
#include "overlay/lend/allowlist.h"
#include "overlay/discovery/finder.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include <event2/event.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_ALIKE_MAX = 32 }; /* of one submitter */

/* --- the submitter's side --- */

static void send_list(struct job *job, const struct part_peer *to, enum message_kind kind,
                      const struct part_peer *peers, unsigned count)
{
    struct message m = {.kind = kind};
    struct msg_group_enter *enter = &m.group_enter; /* the two look alike */
    enum { MOST = sizeof enter->members / sizeof enter->members[0] };
    _Static_assert(sizeof m.group_enter == sizeof m.group_leave, "alike");
    enter->job = job->id;
    for (unsigned at = 0; at < count; at += MOST) {
        enter->members_count = (uint16_t)(count - at < MOST ? count - at : MOST);
        memcpy(enter->members, &peers[at], enter->members_count * sizeof peers[0]);
        link_send(job->jobs->node->links, to, &m);
    }
}

/* The submitter's own desktop is on the list, as the others' guests may call it, but is not told.
 */
static bool hears(const struct job *job, const struct job_peer *m)
{
    return m->told && !id_equal(&m->peer.id, &job->submitter);
}

static bool all_leave(const struct job *job)
{
    for (unsigned i = 0; i < job->count; i++)
        if (!job->members[i].leaves)
            return false;
    return true;
}

typedef void company_fn(struct company *c, const struct id *submitter,
                        const struct msg_group_enter *m);

/* What the job has on the submitter's own desktop may have walls, too, and is told nothing by
 * messages. */
static void tell_own(struct job *job, company_fn *tell, const struct part_peer *peers,
                     unsigned count)
{
    struct msg_group_enter *m = calloc(1, sizeof *m);
    enum { MOST = sizeof m->members / sizeof m->members[0] };
    for (unsigned at = 0; m != NULL && at < count && job_member(job, &job->submitter) != NULL;
         at += MOST) {
        m->job = job->id;
        m->members_count = (uint16_t)(count - at < MOST ? count - at : MOST);
        memcpy(m->members, &peers[at], m->members_count * sizeof peers[0]);
        tell(job->jobs->parts.company, &job->submitter, m);
    }
    free(m);
}

static void forget_some(struct company *c, const struct id *submitter,
                        const struct msg_group_enter *m)
{
    struct msg_group_leave leave = {.job = m->job, .members_count = m->members_count};
    memcpy(leave.members, m->members, m->members_count * sizeof m->members[0]);
    company_leave(c, submitter, &leave);
}

/* The job has ended: the submitter itself leaves. */
static void dissolve(struct job *job)
{
    struct part_peer self = links_self(job->jobs->node->links);
    for (unsigned i = 0; i < job->count; i++)
        if (hears(job, &job->members[i]))
            send_list(job, &job->members[i].peer, MSG_group_leave, &self, 1);
    tell_own(job, forget_some, &self, 1);
    job_free(job);
}

static bool is_dead(const struct job *job, const struct id *peer)
{
    enum group_state state;
    return group_state_of(job->group, peer, &state) && state == GROUP_DEAD;
}

/* `gone` is room for all members. That the submitter's desktop has no ranks any more is not told:
 * to the others it would be the end of the job. */
static void tell_leaving(struct job *job, struct part_peer *gone)
{
    unsigned count = 0;
    for (unsigned i = 0; i < job->count; i++)
        if (job->members[i].leaves && hears(job, &job->members[i]))
            gone[count++] = job->members[i].peer;
    for (unsigned i = 0; i < job->count && count > 0; i++)
        if (hears(job, &job->members[i]) && !is_dead(job, &job->members[i].peer.id))
            send_list(job, &job->members[i].peer, MSG_group_leave, gone, count);
    tell_own(job, forget_some, gone, count);
    unsigned kept = 0;
    for (unsigned i = 0; i < job->count; i++)
        if (!job->members[i].leaves)
            job->members[kept++] = job->members[i];
    job->count = kept;
    for (unsigned i = 0; i < count; i++)
        job_take_out(job, &gone[i].id);
}

/* The new ones learn of all, the others of the new ones. */
static void tell_entering(struct job *job, struct part_peer *list)
{
    unsigned fresh = 0, all = 0;
    for (unsigned i = 0; i < job->count; i++)
        if (!job->members[i].told)
            list[fresh++] = job->members[i].peer;
    for (unsigned i = 0; i < job->count && fresh > 0; i++)
        if (hears(job, &job->members[i]))
            send_list(job, &job->members[i].peer, MSG_group_enter, list, fresh);
    for (unsigned i = 0; i < job->count; i++)
        list[all++] = job->members[i].peer;
    for (unsigned i = 0; i < job->count; i++) {
        if (job->members[i].told)
            continue;
        job->members[i].told = true;
        if (!hears(job, &job->members[i]))
            continue;
        send_list(job, &job->members[i].peer, MSG_group_enter, list, all);
        job_add(job, &job->members[i].peer);
    }
    tell_own(job, company_enter, list, all);
}

/* After the turn of the loop in which leases came or went: an allocation is one message for each
 * peer. */
void jobs_tell(evutil_socket_t fd, short what, void *ctx)
{
    struct jobs *j = ctx;
    (void)fd, (void)what;
    for (struct job *job = j->all, *next; job != NULL; job = next) {
        next = job->next;
        if (job->owner == NULL)
            continue;
        if (all_leave(job)) {
            dissolve(job);
            continue;
        }
        struct part_peer *list = malloc(job->count * sizeof *list);
        if (list == NULL)
            continue; /* told with the next change */
        tell_leaving(job, list);
        tell_entering(job, list);
        free(list);
    }
}

void jobs_enter(struct jobs *j, const void *owner, const struct part_peer *peer)
{
    const struct id *self = &identity_card(j->node->identity)->id;
    struct job *job = jobs_find_own(j, owner);
    if (job != NULL && job_member(job, &peer->id) != NULL)
        return;
    if (job == NULL) {
        struct id fresh;
        randombytes_buf(&fresh, sizeof fresh);
        job = job_new(j, &fresh, self);
        if (job == NULL)
            return; /* unwatched: the heartbeats of mpirun are slower, and there */
        job->owner = owner;
    }
    struct job_peer *more = job->count < GROUP_MEMBERS_MAX
                                ? realloc(job->members, (job->count + 1) * sizeof *more)
                                : NULL;
    if (more != NULL) {
        job->members = more;
        more[job->count++] = (struct job_peer){.peer = *peer};
    }
    event_active(j->flush, 0, 0);
}

bool jobs_uses(const struct jobs *j, const struct id *peer)
{
    for (const struct job *job = j->all; job != NULL; job = job->next)
        if (job->owner != NULL && job_member(job, peer) != NULL)
            return true;
    return false;
}

void jobs_leave(struct jobs *j, const void *owner, const struct id *peer)
{
    struct job *job = jobs_find_own(j, owner);
    struct job_peer *m = job != NULL ? job_member(job, peer) : NULL;
    if (m == NULL)
        return;
    m->leaves = true;
    event_active(j->flush, 0, 0);
}

/* --- the other peers' side --- */

static unsigned count_of(const struct jobs *j, const struct id *submitter)
{
    unsigned n = 0;
    for (const struct job *job = j->all; job != NULL; job = job->next)
        n += id_equal(&job->submitter, submitter);
    return n;
}

/* Also of the own owner's jobs, which may be told later that they have a guest's walls. */
static bool is_lent(const struct jobs *j, const struct id *submitter)
{
    return j->parts.holds_lease(j->parts.ctx, submitter);
}

/* Guests here may call it, and its guests what the submitter runs here. */
static void let_call(struct jobs *j, const struct finder_request *request,
                     const struct part_peer *peer)
{
    struct msg_group_enter *one;
    if (!is_lent(j, &request->submitter) || (one = calloc(1, sizeof *one)) == NULL)
        return;
    one->job = request->job;
    one->members_count = 1;
    one->members[0] = *peer;
    company_enter(j->parts.company, &request->submitter, one);
    free(one);
}

/* Of another's job. Where its peers are is not for its submitter to say. */
void jobs_found(void *jobs, const struct finder_request *request, const struct part_peer *peer)
{
    struct jobs *j = jobs;
    struct job *job = jobs_find(j, &request->job);
    if (job != NULL && job->owner == NULL && id_equal(&job->submitter, &request->submitter))
        job_add(job, peer);
    let_call(j, request, peer);
}

static void on_enter(struct jobs *j, const struct link_peer *from, const struct msg_group_enter *m)
{
    const struct id *self = &identity_card(j->node->identity)->id;
    struct job *job = jobs_find(j, &m->job);
    if (!is_lent(j, &from->peer.id))
        return;
    if (job == NULL && count_of(j, &from->peer.id) < JOBS_ALIKE_MAX) {
        job = job_new(j, &m->job, &from->peer.id);
        if (job != NULL)
            job_add(job, &from->peer);
    } else if (job != NULL && (job->owner != NULL || !id_equal(&job->submitter, &from->peer.id))) {
        return;
    }
    for (unsigned i = 0; i < m->members_count; i++) {
        const struct finder_request request = {
            .job = m->job, .submitter = from->peer.id, .peer = m->members[i].id};
        if (id_equal(&request.peer,
                     &request.submitter)) /* by which of its addresses, its link says */
            let_call(j, &request, &from->peer);
        else if (!id_equal(&request.peer, self))
            finder_want(j->finder, &request);
    }
}

static void on_leave(struct jobs *j, const struct link_peer *from, const struct msg_group_leave *m)
{
    const struct id *self = &identity_card(j->node->identity)->id;
    struct job *job = jobs_find(j, &m->job);
    if (job == NULL || job->owner != NULL || !id_equal(&job->submitter, &from->peer.id))
        return;
    for (unsigned i = 0; i < m->members_count && job != NULL; i++) {
        const struct id *peer = &m->members[i].id;
        bool all = id_equal(peer, self) || id_equal(peer, &job->submitter);
        finder_forget(j->finder, &m->job, all ? NULL : peer);
        if (all)
            job_free(job);
        else
            job_take_out(job, peer);
        job = jobs_find(j, &m->job);
    }
}

enum takes {
#define TO_job(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void jobs_take(struct jobs *j, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_group_enter:
        on_enter(j, from, &m->group_enter);
        break;
    case MSG_group_leave:
        on_leave(j, from, &m->group_leave);
        company_leave(j->parts.company, &from->peer.id, &m->group_leave);
        break;
    }
}
