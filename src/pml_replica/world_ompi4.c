/* SPDX-License-Identifier: BSD-3-Clause */
/* world_ompi4.c -- N*R processes become R worlds of N ranks that do not see each other. */
#include "glue.h"
#include "opal/util/bit_ops.h"
#include "ompi/group/group.h"
#include "ompi/proc/proc.h"

static int job_vpid(ompi_proc_t *p)
{
    opal_process_name_t name = ompi_proc_is_sentinel(p)
                                   ? ompi_proc_sentinel_to_name((uintptr_t)p)
                                   : *(opal_process_name_t *)&p->super.proc_name;
    return (int)name.vpid;
}

int world_rank_of(const ompi_group_t *group, int rank)
{
    ompi_proc_t *p = ompi_group_get_proc_ptr_raw((ompi_group_t *)group, rank);
    return replica.vpid_of[job_vpid(p)] % replica.ranks;
}

/* A rank without a copy in this lane is stood for by its copy in the first: a proc is only a name
 * here. */
static int stand_in(int rank)
{
    for (int lane = replica.lane, i = 0; i < replica.lanes; i++, lane = (lane + 1) % replica.lanes)
        if (replica.process_of[lane * replica.ranks + rank] >= 0)
            return replica.process_of[lane * replica.ranks + rank];
    return -1;
}

/* Before anything is derived from it. */
void world_swap(void)
{
    ompi_communicator_t *world = &ompi_mpi_comm_world.comm;
    ompi_group_t *all = world->c_local_group, *lane = OBJ_NEW(ompi_group_t);
    lane->grp_proc_pointers = calloc((size_t)replica.ranks, sizeof(ompi_proc_t *));
    lane->grp_proc_count = replica.ranks;
    for (int i = 0; i < replica.ranks; i++) {
        ompi_proc_t *p = all->grp_proc_pointers[stand_in(i)];
        lane->grp_proc_pointers[i] = p;
        if (!ompi_proc_is_sentinel(p))
            OBJ_RETAIN(p);
    }
    lane->grp_my_rank = replica.rank;
    OMPI_GROUP_SET_INTRINSIC(lane);
    OMPI_GROUP_SET_DENSE(lane);
    OBJ_RETAIN(lane);
    world->c_local_group = world->c_remote_group = lane;
    world->c_my_rank = replica.rank;
    world->c_cube_dim = opal_cube_dim(replica.ranks);
    OBJ_RELEASE(all);
    OBJ_RELEASE(all);
}

/* Lanes sit on different hosts and have to take the same decisions: nobody is near anybody, and
 * host names, which Open MPI sends when it makes an intercommunicator, are all of one length. */
void world_forget_locality(ompi_proc_t **procs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (procs[i] != ompi_proc_local())
            procs[i]->super.proc_flags = OPAL_PROC_NON_LOCAL;
        char *name = strdup("p2pgrid");
        if (name != NULL) {
            free(procs[i]->super.proc_hostname);
            procs[i]->super.proc_hostname = name;
        }
    }
}
