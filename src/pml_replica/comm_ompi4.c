/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_ompi4.c -- communicators: their members, for the engine; twins made without messages; and
 * those that are refused. */
#include "glue.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/mca/coll/base/base.h"

static int *group_world_ranks(const ompi_group_t *group)
{
    int *world = malloc(((size_t)group->grp_proc_count + 1) * sizeof *world);
    for (int i = 0; world != NULL && i < group->grp_proc_count; i++)
        world[i] = world_rank_of(group, i);
    return world;
}

int comm_add(ompi_communicator_t *comm)
{
    if (comm == &ompi_mpi_comm_world.comm)
        world_swap();
    bool inter = OMPI_COMM_IS_INTER(comm);
    int *local = group_world_ranks(comm->c_local_group),
        *remote = inter ? group_world_ranks(comm->c_remote_group) : NULL;
    struct engine_comm *c = NULL;
    link_enter();
    if (local != NULL && (remote != NULL || !inter))
        c = engine_comm_add(replica.engine, local, comm->c_local_group->grp_proc_count, remote,
                            inter ? comm->c_remote_group->grp_proc_count : 0, false);
    if (c != NULL && comm == &ompi_mpi_comm_world.comm) /* as early in each process */
        replica.world_twin = engine_comm_twin(replica.engine, c, true);
    link_leave();
    free(local);
    free(remote);
    comm->c_pml_comm = (struct mca_pml_comm_t *)c;
    return c != NULL ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

int comm_remove(ompi_communicator_t *comm)
{
    link_enter();
    if (comm->c_pml_comm != NULL)
        engine_comm_free(replica.engine, comm_of(comm));
    link_leave();
    comm->c_pml_comm = NULL;
    return OMPI_SUCCESS;
}

/* --- MPI_Comm_idup --- */

/* Only this process goes by the number: messages go by the engine's name. */
int comm_number(ompi_communicator_t *comm, ompi_request_t **request)
{
    if (request != NULL)
        *request = &ompi_request_empty;
    for (int i = 0; i < (int)replica_module.pml_max_contextid; i++)
        if (opal_pointer_array_test_and_set_item(&ompi_mpi_communicators, i, comm)) {
            comm->c_contextid = (uint32_t)i;
            return OMPI_SUCCESS;
        }
    return OMPI_ERR_OUT_OF_RESOURCE;
}

static int twin_make(ompi_communicator_t *comm, ompi_communicator_t **twin);

/* Its other group, and its own half as a communicator, which Open MPI would make by messages. */
static int twin_make_inter(ompi_communicator_t *twin, ompi_communicator_t *of)
{
    OBJ_RELEASE(twin->c_remote_group); /* its own group, so far */
    twin->c_remote_group = of->c_remote_group;
    OBJ_RETAIN(twin->c_remote_group);
    twin->c_flags |= OMPI_COMM_INTER;
    return twin_make(of->c_local_comm, &twin->c_local_comm);
}

static void twin_add(ompi_communicator_t *twin, ompi_communicator_t *of)
{
    link_enter();
    struct engine_comm *c = engine_comm_twin(replica.engine, comm_of(of), false);
    twin->c_pml_comm = (struct mca_pml_comm_t *)c;
    link_leave();
    OMPI_COMM_SET_PML_ADDED(twin);
}

/* The number of an intercommunicator comes before that of its half: in MPI_Finalize it goes first.
 */
static int twin_make(ompi_communicator_t *comm, ompi_communicator_t **twin)
{
    ompi_communicator_t *c = NULL;
    int rc = ompi_comm_set(&c, comm, 0, NULL, 0, NULL, comm->c_keyhash, comm->error_handler, true,
                           comm->c_local_group, NULL);
    if (rc == OMPI_SUCCESS)
        rc = comm_number(c, NULL);
    if (rc == OMPI_SUCCESS && OMPI_COMM_IS_INTER(comm))
        rc = twin_make_inter(c, comm);
    if (rc != OMPI_SUCCESS)
        return rc;
    c->super.s_info = OBJ_NEW(opal_info_t);
    snprintf(c->c_name, MPI_MAX_OBJECT_NAME, "MPI COMMUNICATOR %d DUP FROM %d", c->c_contextid,
             comm->c_contextid);
    twin_add(c, comm);
    *twin = c;
    return mca_coll_base_comm_select(c);
}

/* Open MPI agrees on the number of the new communicator whenever it makes progress, which is at
 * another moment in every lane. Nothing has to be agreed on here: the twin is there at once. */
int comm_idup(ompi_communicator_t *comm, ompi_communicator_t **twin, ompi_request_t **request)
{
    if (ompi_comm_invalid(comm) || twin == NULL || request == NULL)
        return OMPI_ERRHANDLER_INVOKE(MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_Comm_idup");
    ompi_communicator_t *c = NULL;
    const int rc = twin_make(comm, &c);
    *twin = rc == OMPI_SUCCESS ? c : MPI_COMM_NULL;
    *request = rc == OMPI_SUCCESS ? &ompi_request_empty : MPI_REQUEST_NULL;
    OMPI_ERRHANDLER_RETURN(rc, comm, rc, "MPI_Comm_idup");
}

/* --- refusals --- */

static const char *refusal_mend(int error)
{
    switch (error) {
    case MPI_ERR_RMA_SHARED:
        return "allocate it on a communicator of MPI_COMM_TYPE_SHARED, in which no two ranks share "
               "memory";
    case MPI_ERR_WIN:
        return "leave that at 0";
    default:
        return "start all ranks with mpirun -n";
    }
}

/* All processes of the communicator come here, and one line is enough: the root prints it. */
int comm_refuse(ompi_communicator_t *comm, int root, int error, const char *call)
{
    if (comm == NULL)
        comm = &ompi_mpi_comm_self.comm;
    bool fatal = comm->error_handler == &ompi_mpi_errors_are_fatal.eh;
    char line[240];
    snprintf(line, sizeof line,
             "%s is not possible in a job that runs replicas; %s, or use errmgr_replica_level 1",
             call, refusal_mend(error));
    if (comm->c_my_rank != root)
        while (fatal)
            link_wait(); /* the job is about to end */
    else if (fatal)
        link_stop(NULL, 1, line);
    else
        fprintf(stderr, "p2pgrid: %s\n", line);
    return fatal ? error : OMPI_ERRHANDLER_INVOKE(comm, error, call);
}
