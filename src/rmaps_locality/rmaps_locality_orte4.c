/* SPDX-License-Identifier: BSD-3-Clause */
/* rmaps_locality_orte4.c -- tells policy.c about the job and its nodes, and ORTE the answer. */
#include "rmaps_locality.h"
#include "src/errmgr_replica/survive_orte4.h"
#include "src/common/log.h"
#include "src/common/param.h"
#include "src/survive/names.h"
#include "policy.h"
#include "src/ras_p2p/ras_p2p.h"
#include "opal/mca/hwloc/base/base.h"
#include "orte/constants.h"
#include "orte/mca/rmaps/base/rmaps_private.h"
#include "orte/mca/rmaps/rmaps_types.h"
#include "orte/util/attr.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_bound_to(const orte_job_t *job, unsigned what)
{
    return OPAL_BINDING_POLICY_IS_SET(job->map->binding) &&
           OPAL_GET_BINDING_POLICY(job->map->binding) == what;
}

/* Did the user say in Open MPI's words where the ranks go? Whoever describes a job to the last
 * process must bind it too, and to anything but cores only stock mappers can. */
static bool is_mapped_by_user(const orte_job_t *job)
{
    const orte_job_map_t *map = job->map;
    if (OPAL_BINDING_POLICY_IS_SET(map->binding) && !is_bound_to(job, OPAL_BIND_TO_NONE) &&
        !is_bound_to(job, OPAL_BIND_TO_CORE))
        return true;
    if ((ORTE_MAPPING_GIVEN & ORTE_GET_MAPPING_DIRECTIVE(map->mapping)) != 0 ||
        (ORTE_RANKING_GIVEN & ORTE_GET_RANKING_DIRECTIVE(map->ranking)) != 0 || map->ppr != NULL ||
        map->cpus_per_rank > 0)
        return true;
    return map->req_mapper != NULL && strcasecmp(map->req_mapper, "locality") != 0;
}

static bool names_hosts(orte_job_t *job)
{
    for (int i = 0; i < job->apps->size; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        if (app != NULL &&
            (orte_get_attribute(&app->attributes, ORTE_APP_DASH_HOST, NULL, OPAL_STRING) ||
             orte_get_attribute(&app->attributes, ORTE_APP_HOSTFILE, NULL, OPAL_STRING)))
            return true;
    }
    return false;
}

/* The app context of each rank; NULL when memory is out. *ranks is how many there are. */
static int *app_of_ranks(const orte_job_t *job, unsigned *ranks)
{
    unsigned sum = 0;
    for (int i = 0; i < job->apps->size; i++) {
        const orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        sum += app != NULL ? (unsigned)app->num_procs : 0;
    }
    int *of = calloc(sum + 1, sizeof *of);
    *ranks = of != NULL ? sum : 0;
    unsigned rank = 0;
    for (int i = 0; i < job->apps->size && of != NULL; i++) {
        const orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        for (unsigned k = 0; app != NULL && k < (unsigned)app->num_procs; k++)
            of[rank++] = i;
    }
    return of;
}

/* The nodes with an orted, as the policy sees them. */
struct field {
    orte_node_t **node;
    struct policy_node *place;
    unsigned count;
    unsigned free; /* slots, of all */
};

static int fill_field(struct field *f)
{
    *f = (struct field){0};
    f->node = calloc((size_t)orte_node_pool->size, sizeof f->node[0]);
    f->place = calloc((size_t)orte_node_pool->size, sizeof f->place[0]);
    if (f->node == NULL || f->place == NULL)
        return -ENOMEM;
    for (int i = 0; i < orte_node_pool->size; i++) {
        orte_node_t *node = opal_pointer_array_get_item(orte_node_pool, i);
        const struct ras_p2p_node *known = node != NULL ? ras_p2p_find(node) : NULL;
        if (known == NULL || node->daemon == NULL || node->state == ORTE_NODE_STATE_DOWN)
            continue;
        const unsigned left =
            node->slots > node->slots_inuse ? (unsigned)(node->slots - node->slots_inuse) : 0;
        f->place[f->count] = (struct policy_node){.peer = known->lease.peer,
                                                  .addr = known->lease.addr,
                                                  .site = known->lease.site,
                                                  .rtt_us = known->lease.rtt_us,
                                                  .free = left};
        f->node[f->count++] = node;
        f->free += left;
    }
    return 0;
}

