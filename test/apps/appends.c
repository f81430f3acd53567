/* SPDX-License-Identifier: BSD-3-Clause */
/* appends.c -- each rank adds lines to a log of its own; rank 0 sums up what is in the input, into
 * a new file that it renames. Files of the working folder, by plain calls.
 *
 *     appends INPUT LINES [FILE]
 *
 * FILE: half of the lines come when that is there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void add_line(int rank, int i)
{
    char name[32];
    snprintf(name, sizeof name, "log.%d", rank);
    FILE *f = fopen(name, "a");
    if (f == NULL || fprintf(f, "%d: line %d\n", rank, i) < 0 || fclose(f) != 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

static long sum_of(const char *input)
{
    long sum = 0, n;
    FILE *f = fopen(input, "r");
    if (f == NULL)
        MPI_Abort(MPI_COMM_WORLD, 4);
    while (fscanf(f, "%ld", &n) == 1)
        sum += n;
    fclose(f);
    return sum;
}

static void await(const char *file)
{
    enum { EACH_US = 20000 };
    while (access(file, F_OK) != 0)
        usleep(EACH_US);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int lines = atoi(argv[2]);
    for (int i = 0; i < lines; i++) {
        if (argc > 3 && i == lines / 2)
            await(argv[3]);
        add_line(rank, i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    long mine = sum_of(argv[1]), all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    FILE *f = rank == 0 ? fopen("sum.new", "wx") : NULL;
    if (rank == 0 && (f == NULL || fprintf(f, "%ld\n", all) < 0 || fclose(f) != 0 ||
                      rename("sum.new", "sum") != 0))
        MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Finalize();
    return 0;
}
