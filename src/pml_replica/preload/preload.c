/* SPDX-License-Identifier: BSD-3-Clause */
/* preload.c -- MPI calls that never reach the message layer, but must answer alike in all lanes.
 *
 * Loaded before libmpi. Until pml_replica fills in the questions, and in every other job, each call
 * goes straight on. Open MPI calls the PMPI names from Fortran and C++, so both are taken. */
#include "preload.h"
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct preload_questions p2pgrid_preload_questions;
static const struct preload_questions *const ask = &p2pgrid_preload_questions;

/* Registers what the progress thread needs (biased_lock.c). In a process that has threads already
 * the kernel waits for all processors before it grants it: 12 ms of MPI_Init. */
__attribute__((constructor)) static void register_barrier(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

/* The call's two names, for the function take_NAME. */
#define TAKE(result, name, parameters, arguments)                                                  \
    result MPI_##name parameters                                                                   \
    {                                                                                              \
        return take_##name arguments;                                                              \
    }                                                                                              \
    result PMPI_##name parameters                                                                  \
    {                                                                                              \
        return take_##name arguments;                                                              \
    }

/* The one in libmpi. */
#define STOCK(name) ((__typeof__(&MPI_##name))dlsym(RTLD_NEXT, "PMPI_" #name))

static double take_Wtime(void)
{
    static double (*stock)(void);
    if (stock == NULL)
        stock = STOCK(Wtime);
    double own = stock();
    return ask->time != NULL ? ask->time(own) : own;
}
TAKE(double, Wtime, (void), ())

/* Told once, as the host's name (preload_machine.c). */
static int take_Get_processor_name(char *name, int *length)
{
    static char told[MPI_MAX_PROCESSOR_NAME];
    static int told_length;
    int rc = STOCK(Get_processor_name)(name, length);
    if (rc != MPI_SUCCESS)
        return rc;
    if (told_length == 0 && ask->name != NULL) {
        ask->name(name, length);
        memcpy(told, name, (size_t)*length);
        told_length = *length;
    }
    if (told_length > 0) {
        *length = told_length;
        memcpy(name, told, (size_t)told_length);
        name[told_length] = '\0';
    }
    return rc;
}
TAKE(int, Get_processor_name, (char *name, int *length), (name, length))

static int take_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    static int (*stock)(MPI_Request, int *, MPI_Status *);
    if (stock == NULL)
        stock = STOCK(Request_get_status);
    if (ask->is_complete != NULL && !ask->is_complete(request)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    return stock(request, flag, status);
}
TAKE(int, Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
     (request, flag, status))

static int take_Comm_idup(MPI_Comm comm, MPI_Comm *twin, MPI_Request *request)
{
    return ask->idup != NULL ? ask->idup(comm, twin, request)
                             : STOCK(Comm_idup)(comm, twin, request);
}
TAKE(int, Comm_idup, (MPI_Comm comm, MPI_Comm *twin, MPI_Request *request), (comm, twin, request))

/* Not of MPI: libmpi calls it by name, from MPI_Abort and for errors that are fatal. */
int ompi_mpi_abort(MPI_Comm comm, int code);
int ompi_mpi_abort(MPI_Comm comm, int code)
{
    int (*stock)(MPI_Comm, int) = (int (*)(MPI_Comm, int))dlsym(RTLD_NEXT, "ompi_mpi_abort");
    if (ask->settle != NULL)
        ask->settle();
    return stock(comm, code);
}

/* Processes from outside of the job would have to be replicated too. */
static int take_Comm_spawn(const char *command, char **argv, int most, MPI_Info info, int root,
                           MPI_Comm comm, MPI_Comm *between, int *codes)
{
    if (ask->refuse != NULL)
        return ask->refuse(comm, root, MPI_ERR_SPAWN, "MPI_Comm_spawn");
    return STOCK(Comm_spawn)(command, argv, most, info, root, comm, between, codes);
}
TAKE(int, Comm_spawn,
     (const char *command, char **argv, int most, MPI_Info info, int root, MPI_Comm comm,
      MPI_Comm *between, int *codes),
     (command, argv, most, info, root, comm, between, codes))

static int take_Comm_spawn_multiple(int count, char **commands, char ***argvs, const int *most,
                                    const MPI_Info *infos, int root, MPI_Comm comm,
                                    MPI_Comm *between, int *codes)
{
    if (ask->refuse != NULL)
        return ask->refuse(comm, root, MPI_ERR_SPAWN, "MPI_Comm_spawn_multiple");
    return STOCK(Comm_spawn_multiple)(count, commands, argvs, most, infos, root, comm, between,
                                      codes);
}
TAKE(int, Comm_spawn_multiple,
     (int count, char **commands, char ***argvs, const int *most, const MPI_Info *infos, int root,
      MPI_Comm comm, MPI_Comm *between, int *codes),
     (count, commands, argvs, most, infos, root, comm, between, codes))

static int take_Comm_accept(const char *port, MPI_Info info, int root, MPI_Comm comm,
                            MPI_Comm *between)
{
    if (ask->refuse != NULL)
        return ask->refuse(comm, root, MPI_ERR_PORT, "MPI_Comm_accept");
    return STOCK(Comm_accept)(port, info, root, comm, between);
}
TAKE(int, Comm_accept,
     (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *between),
     (port, info, root, comm, between))

static int take_Comm_connect(const char *port, MPI_Info info, int root, MPI_Comm comm,
                             MPI_Comm *between)
{
    if (ask->refuse != NULL)
        return ask->refuse(comm, root, MPI_ERR_PORT, "MPI_Comm_connect");
    return STOCK(Comm_connect)(port, info, root, comm, between);
}
TAKE(int, Comm_connect,
     (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *between),
     (port, info, root, comm, between))

static int take_Comm_join(int fd, MPI_Comm *between)
{
    if (ask->refuse != NULL)
        return ask->refuse(NULL, 0, MPI_ERR_PORT, "MPI_Comm_join");
    return STOCK(Comm_join)(fd, between);
}
TAKE(int, Comm_join, (int fd, MPI_Comm *between), (fd, between))