/* One of the cores that the node's lease has for itself, as a list of processors; NULL: there are
 * not so many. */
static char *core_of(const orte_node_t *node, unsigned nth)
{
    const struct ras_p2p_node *known = ras_p2p_find(node);
    hwloc_topology_t topology = node->topology != NULL ? node->topology->topo : NULL;
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    char *list = NULL;
    if (known != NULL && topology != NULL && own != NULL && known->cores[0] != '\0' &&
        hwloc_bitmap_list_sscanf(own, known->cores) == 0) {
        hwloc_obj_type_t type =
            hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
        hwloc_obj_t core = hwloc_get_obj_inside_cpuset_by_type(topology, own, type, nth);
        if (core != NULL)
            hwloc_bitmap_list_asprintf(&list, core->cpuset);
    }
    hwloc_bitmap_free(own);
    return list;
}

static int bind_process(orte_proc_t *proc, const orte_node_t *node, unsigned nth, bool required)
{
    char *core = core_of(node, nth);
    if (core == NULL && required) {
        log_line("%s has no core of its own for each process, as --bind-to core demands: leave it "
                 "out, or see 'slots' and 'cores' in its p2pd.conf",
                 node->name);
        return ORTE_ERR_SILENT;
    }
    if (core != NULL)
        orte_set_attribute(&proc->attributes, ORTE_PROC_CPU_BITMAP, ORTE_ATTR_GLOBAL, core,
                           OPAL_STRING);
    free(core);
    return ORTE_SUCCESS;
}

/* Slots of a desktop are no cores set aside for the job, since its owner uses them too: processes
 * are bound only on demand. */
static int bind_as_wanted(const orte_job_t *job, orte_proc_t *proc, const orte_node_t *node,
                          unsigned nth)
{
    const struct rmaps_locality_component *c = &mca_rmaps_locality_component;
    const bool core = is_bound_to(job, OPAL_BIND_TO_CORE);
    const bool filled = c->strategy == SHARE_CONCENTRATE && param_is_given(c->strategy_index);
    if (!core && (!filled || is_bound_to(job, OPAL_BIND_TO_NONE)))
        return ORTE_SUCCESS;
    return bind_process(proc, node, nth, core);
}

static int add_process(orte_job_t *job, orte_node_t *node, int app, unsigned vpid)
{
    const unsigned nth = (unsigned)node->slots_inuse;
    if (!ORTE_FLAG_TEST(node, ORTE_NODE_FLAG_MAPPED)) {
        OBJ_RETAIN(node);
        opal_pointer_array_add(job->map->nodes, node);
        job->map->num_nodes++;
        ORTE_FLAG_SET(node, ORTE_NODE_FLAG_MAPPED);
    }
    orte_proc_t *proc = orte_rmaps_base_setup_proc(job, node, (orte_app_idx_t)app);
    if (proc == NULL)
        return ORTE_ERR_OUT_OF_RESOURCE;
    proc->name.vpid = vpid;
    if (node->topology != NULL && node->topology->topo != NULL) {
        orte_set_attribute(&proc->attributes, ORTE_PROC_HWLOC_LOCALE, ORTE_ATTR_LOCAL,
                           hwloc_get_root_obj(node->topology->topo), OPAL_PTR);
    }
    const int rc = opal_pointer_array_set_item(job->procs, (int)vpid, proc);
    job->num_procs++;
    return rc == ORTE_SUCCESS ? bind_as_wanted(job, proc, node, nth) : rc;
}

