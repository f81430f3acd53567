/* SPDX-License-Identifier: BSD-3-Clause */
/* told_jobs.c -- one page of what this daemon knows of jobs, without what the asker is not to know.
 */
#include "told_jobs.h"
#include "overlay/borrow/reservations.h"
#include "overlay/borrow/roster.h"
#include "overlay/client/words.h"
#include "overlay/core/lease/lease.h"
#include "overlay/crypto/identity.h"
#include "overlay/lend/grant.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    PAGE_JOBS = sizeof((struct msg_jobs_answer *)0)->jobs / sizeof(struct part_grid_job),
    PAGE_LENT = sizeof((struct msg_jobs_answer *)0)->lent / sizeof(struct part_held),
};

/* --- submitted here --- */

static bool may_know_program(const struct told_jobs *t, const struct link_peer *asker, bool is_host)
{
    return is_host || t->node->settings.show_programs ||
           id_equal(&asker->card->owner, &identity_card(t->node->identity)->owner);
}

static void name_user(struct part_grid_job *job)
{
    const struct passwd *user = getpwuid(getuid());
    if (user != NULL)
        snprintf(job->user, sizeof job->user, "%.31s", user->pw_name);
    else
        snprintf(job->user, sizeof job->user, "uid %u", (unsigned)getuid());
}

/* The nth thing that somebody here holds slots for; false: there are fewer. */
static bool nth_job(const struct told_jobs *t, size_t nth, const struct link_peer *asker,
                    struct part_grid_job *job)
{
    const size_t jobs = roster_count(t->roster);
    bool is_host = false;
    if (nth < jobs)
        roster_describe(t->roster, nth, &asker->peer.id, job, &is_host);
    else if (!reserve_describe(t->reserves, nth - jobs, job))
        return false;
    name_user(job);
    if (!may_know_program(t, asker, is_host))
        memset(job->program, 0, sizeof job->program);
    return true;
}

/* --- lent here --- */

static bool is_same(const struct part_held *held, const struct msg_local_granted *lease)
{
    return id_equal(&held->holder, &lease->holder) && strcmp(held->user, lease->user) == 0;
}

/* One row for all leases of one user of one desktop; `held` has room for each lease. */
static size_t sum_up(const struct told_jobs *t, struct part_held *held)
{
    size_t count = 0;
    for (unsigned i = 0; i < grant_count(t->grant); i++) {
        struct msg_local_granted lease = {0};
        size_t at = 0;
        grant_describe(t->grant, i, &lease);
        while (at < count && !is_same(&held[at], &lease))
            at++;
        if (at == count) {
            held[count] = (struct part_held){.holder = lease.holder};
            memcpy(held[count].from, lease.from, sizeof held[count].from);
            memcpy(held[count++].user, lease.user, sizeof lease.user);
        }
        held[at].slots += grant_slots_of(t->grant, i);
        if (lease.age_ms > held[at].age_ms)
            held[at].age_ms = lease.age_ms;
    }
    return count;
}

void told_jobs_answer(const struct told_jobs *t, const struct link_peer *to,
                      const struct msg_jobs_ask *ask, struct msg_jobs_answer *answer)
{
    static struct part_held held[LEASE_MAX];
    const size_t lent = t->grant != NULL ? sum_up(t, held) : 0;
    struct part_grid_job job = {0};
    size_t jobs = 0;
    answer->token = ask->token;
    answer->page = ask->page;
    for (; nth_job(t, jobs, to, &job); jobs++, job = (struct part_grid_job){0})
        if (jobs / PAGE_JOBS == ask->page)
            answer->jobs[answer->jobs_count++] = job;
    for (size_t i = (size_t)ask->page * PAGE_LENT; i < lent && answer->lent_count < PAGE_LENT; i++)
        answer->lent[answer->lent_count++] = held[i];
    const size_t pages = (jobs + PAGE_JOBS - 1) / PAGE_JOBS,
                 others = (lent + PAGE_LENT - 1) / PAGE_LENT;
    answer->pages = (uint16_t)(pages > others ? pages : others);
}
