/* SPDX-License-Identifier: BSD-3-Clause */
/* cut.c -- rank 0 prints a line that depends on a decision; its second copy, which is stopped for a
 * while, does not hold that yet when rank 1 aborts. */
#include "stops.h"
#include <mpi.h>
#include <stdio.h>

enum { CODE = 9, STOPS_NS = 40000000, ABORTS_NS = 10000000 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_second_copy(size))
        stop_for(STOPS_NS);
    if (rank == 0 && MPI_Wtime() >= 0) {
        puts("cut: rank 0 has read the clock");
        fflush(stdout);
    }
    if (rank == 1) {
        nanosleep(&(struct timespec){.tv_nsec = ABORTS_NS}, NULL);
        MPI_Abort(MPI_COMM_WORLD, CODE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
