/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_owner.c -- the leases as the owner of this peer sees and ends them. */
#include "grant_state.h"
#include "lender.h"
#include <string.h>

void grant_end_of(struct grant *g, const struct id *holder, const char *why)
{
    grant_step(g, &(struct lend_event){.kind = LEND_END, .peer.id = *holder, .text = why});
}

unsigned grant_slots_free(const struct grant *g)
{
    return lender_is_open(g->lender) ? lend_slots_free(&g->lend, g->node->settings.slots) : 0;
}

unsigned grant_slots_held(const struct grant *g)
{
    return lend_slots_granted(&g->lend);
}

void grant_suspend(struct grant *g, bool suspend)
{
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (g->jobs[i].launch != NULL)
            launch_suspend(g->jobs[i].launch, suspend);
}

void grant_recall(struct grant *g, uint32_t within_ms, const char *why)
{
    grant_step(g, &(struct lend_event){.kind = LEND_RECALL, .within_ms = within_ms, .text = why});
}

void grant_end_all(struct grant *g, const char *why)
{
    grant_step(g, &(struct lend_event){.kind = LEND_END, .text = why});
}

unsigned grant_count(const struct grant *g)
{
    return lend_count(&g->lend);
}

bool grant_holds(const struct grant *g, const struct id *holder)
{
    return lend_holds(&g->lend, holder);
}

uint64_t grant_launched(const struct grant *g)
{
    return g->launched;
}

void grant_describe(const struct grant *g, unsigned nth, struct msg_local_granted *out)
{
    const struct lease *l = lend_nth(&g->lend, nth);
    if (l == NULL)
        return;
    out->lease = l->id;
    out->holder = l->holder;
    memcpy(out->user, l->user, sizeof out->user);
    out->slots = l->slots;
    const struct grant_job *job = &g->jobs[l - g->lend.table.at];
    out->pid = (uint32_t)job->pid;
    out->guest = g->lend.granted[l - g->lend.table.at].guest;
    memcpy(out->from, job->from, sizeof out->from);
    memcpy(out->program, job->program, sizeof out->program);
    out->age_ms = node_now_ms() - g->lived.lost_ms - l->since_ms;
}

unsigned grant_slots_of(const struct grant *g, unsigned nth)
{
    const struct lease *l = lend_nth(&g->lend, nth);
    return l != NULL && l->use != LEASE_WITHIN ? l->slots : 0;
}

enum lanes_way grant_views(const struct grant *g)
{
    return launcher_views(g->launcher);
}

const char *grant_controllers(const struct grant *g)
{
    return launcher_controllers(g->launcher);
}
