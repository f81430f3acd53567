/* SPDX-License-Identifier: BSD-3-Clause */
/* aloof.c -- a follower computes for long without an MPI call. Its leader takes a message from any
 * source and answers: the answer must not wait for the follower, nor may the follower, or the
 * sender to it, be given up. Arguments: the process (as the launcher counts) that computes,
 * seconds, and how often it asks for the time meanwhile: its leader has done so already. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 1 << 18 };

static double seconds(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t); /* not the leader's */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static int large[LARGE];
    int rank, number = 0;
    const char *process = getenv("OMPI_COMM_WORLD_RANK");
    double begin, limit = argc == 4 ? atof(argv[2]) : 0;
    const int times = argc == 4 ? atoi(argv[3]) : 1;
    bool aloof = argc == 4 && process && atoi(process) == atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = seconds();
    if (rank == 0) {
        MPI_Request more;
        MPI_Irecv(large, LARGE, MPI_INT, 1, 2, MPI_COMM_WORLD, &more);
        for (int i = 1; i <= times; i++) {
            while (aloof && seconds() - begin < limit * i / times)
                ;
            (void)MPI_Wtime();
        }
        for (int i = 0; i < 100; i++) {
            MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        }
        MPI_Wait(&more, MPI_STATUS_IGNORE);
        for (int i = 0; i < LARGE; i++)
            number += large[i] == i;
        printf("aloof: %s\n", number == 99 + LARGE ? "all right" : "WRONG");
    } else if (rank == 1) {
        for (int i = 0; i < LARGE; i++)
            large[i] = i;
        double start = MPI_Wtime(), first = start;
        for (int i = 0; i < 100; i++) {
            if (i == 20) /* by now the follower's progress thread listens */
                first = MPI_Wtime();
            if (i % 2 == 0) /* either way the leader's word will do */
                MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            else
                MPI_Ssend(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        printf("aloof: %.0f us for an answer, %.1f ms for the first twenty\n",
               (MPI_Wtime() - first) / 80 * 1e6, (first - start) * 1e3);
        printf("aloof: a hundred answers, the last one %s\n",
               seconds() - begin < limit / 2 ? "in time" : "late");
        MPI_Send(large, LARGE, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
