/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_owner.c -- the leases as the owner of this peer sees and ends them. */
#include "grant_state.h"
#include "lender.h"
#include <stdio.h>
#include <string.h>

void grant_end_of(struct grant *g, const struct id *holder, const char *why)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        struct lease *l = &g->table.at[i];
        if (l->state == LEASE_FREE || l->state == LEASE_ENDING || !id_equal(&l->holder, holder))
            continue;
        snprintf(g->jobs[i].text, sizeof g->jobs[i].text, "%s", why);
        lease_end(l, LEASE_REVOKED);
    }
    grant_settle(g);
}

unsigned grant_slots_free(const struct grant *g)
{
    if (!lender_is_open(g->lender))
        return 0;
    unsigned slots = g->node->settings.slots;
    unsigned available = lease_slots_free(&g->table, slots) + lease_slots_contested(&g->table);
    return available < slots ? available : slots;
}

unsigned grant_slots_held(const struct grant *g)
{
    unsigned slots = 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        slots += g->table.at[i].state > LEASE_OFFERED && g->table.at[i].use != LEASE_RESERVES
                     ? g->table.at[i].slots
                     : 0;
    return slots;
}

void grant_suspend(struct grant *g, bool suspend)
{
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (g->jobs[i].launch != NULL)
            launch_suspend(g->jobs[i].launch, suspend);
}

void grant_recall(struct grant *g, uint32_t within_ms, const char *why)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        const struct lease *l = &g->table.at[i];
        struct message m = {.kind = MSG_lease_recall};
        if ((l->state != LEASE_HELD && l->state != LEASE_RUNNING) || g->jobs[i].recalled)
            continue;
        m.lease_recall.lease = l->id;
        m.lease_recall.within_ms = within_ms;
        snprintf(m.lease_recall.text, sizeof m.lease_recall.text, "%s", why);
        g->jobs[i].recalled = true;
        grant_send(g, &g->jobs[i].holder, &m);
    }
}

void grant_end_all(struct grant *g, const char *why)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        struct lease *l = &g->table.at[i];
        if (l->state == LEASE_HELD || l->state == LEASE_RUNNING) {
            lease_end(l, LEASE_REVOKED);
            snprintf(g->jobs[i].text, sizeof g->jobs[i].text, "%s", why);
        }
    }
    grant_settle(g);
}

unsigned grant_count(const struct grant *g)
{
    unsigned count = 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        count += g->table.at[i].state > LEASE_OFFERED;
    return count;
}

bool grant_holds(const struct grant *g, const struct id *holder)
{
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (g->table.at[i].state > LEASE_OFFERED && id_equal(&g->table.at[i].holder, holder))
            return true;
    return false;
}

void grant_describe(const struct grant *g, unsigned nth, struct msg_local_granted *out)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        const struct lease *l = &g->table.at[i];
        if (l->state <= LEASE_OFFERED || nth-- > 0)
            continue;
        out->lease = l->id;
        out->holder = g->jobs[i].holder.id;
        memcpy(out->user, l->user, sizeof out->user);
        out->slots = l->slots;
        out->pid = (uint32_t)g->jobs[i].pid;
        out->age_ms = node_now_ms() - g->lived.lost_ms - l->since_ms;
        return;
    }
}

const char *grant_controllers(const struct grant *g)
{
    return launcher_controllers(g->launcher);
}
