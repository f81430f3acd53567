/* SPDX-License-Identifier: BSD-3-Clause */
/* looks.c -- rank 0 looks for a message that comes late, again and again. Its second copy, which is
 * stopped meanwhile, is told how often that was in vain, and does not give its turn away as often.
 */
#include "stops.h"
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>

enum { LATE_NS = 30000000, STOPS_NS = 300000000, FEW = 4 }; /* one of FEW looks */
static long yields;

/* Open MPI's calls come here. */
int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

static void look(int is_copy)
{
    if (is_copy)
        stop_for(STOPS_NS);
    const long before = yields;
    long looks = 0;
    int found = 0, word;
    for (; !found; looks++)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    const long gave = yields - before;
    MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is_copy && gave * FEW > looks) {
        fprintf(stderr, "looks: the copy yields %ld times in %ld looks\n", gave, looks);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    puts(looks > FEW ? "looks: often" : "looks: the message was not late");
}

int main(int argc, char **argv)
{
    int rank, size, word = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        nanosleep(&(struct timespec){.tv_nsec = LATE_NS}, NULL);
        MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
        look(is_second_copy(size));
    }
    MPI_Finalize();
    return 0;
}
