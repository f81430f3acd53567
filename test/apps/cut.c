/* SPDX-License-Identifier: BSD-3-Clause */
/* cut.c -- rank 0 prints a line that depends on a decision; its second copy, which is stopped for a
 * while, does not hold that yet when rank 1 aborts. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CODE = 9, STOPS_NS = 40000000, ABORTS_NS = 10000000 };

static void stop_for_a_while(void)
{
    if (fork() == 0) {
        nanosleep(&(struct timespec){.tv_nsec = STOPS_NS}, NULL);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    const char *process = getenv("PMIX_RANK");
    if (process && atoi(process) == size)
        stop_for_a_while();
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
