/* SPDX-License-Identifier: BSD-3-Clause */
/* glances.c -- copies of a rank look at the clock, some more often than others, before and after
 * large messages, which are done when all copies have them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 20, BYTES = 1 << 20, MANY = 300000 }; /* more than a leader may be ahead by */
static char bytes[BYTES];

static int copy_of(int ranks)
{
    const char *process = getenv("PMIX_RANK");
    return process ? atoi(process) / ranks : 0;
}

static void glance(int times)
{
    struct timespec t;
    while (times-- > 0)
        clock_gettime(CLOCK_REALTIME, &t);
}

static void pass(int rank, int round)
{
    if (rank == 0) {
        bytes[round] = (char)round;
        MPI_Send(bytes, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(bytes, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (bytes[round] != (char)round)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int copy = copy_of(size);
    for (int i = 0; i < ROUNDS; i++) {
        glance(copy);
        pass(rank, i);
    }
    glance(copy == 0 ? MANY : 0);
    pass(rank, ROUNDS);
    glance(copy);
    printf("glances: rank %d is done\n", rank);
    MPI_Finalize();
    return 0;
}
