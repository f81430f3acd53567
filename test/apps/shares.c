/* SPDX-License-Identifier: BSD-3-Clause */
/* shares.c -- ranks share a window's memory: those of a host, or with an argument all, which takes
 * one host. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Comm host;
    MPI_Win window;
    MPI_Aint bytes;
    int rank, here, size, unit, *own, *first;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        MPI_Comm_dup(MPI_COMM_WORLD, &host);
    else
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &size);
    MPI_Comm_rank(host, &here);
    MPI_Win_allocate_shared(100 * sizeof *own, sizeof *own, MPI_INFO_NULL, host, &own, &window);
    MPI_Win_fence(0, window);
    own[7] = rank;
    MPI_Win_fence(0, window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &first);
    if (first[7] != rank - here || bytes != 100 * sizeof *own)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Comm_free(&host);
    printf("shares: rank %d shares with %d\n", rank, size);
    MPI_Finalize();
    return 0;
}
