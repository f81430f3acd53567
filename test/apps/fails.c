/* SPDX-License-Identifier: BSD-3-Clause */
/* fails.c -- ranks that exchange all the time, until the last one of them ends as every copy of it
 * would: by MPI_Abort, a fault, or an exit status. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>

static void usage(void)
{
    fputs("usage: fails abort|fault|status [NUMBER]\n"
          "  NUMBER  the process that was launched as this number is killed before\n",
          stderr);
    exit(2);
}

static void exchange(int times)
{
    int sum;
    for (int i = 0; i < times; i++) {
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        usleep(2000);
    }
}

static void fail(const char *how)
{
    enum { OF_ABORT = 5, OF_EXIT = 7 };
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, OF_ABORT);
    if (strcmp(how, "fault") == 0)
        *(volatile int *)NULL = 1;
    exit(OF_EXIT);
}

int main(int argc, char **argv)
{
    const char *launched = getenv("OMPI_COMM_WORLD_RANK");
    int rank, size;
    if (argc < 2)
        usage();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    exchange(10);
    if (argc > 2 && launched != NULL && atoi(launched) == atoi(argv[2]))
        raise(SIGKILL);
    exchange(200);
    if (rank == size - 1)
        fail(argv[1]);
    exchange(100000);
    MPI_Finalize();
    return 0;
}
