/* SPDX-License-Identifier: BSD-3-Clause */
/* spins.c -- the last rank reads the clock for some seconds, a million times in each, as programs
 * do that wait for a moment; the others wait for it. Its replicas after the first one are slower.
 * How much memory does that take, at most, in any process? */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { SECONDS = 3, WORK = 5000, MOST_KIB = 32 * 1024 };

static long peak_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static void read_the_clock(bool slowly)
{
    const double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < SECONDS)
        for (volatile int i = slowly ? WORK : 0; i > 0; i--)
            continue;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    const char *process = getenv("PMIX_RANK");
    const long before = peak_kib();
    if (rank == size - 1)
        read_the_clock(process && atoi(process) >= size);
    MPI_Barrier(MPI_COMM_WORLD);
    const long more = peak_kib() - before;
    if (more > MOST_KIB) {
        fprintf(stderr, "spins: process %s of rank %d took %ld MiB\n", process, rank, more / 1024);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    printf("spins: rank %d has little to keep\n", rank);
    MPI_Finalize();
    return 0;
}
