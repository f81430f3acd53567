/* SPDX-License-Identifier: BSD-3-Clause */
/* sums.c -- MPI_Allreduce again and again, with known answers: all wait for the slowest. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const long times = argc > 1 ? atol(argv[1]) : 100;
    int rank, size;
    long wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long i = 0; i < times; i++) {
        long mine = rank + i, sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        wrong += sum != (long)size * (size - 1) / 2 + size * i;
    }
    if (rank == 0)
        printf("%d ranks, %ld sums, %ld wrong\n", size, times, wrong);
    MPI_Finalize();
    return wrong != 0;
}
