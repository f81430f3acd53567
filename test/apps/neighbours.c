/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbours.c -- each rank says where it is, and with how many ranks it shares memory there. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char host[256] = "";
    int rank, size;
    MPI_Comm shared;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared);
    MPI_Comm_size(shared, &size);
    gethostname(host, sizeof host - 1);
    printf("rank %d on %s, one of %d\n", rank, host, size);
    MPI_Comm_free(&shared);
    MPI_Finalize();
    return 0;
}