/* ORTE learns who runs where, process by process. */
static int map_describe(orte_job_t *job, const struct field *f, const unsigned *node,
                        const int *app_of, unsigned ranks, unsigned lanes)
{
    int rc = ORTE_SUCCESS;
    free(job->map->last_mapper);
    job->map->last_mapper = strdup("locality");
    job->num_procs = 0;
    for (unsigned vpid = 0; vpid < ranks * lanes && rc == ORTE_SUCCESS; vpid++) {
        if (node[vpid] != POLICY_NOWHERE) {
            log_trace(mca_rmaps_locality_component.verbose, 2, (int)names_rank(ranks, vpid),
                      (int)names_lane(ranks, vpid), f->node[node[vpid]]->name, "runs there");
            rc = add_process(job, f->node[node[vpid]], app_of[names_rank(ranks, vpid)],
                             job->num_procs); /* without gaps: as level_process() counts */
        }
    }
    for (unsigned rank = ranks; rank-- > 0;) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, app_of[rank]);
        app->first_rank = rank;
    }
    for (int i = 0; i < job->apps->size; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        if (app != NULL)
            app->num_procs *= (orte_std_cntr_t)lanes;
    }
    if (lanes > 1)
        job->stdin_target = ORTE_VPID_WILDCARD; /* every copy of rank 0 reads it */
    orte_set_attribute(&job->attributes, ORTE_JOB_FULLY_DESCRIBED, ORTE_ATTR_GLOBAL, NULL,
                       OPAL_BOOL);
    return rc;
}

static int map_refuse(const char *why)
{
    log_line("%s", why);
    return ORTE_ERR_SILENT;
}

static unsigned *copies_of_ranks(const struct level *level, unsigned ranks)
{
    unsigned *copies = calloc(ranks + 1, sizeof *copies);
    for (unsigned i = 0; copies != NULL && i < ranks; i++)
        copies[i] = level_of(level, i);
    return copies;
}

static int map_ranks(orte_job_t *job, const struct level *level, const struct field *f,
                     const int *app_of, unsigned ranks)
{
    struct err e = {0};
    const unsigned lanes = level_lanes(level, ranks);
    struct policy_job wanted = {
        .nodes = f->place, .node_count = f->count, .ranks = ranks, .lanes = lanes};
    unsigned *copies = copies_of_ranks(level, ranks);
    unsigned *node = calloc((size_t)ranks * lanes + 1, sizeof *node);
    int rc = copies != NULL && node != NULL ? 0 : err_set(&e, ENOMEM, "out of memory");
    wanted.copies = copies;
    if (rc == 0) {
        enum share_strategy strategy; /* how many run on each peer, the leases say already */
        rc = ras_p2p_strategy(&strategy, &e);
        wanted.spread = strategy == SHARE_SPREAD;
    }
    if (rc == 0)
        rc = policy_place(&wanted, node, &e);
    rc = rc != 0 ? map_refuse(e.text) : map_describe(job, f, node, app_of, ranks, lanes);
    free(node);
    free(copies);
    return rc;
}

/* Unbound unless the user says otherwise: every job would bind to the same first cores. */
static int leave_to_stock(orte_job_t *job)
{
    if (!OPAL_BINDING_POLICY_IS_SET(job->map->binding))
        OPAL_SET_BINDING_POLICY(job->map->binding, OPAL_BIND_TO_NONE);
    return ORTE_ERR_TAKE_NEXT_OPTION;
}

/* At level 1 a user who says where the ranks go, or wants more of them than there are slots, gets
 * what stock Open MPI does with the grid's nodes. Copies of a rank must be kept apart, so at a
 * higher level nobody else can place them. */
int rmaps_locality_map(orte_job_t *job)
{
    const struct level *level = survive_level();
    struct field field;
    unsigned ranks;
    if (ORTE_FLAG_TEST(job, ORTE_JOB_FLAG_RESTART) ||
        ORTE_FLAG_TEST(job, ORTE_JOB_FLAG_DEBUGGER_DAEMON))
        return ORTE_ERR_TAKE_NEXT_OPTION;
    const bool replicated = level_replicates(level);
    if (is_mapped_by_user(job) || names_hosts(job)) {
        return replicated
                   ? map_refuse("errmgr_replica_level 2 and above decides itself where copies "
                                "run: leave out --map-by, --rank-by, -N, --host, --hostfile, and "
                                "--bind-to except to core or none")
                   : leave_to_stock(job);
    }
    int *app_of = app_of_ranks(job, &ranks);
    int rc = fill_field(&field);
    if (app_of == NULL || rc != 0)
        rc = map_refuse("out of memory");
    else if (!replicated && field.free < ranks)
        rc = leave_to_stock(job);
    else
        rc = map_ranks(job, level, &field, app_of, ranks);
    free(app_of);
    free(field.node);
    free(field.place);
    return rc;
}
