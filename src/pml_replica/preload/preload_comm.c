/* SPDX-License-Identifier: BSD-3-Clause */
/* preload_comm.c -- numbers of communicators without messages between processes.
 *
 * Open MPI agrees on a number that is free everywhere, which depends on when old communicators are
 * freed, and so differs between lanes. pml_replica needs no number that is the same elsewhere. The
 * two functions are not of MPI, but libmpi calls them by name; where it does not, it agrees as
 * ever. */
#include "preload.h"
#include <dlfcn.h>
#include <stdbool.h>

extern struct preload_questions p2pgrid_preload_questions;

typedef int nextcid(MPI_Comm comm, MPI_Comm parent, MPI_Comm bridge, const void *a, const void *b,
                    bool send_first, int mode);
typedef int nextcid_nb(MPI_Comm comm, MPI_Comm parent, MPI_Comm bridge, const void *a,
                       const void *b, bool send_first, int mode, MPI_Request *request);
nextcid ompi_comm_nextcid;
nextcid_nb ompi_comm_nextcid_nb;

int ompi_comm_nextcid(MPI_Comm comm, MPI_Comm parent, MPI_Comm bridge, const void *a, const void *b,
                      bool send_first, int mode)
{
    if (p2pgrid_preload_questions.number != NULL)
        return p2pgrid_preload_questions.number(comm, NULL);
    nextcid *stock = (nextcid *)dlsym(RTLD_NEXT, "ompi_comm_nextcid");
    return stock(comm, parent, bridge, a, b, send_first, mode);
}

int ompi_comm_nextcid_nb(MPI_Comm comm, MPI_Comm parent, MPI_Comm bridge, const void *a,
                         const void *b, bool send_first, int mode, MPI_Request *request)
{
    if (p2pgrid_preload_questions.number != NULL)
        return p2pgrid_preload_questions.number(comm, request);
    nextcid_nb *stock = (nextcid_nb *)dlsym(RTLD_NEXT, "ompi_comm_nextcid_nb");
    return stock(comm, parent, bridge, a, b, send_first, mode, request);
}
