/* SPDX-License-Identifier: BSD-3-Clause */
/* recall_orte4.c -- mpirun's side: a peer's owner wants it back. Copies that other peers have too
 * are given up at once; a last copy stays as long as it may. */
#include "errmgr_replica.h"
#include "src/common/log.h"

static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;

/* The first rank that would be lost with this peer; false: there is none. */
static bool find_last_copy(const orte_node_t *node, unsigned *last)
{
    for (int i = 0; i < node->procs->size; i++) {
        const orte_proc_t *p = opal_pointer_array_get_item(node->procs, i);
        unsigned rank, lane;
        if (p == NULL || p->state >= ORTE_PROC_STATE_TERMINATED ||
            p->name.jobid == ORTE_PROC_MY_NAME->jobid)
            continue;
        *last = (unsigned)p->name.vpid;
        if (!hnp_place(&p->name, &rank, &lane))
            return true; /* not replicated */
        *last = rank;
        if (fate_living(self->hnp.fate, rank, lane) && !fate_spares(self->hnp.fate, rank, lane))
            return true;
    }
    return false;
}

bool hnp_recalled(orte_vpid_t vpid, const char *why)
{
    const orte_proc_t *d = hnp_find_daemon(vpid);
    unsigned rank;
    if (d == NULL || d->node == NULL || hnp_is_lost(d) || hnp_ends_already())
        return false;
    if (find_last_copy(d->node, &rank)) {
        log_line("%s, and has the only copy of rank %u: the job ends then, unless it is done "
                 "before",
                 why, rank);
        return false;
    }
    if (!survive_active())
        return false; /* nothing of the job runs there */
    log_trace(self->verbose, 1, -1, -1, hnp_peer_of(d), "%s: the job goes on without", why);
    hnp_daemon_lost(vpid, FATE_HOST_LEFT, NULL);
    return true;
}
