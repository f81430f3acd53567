/* SPDX-License-Identifier: BSD-3-Clause */
/* told.c -- rank 0 receives from whoever comes first, reads the clock, and tells rank 1 both. The
 * fourth time its leader dies as soon as it has told, before its own follower, which waits for it,
 * knows of it.
 *
 *     told FILE
 *
 * What rank 1 was told is written to FILE.0 and FILE.1, by its two lanes, and what rank 0 has told
 * to its output: the same, or replicas have decided twice. Three ranks, two lanes; in each of them
 * another rank comes first. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHOOSER, TOLD, OTHER, RANKS };
enum { TIMES = 6, DEADLY = 3, LATE_US = 60000, PAUSE_US = 250000, CLOCKS = 10 };

struct choice {
    double time;
    int first, pad;
};

/* A follower is told of the first of these decisions at once, of the last ones some milliseconds
 * later. It is there before its leader. */
static struct choice choose(int lane)
{
    struct choice c = {0};
    MPI_Status status;
    int word;
    if (lane == 0)
        usleep(PAUSE_US);
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    c.first = status.MPI_SOURCE;
    for (int i = 0; i < CLOCKS; i++)
        c.time = MPI_Wtime();
    return c;
}

static void note(const char *prefix, int lane, int i, const struct choice *c)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", prefix, lane);
    FILE *f = fopen(name, "a");
    if (f == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fprintf(f, "%d: %a from %d\n", i, c->time, c->first);
    fclose(f);
}

int main(int argc, char **argv)
{
    int rank, ranks, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *number = getenv("OMPI_COMM_WORLD_RANK"); /* this lane's own */
    if (number == NULL || ranks != RANKS || argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int lane = atoi(number) / ranks;
    for (int i = 0; i < TIMES; i++) {
        struct choice c;
        if (rank == CHOOSER) {
            c = choose(lane);
            MPI_Send(&c, sizeof c, MPI_BYTE, TOLD, 1, MPI_COMM_WORLD);
            if (lane == 0 && i == DEADLY)
                raise(SIGKILL);
            printf("%d: %a from %d\n", i, c.time, c.first);
            MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            if ((rank == TOLD) == (lane == 0))
                usleep(LATE_US);
            MPI_Send(&word, 1, MPI_INT, CHOOSER, 0, MPI_COMM_WORLD);
        }
        if (rank == TOLD) {
            MPI_Recv(&c, sizeof c, MPI_BYTE, CHOOSER, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            note(argv[1], lane, i, &c);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
