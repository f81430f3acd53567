/* SPDX-License-Identifier: BSD-3-Clause */
/* says.c -- rank 0 prints what only its lane knows so far: a time by MPI_Wtime, while the other
 * lane's rank 0 is stopped for a second (go: six). Then rank 1 prints the time that it was told.
 *
 *     says go | die | abort | end | work
 *
 * die: the first lane's rank 0 is gone 300 ms after it has printed. abort: it says so on stderr,
 * and aborts. end: so, too, but nobody is stopped. work: nobody is stopped, and it is in no MPI
 * call for five seconds. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void stop_for(unsigned seconds)
{
    const pid_t self = getpid();
    if (fork() == 0) {
        sleep(seconds);
        kill(self, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const char *number = getenv("OMPI_COMM_WORLD_RANK"), *way = argv[1];
    const int other = number != NULL && atoi(number) / ranks != 0;
    double time = MPI_Wtime(); /* before the next message the lanes have met over it */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        if (strcmp(way, "work") != 0 && strcmp(way, "end") != 0) {
            if (other)
                stop_for(strcmp(way, "go") == 0 ? 6 : 1);
            else
                usleep(200000); /* until it is stopped */
        }
        time = MPI_Wtime(); /* the other lane is told of this one, */
        time = MPI_Wtime(); /* and of this one when it has said that it knows */
        printf("rank 0 says %.9f\n", time);
        fflush(stdout);
        if (!other && strcmp(way, "die") == 0) {
            usleep(300000);
            raise(SIGKILL);
        }
        if (strcmp(way, "abort") == 0 || strcmp(way, "end") == 0) {
            fprintf(stderr, "rank 0 gives up\n");
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        if (strcmp(way, "work") == 0)
            sleep(5);
    }
    MPI_Bcast(&time, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 1)
        printf("rank 1 heard %.9f\n", time);
    MPI_Finalize();
    return 0;
}
