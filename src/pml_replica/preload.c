/* SPDX-License-Identifier: BSD-3-Clause */
/* preload.c -- MPI calls that never reach the message layer, but must answer alike in all lanes.
 *
 * Loaded before libmpi. Until pml_replica fills in the questions, and in every other job, each call
 * goes straight on. Open MPI calls the PMPI names from Fortran and C++, so both are taken. */
#include "preload.h"
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

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
