/* SPDX-License-Identifier: BSD-3-Clause */
/* pokes.c -- rank 0 works on its own window, and flushes and probes after each operation, as
 * one-sided layers do, while the others wait for it: it hears from nobody, and does not sleep. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 20000 };

static void poke(MPI_Win window)
{
    const double one = 1;
    int flag;
    MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_flush_local_all(window);
    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    double *sum, begin, took;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *sum, sizeof *sum, MPI_INFO_NULL, MPI_COMM_WORLD, &sum, &window);
    *sum = 0;
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; rank == 0 && i < ROUNDS; i++)
        poke(window);
    took = MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(window);
    if (rank == 0)
        printf("pokes: %s, %.1f us each\n", *sum == ROUNDS ? "right" : "wrong",
               took / ROUNDS * 1e6);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
