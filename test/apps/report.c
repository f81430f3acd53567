/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c -- rank 0 writes a file of its own, LINES lines; one lane is otherwise: it comes late,
 * and dies once the file is open, or does not write it at all.
 *
 *     report FILE LINES LANE wait MS | die MS | skip 0 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_file(const char *name, int lines, int die)
{
    FILE *f = fopen(name, "w");
    if (f == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (die)
        raise(SIGKILL);
    for (int i = 0; i < lines; i++)
        fprintf(f, "line %d of %d\n", i, lines);
    fclose(f);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 6)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const char *number = getenv("OMPI_COMM_WORLD_RANK"), *way = argv[4];
    const int other = number != NULL && atoi(number) / ranks == atoi(argv[3]);
    if (rank == 0) {
        if (other)
            usleep((useconds_t)atoi(argv[5]) * 1000);
        if (!other || strcmp(way, "skip") != 0)
            write_file(argv[1], atoi(argv[2]), other && strcmp(way, "die") == 0);
        /* shorter, over what is there */
        if (strcmp(way, "die") != 0)
            write_file(argv[1], atoi(argv[2]) / 2, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
