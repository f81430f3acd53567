/* SPDX-License-Identifier: BSD-3-Clause */
/* stdio.c -- output of every rank, input of rank 0.
 *
 * Every rank prints LINES numbered lines to stdout and as many to stderr, with
 * a pause of DELAY milliseconds after each. Rank 0 also reads a line of its
 * stdin before each (waiting for it) and copies it to stdout, until end of
 * file; what is left over after the last line is copied at the end. So the
 * output of one rank is always the same; how the ranks interleave is left open.
 *
 * usage: stdio LINES DELAY < input
 */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long echoed; /* bytes of stdin copied so far */

/* copy one line of stdin; 0 at end of file */
static int echo(void)
{
    static char line[4096];

    if (!fgets(line, sizeof line, stdin))
        return 0;
    echoed += (long)strlen(line);
    line[strcspn(line, "\n")] = '\0';
    printf("input: %s\n", line);
    fflush(stdout);
    return 1;
}

int main(int argc, char **argv)
{
    int rank, size, open = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3 || atoi(argv[1]) < 1 || atoi(argv[2]) < 0) {
        if (rank == 0)
            fprintf(stderr, "usage: stdio LINES DELAY < input\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int lines = atoi(argv[1]), delay = atoi(argv[2]);

    for (int i = 1; i <= lines; i++) {
        int least;
        printf("rank %d stdout line %d of %d\n", rank, i, lines);
        fflush(stdout);
        fprintf(stderr, "rank %d stderr line %d of %d\n", rank, i, lines);
        if (rank == 0 && open)
            open = echo();
        usleep(1000 * (useconds_t)delay);
        /* the ranks stay in step, and notice if one does not */
        MPI_Allreduce(&i, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (least != i) {
            fprintf(stderr, "stdio: rank %d is at line %d, another at %d\n", rank, i, least);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    while (rank == 0 && open)
        open = echo();
    MPI_Bcast(&echoed, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    printf("rank %d end: %d ranks, %d lines, %ld bytes of input\n", rank, size, lines, echoed);
    MPI_Finalize();
    return 0;
}
