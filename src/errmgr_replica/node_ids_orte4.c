/* SPDX-License-Identifier: BSD-3-Clause */
/* node_ids_orte4.c -- each process is to find its own desktop in what libpmix knows of the job.
 * ORTE names a node by its place in its pool, in which mpirun's own comes first, and libpmix takes
 * that for the place in the job's node map, where mpirun's own is not: a process was told who is on
 * the next desktop, and MPI_Init failed when fewer are there. So the number is made the place in
 * the map. */
#include "errmgr_replica.h"
#include "opal/mca/pmix/pmix.h"
#include "orte/mca/rmaps/rmaps_types.h"
#include <string.h>

static opal_pmix_base_module_server_register_nspace_fn_t stock_register;

/* As many as there are nodes, which is the number of none, for one that is not in the map. */
static uint32_t place_in_map(const orte_job_t *job, uint32_t in_pool)
{
    uint32_t place = 0;
    for (int i = 0; i < job->map->nodes->size; i++) {
        const orte_node_t *node = opal_pointer_array_get_item(job->map->nodes, i);
        if (node != NULL && (uint32_t)node->index == in_pool)
            return place;
        place += node != NULL;
    }
    return place;
}

static void name_by_place(opal_list_t *info, const orte_job_t *job)
{
    opal_value_t *v;
    OPAL_LIST_FOREACH(v, info, opal_value_t)
    {
        if (strcmp(v->key, OPAL_PMIX_PROC_DATA) == 0)
            name_by_place(v->data.ptr, job);
        else if (strcmp(v->key, OPAL_PMIX_NODEID) == 0)
            v->data.uint32 = place_in_map(job, v->data.uint32);
    }
}

static int register_by_place(opal_jobid_t id, int local, opal_list_t *info,
                             opal_pmix_op_cbfunc_t done, void *ctx)
{
    const orte_job_t *job = orte_get_job_data_object(id);
    if (job != NULL && job->map != NULL)
        name_by_place(info, job);
    return stock_register(id, local, info, done, ctx);
}

void node_ids_take_over(void)
{
    stock_register = opal_pmix.server_register_nspace;
    opal_pmix.server_register_nspace = register_by_place;
}
