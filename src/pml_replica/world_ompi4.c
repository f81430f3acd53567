/* SPDX-License-Identifier: BSD-3-Clause */
/* world_ompi4.c -- N*R processes become R worlds of N ranks that do not see each other. */
#include "glue.h"
#include "opal/util/bit_ops.h"
#include "ompi/group/group.h"
#include "ompi/proc/proc.h"

static int proc_vpid(ompi_proc_t *p)
{
    opal_process_name_t name = ompi_proc_is_sentinel(p)
                                   ? ompi_proc_sentinel_to_name((uintptr_t)p)
                                   : *(opal_process_name_t *)&p->super.proc_name;
    return (int)name.vpid;
}

int world_rank_of(const ompi_group_t *group, int rank)
{
    ompi_proc_t *p = ompi_group_get_proc_ptr_raw((ompi_group_t *)group, rank);
    return replica.replica_of[proc_vpid(p)] % replica.ranks;
}

/* A proc is only a name here, and names are sent when an intercommunicator is made: every lane
 * gives a rank the name of its copy in the first lane, which is always there. */
static ompi_proc_t *proc_of_rank(int rank)
{
    opal_process_name_t name = {.jobid = OMPI_PROC_MY_NAME->jobid,
                                .vpid = (opal_vpid_t)replica.process_of[rank]};
    return (ompi_proc_t *)ompi_proc_for_name(name);
}

static ompi_group_t *group_of_ranks(const int *ranks, int count)
{
    ompi_group_t *group = OBJ_NEW(ompi_group_t);
    group->grp_proc_pointers = calloc((size_t)count, sizeof(ompi_proc_t *));
    group->grp_proc_count = count;
    for (int i = 0; i < count; i++) {
        group->grp_proc_pointers[i] = proc_of_rank(ranks != NULL ? ranks[i] : i);
        OBJ_RETAIN(group->grp_proc_pointers[i]);
    }
    OMPI_GROUP_SET_INTRINSIC(group);
    OMPI_GROUP_SET_DENSE(group);
    OBJ_RETAIN(group);
    return group;
}

static void group_replace(ompi_communicator_t *comm, ompi_group_t *group, int rank)
{
    ompi_group_t *old = comm->c_local_group;
    group->grp_my_rank = rank;
    comm->c_local_group = comm->c_remote_group = group;
    comm->c_my_rank = rank;
    OBJ_RELEASE(old);
    OBJ_RELEASE(old);
}

/* Before anything is derived from them. */
void world_swap(void)
{
    ompi_communicator_t *world = &ompi_mpi_comm_world.comm, *self = &ompi_mpi_comm_self.comm;
    group_replace(world, group_of_ranks(NULL, replica.ranks), replica.rank);
    group_replace(self, group_of_ranks(&replica.rank, 1), 0);
    ompi_proc_local_proc = proc_of_rank(replica.rank);
    ompi_proc_local_proc->super.proc_flags = OPAL_PROC_ALL_LOCAL;
    world->c_cube_dim = opal_cube_dim(replica.ranks);
}

/* Lanes are on different hosts and have to take the same decisions: no process is local to another,
 * and host names, which Open MPI sends when it makes an intercommunicator, all have one length. */
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
