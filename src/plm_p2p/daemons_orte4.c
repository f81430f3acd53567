/* SPDX-License-Identifier: BSD-3-Clause */
/* daemons_orte4.c -- orteds in ORTE's tables. A replaced orted leaves its vpid for good: its
 * successor gets a new one, so that nothing the old one may still send can be taken for it. */
#include "plm_p2p.h"
#include "src/ras_p2p/ras_p2p.h"
#include "orte/constants.h"
#include "orte/mca/rml/rml.h"
#include "orte/mca/routed/routed.h"
#include "orte/util/proc_info.h"
#include <stdlib.h>
#include <string.h>

static struct plm_p2p_component *const plm = &mca_plm_p2p_component;

static orte_job_t *daemon_job(void)
{
    return orte_get_job_data_object(ORTE_PROC_MY_NAME->jobid);
}

/* An orted looks itself up in the pool of nodes by its vpid, so there must be a node of that index:
 * this one, if the index is free. */
static void move_node(orte_node_t *node, orte_vpid_t vpid)
{
    if (node->index >= 0 && opal_pointer_array_get_item(orte_node_pool, node->index) == node)
        return;
    if (opal_pointer_array_get_item(orte_node_pool, (int)vpid) == NULL) {
        opal_pointer_array_set_item(orte_node_pool, (int)vpid, node);
        node->index = (int)vpid;
    } else {
        node->index = opal_pointer_array_add(orte_node_pool, node);
    }
}

/* The peer that failed stays in the tables, with its name, as a node that is down. */
static void leave_behind(orte_node_t *node)
{
    orte_node_t *dead = OBJ_NEW(orte_node_t);
    dead->name = strdup(node->name);
    dead->state = ORTE_NODE_STATE_DOWN;
    dead->index = node->index;
    ORTE_FLAG_SET(dead, ORTE_NODE_FLAG_SLOTS_GIVEN);
    opal_pointer_array_set_item(orte_node_pool, node->index, dead);
    node->index = -1;
}

/* Nodes are told apart by their machine when they are described to orteds; those that are down must
 * not look like machines of another kind. */
void plm_p2p_liken_nodes(void)
{
    orte_topology_t *common = NULL;
    for (int i = 1; i < orte_node_pool->size && common == NULL; i++) {
        const orte_node_t *node = opal_pointer_array_get_item(orte_node_pool, i);
        common = node != NULL ? node->topology : NULL;
    }
    for (int i = 1; i < orte_node_pool->size; i++) {
        orte_node_t *node = opal_pointer_array_get_item(orte_node_pool, i);
        if (node != NULL && node->state == ORTE_NODE_STATE_DOWN && node->topology == NULL)
            node->topology = common;
    }
}

int plm_p2p_daemon_new(orte_node_t *node)
{
    orte_job_t *daemons = daemon_job();
    orte_proc_t *proc = OBJ_NEW(orte_proc_t);
    proc->name.jobid = ORTE_PROC_MY_NAME->jobid;
    proc->name.vpid = daemons->num_procs;
    if (opal_pointer_array_set_item(daemons->procs, (int)proc->name.vpid, proc) < 0) {
        OBJ_RELEASE(proc);
        return ORTE_ERR_OUT_OF_RESOURCE;
    }
    daemons->num_procs++;
    move_node(node, proc->name.vpid);
    OBJ_RETAIN(proc);
    node->daemon = proc;
    OBJ_RETAIN(node);
    proc->node = node;
    ORTE_FLAG_UNSET(node, ORTE_NODE_FLAG_DAEMON_LAUNCHED);
    ORTE_FLAG_SET(node, ORTE_NODE_FLAG_LOC_VERIFIED);
    ORTE_FLAG_SET(daemons, ORTE_JOB_FLAG_UPDATED);
    orte_process_info.num_procs = daemons->num_procs;
    if (orte_process_info.max_procs < orte_process_info.num_procs)
        orte_process_info.max_procs = orte_process_info.num_procs;
    orte_nidmap_communicated = false;
    orte_routed.update_routing_plan(NULL);
    plm_p2p_forget_routes();
    return ORTE_SUCCESS;
}

/* ORTE counts those that have reported, and goes on when it has counted all; only here is known
 * which it has counted. */
void plm_p2p_daemon_counted(orte_vpid_t vpid, bool counted)
{
    orte_proc_t *proc = opal_pointer_array_get_item(daemon_job()->procs, (int)vpid);
    if (proc != NULL && counted)
        ORTE_FLAG_SET(proc, ORTE_PROC_FLAG_REPORTED);
}

/* Nobody is behind this node until it is taken over: the launch must wait for that. */
void plm_p2p_daemon_disown(orte_node_t *node)
{
    orte_proc_t *proc = node->daemon;
    orte_topology_t *kind = node->topology;
    const orte_topology_t *mine = opal_pointer_array_get_item(orte_node_topologies, 0);
    if (proc == NULL)
        return;
    if (ORTE_FLAG_TEST(proc, ORTE_PROC_FLAG_REPORTED)) {
        ORTE_FLAG_UNSET(proc, ORTE_PROC_FLAG_REPORTED);
        daemon_job()->num_reported--;
    }
    ORTE_FLAG_UNSET(proc, ORTE_PROC_FLAG_ALIVE);
    if (kind != NULL && kind->topo == NULL) {
        /* It was asked how machines of its kind look, and will not answer. Any answer is good
         * enough: nothing is bound on a desktop. */
        kind->topo = mine->topo;
    }
}

void plm_p2p_daemon_retire(orte_node_t *node)
{
    orte_job_t *daemons = daemon_job();
    orte_proc_t *proc = node->daemon;
    orte_vpid_t *more = realloc(plm->retired, (plm->retired_count + 1) * sizeof plm->retired[0]);
    if (proc == NULL || more == NULL)
        return;
    plm->retired = more;
    more[plm->retired_count++] = proc->name.vpid;
    /* It counts as one of num_procs for ever, so it must count as one that has reported. */
    if (!ORTE_FLAG_TEST(proc, ORTE_PROC_FLAG_REPORTED))
        daemons->num_reported++;
    ORTE_FLAG_UNSET(proc, ORTE_PROC_FLAG_ALIVE);
    opal_pointer_array_set_item(daemons->procs, (int)proc->name.vpid, NULL);
    node->daemon = NULL;
    OBJ_RELEASE(proc);
    leave_behind(node);
    plm_p2p_forget_routes();
}

bool plm_p2p_is_retired(orte_vpid_t vpid)
{
    for (unsigned i = 0; i < plm->retired_count; i++)
        if (plm->retired[i] == vpid)
            return true;
    return false;
}

/* Every new routing plan counts the retired ones in again; mpirun would wait for them at the end.
 */
void plm_p2p_forget_routes(void)
{
    for (unsigned i = 0; i < plm->retired_count; i++) {
        const orte_process_name_t name = {.jobid = ORTE_PROC_MY_NAME->jobid,
                                          .vpid = plm->retired[i]};
        orte_routed.route_lost(orte_rml.get_routed(orte_mgmt_conduit), &name);
    }
}
