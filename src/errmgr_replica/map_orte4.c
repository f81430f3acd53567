/* SPDX-License-Identifier: BSD-3-Clause */
/* map_orte4.c -- mpirun --display-map, in the grid's words: peers, distances and lanes. */
#include "src/ras_p2p/ras_p2p.h"
#include "errmgr_replica.h"
#include "src/common/log.h"
#include "src/survive/placed.h"
#include "orte/mca/rmaps/rmaps_types.h"
#include <stdlib.h>
#include <string.h>

static void map_tell_node(const orte_job_t *job, const orte_node_t *node, struct placed *p,
                          bool *here)
{
    const struct ras_p2p_node *known = ras_p2p_find(node);
    char line[512];
    memset(here, 0, (size_t)p->ranks * p->lanes * sizeof *here);
    for (int i = 0; i < node->procs->size; i++) {
        const orte_proc_t *proc = opal_pointer_array_get_item(node->procs, i);
        unsigned rank, lane;
        if (proc != NULL && proc->name.jobid == job->jobid &&
            survive_place(&proc->name, p->ranks, &rank, &lane) && rank < p->ranks &&
            lane < p->lanes)
            here[(size_t)lane * p->ranks + rank] = true;
    }
    p->peer = known != NULL ? known->lease.name : node->name;
    p->rtt_us = known != NULL ? known->lease.rtt_us : 0;
    placed_line(p, line, sizeof line);
    log_line("  %s", line);
}

void map_tell(const orte_job_t *job)
{
    char line[128];
    if (ORTE_LOCAL_JOBID(job->jobid) != 1 ||
        (!job->map->display_map && mca_ras_p2p_component.verbose < 1))
        return;
    struct placed p = {.ranks = survive_ranks(job)};
    p.lanes = level_lanes(survive_level(), p.ranks);
    bool *here = calloc((size_t)p.ranks * p.lanes + 1, sizeof *here);
    p.here = here;
    placed_head(p.ranks, p.lanes, (unsigned)job->map->num_nodes, line, sizeof line);
    log_line("%s%s", line, p.lanes > 1 ? survive_explain_lane() : "");
    for (int i = 0; here != NULL && i < job->map->nodes->size; i++) {
        const orte_node_t *node = opal_pointer_array_get_item(job->map->nodes, i);
        if (node != NULL)
            map_tell_node(job, node, &p, here);
    }
    free(here);
}
