/* SPDX-License-Identifier: BSD-3-Clause */
/* first.c -- how a rank waits for the first message that it gets: does it sleep after a few looks,
 * or give its turn away on and on? */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LATE_NS = 30000000, FEW = 24 };
static int yields;

/* Open MPI's calls come here. */
int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

int main(int argc, char **argv)
{
    const struct timespec late = {.tv_nsec = LATE_NS};
    int rank, word = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        nanosleep(&late, NULL);
        MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
        const int before = yields;
        MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (yields == 0)
            puts("first: no yield is seen");
        else if (yields - before > FEW)
            puts("first: yields on and on");
        else
            puts("first: sleeps soon");
    }
    MPI_Finalize();
    return 0;
}
