/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h -- what the files of the program `calls` share. */
#ifndef P2P_CALLS_H
#define P2P_CALLS_H
#include <mpi.h>
#include <stdio.h>

extern int rank, size, next, before;

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("calls: rank %d, %s:%d: not %s\n", rank, __FILE__, __LINE__, #what);            \
            fflush(stdout);                                                                        \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                          \
        }                                                                                          \
    } while (0)

/* Each is called by all ranks, once a round. */
void collectives_all(int round);
void communicators_all(int round);
void messages_all(int round);
#endif
