/* SPDX-License-Identifier: BSD-3-Clause */
/* preload.c -- MPI calls that never reach the message layer, but must answer alike in all lanes.
 *
 * Loaded before libmpi. Until pml_replica fills in the questions, and in every other job, each call
 * goes straight on. Open MPI calls the PMPI names from Fortran and C++, so both are taken. */
#include "preload.h"
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

struct preload_questions p2pgrid_preload_questions;

static void *stock(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static double the_time(void)
{
    static double (*wtime)(void);
    if (wtime == NULL)
        wtime = (double (*)(void))stock("PMPI_Wtime");
    double own = wtime();
    return p2pgrid_preload_questions.time != NULL ? p2pgrid_preload_questions.time(own) : own;
}

double MPI_Wtime(void)
{
    return the_time();
}

double PMPI_Wtime(void)
{
    return the_time();
}

static int the_name(char *name, int *length)
{
    static int (*processor_name)(char *, int *);
    if (processor_name == NULL)
        processor_name = (int (*)(char *, int *))stock("PMPI_Get_processor_name");
    int rc = processor_name(name, length);
    if (rc == MPI_SUCCESS && p2pgrid_preload_questions.name != NULL)
        p2pgrid_preload_questions.name(name, length);
    return rc;
}

int MPI_Get_processor_name(char *name, int *length)
{
    return the_name(name, length);
}

int PMPI_Get_processor_name(char *name, int *length)
{
    return the_name(name, length);
}

static int the_status(MPI_Request request, int *flag, MPI_Status *status)
{
    static int (*get_status)(MPI_Request, int *, MPI_Status *);
    if (get_status == NULL)
        get_status = (int (*)(MPI_Request, int *, MPI_Status *))stock("PMPI_Request_get_status");
    if (p2pgrid_preload_questions.is_complete != NULL &&
        !p2pgrid_preload_questions.is_complete(request)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    return get_status(request, flag, status);
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    return the_status(request, flag, status);
}

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    return the_status(request, flag, status);
}

/* Processes started in the middle of a job would have to be replicated too. */
static int refuse_spawn(MPI_Comm comm)
{
    int (*call_errhandler)(MPI_Comm, int) =
        (int (*)(MPI_Comm, int))stock("PMPI_Comm_call_errhandler");
    fprintf(stderr,
            "p2pgrid: MPI_Comm_spawn is not possible in a job that runs replicas; start all "
            "ranks with mpirun -n, or use errmgr_replica_level 1\n");
    call_errhandler(comm, MPI_ERR_SPAWN);
    return MPI_ERR_SPAWN;
}

static int spawn(const char *command, char **argv, int most, MPI_Info info, int root, MPI_Comm comm,
                 MPI_Comm *between, int *codes)
{
    int (*comm_spawn)(const char *, char **, int, MPI_Info, int, MPI_Comm, MPI_Comm *, int *) =
        stock("PMPI_Comm_spawn");
    if (p2pgrid_preload_questions.time != NULL)
        return refuse_spawn(comm);
    return comm_spawn(command, argv, most, info, root, comm, between, codes);
}

int MPI_Comm_spawn(const char *command, char **argv, int most, MPI_Info info, int root,
                   MPI_Comm comm, MPI_Comm *between, int *codes)
{
    return spawn(command, argv, most, info, root, comm, between, codes);
}

int PMPI_Comm_spawn(const char *command, char **argv, int most, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm *between, int *codes)
{
    return spawn(command, argv, most, info, root, comm, between, codes);
}
