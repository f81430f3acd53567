/* SPDX-License-Identifier: BSD-3-Clause */
/* meets.c -- ranks that say nothing to each other after MPI_Init until a file is there. Argument:
 * the file. Each copy leaves one beside it, FILE.NUMBER, when it begins to wait. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 20, RANKS = 64 };

int main(int argc, char **argv)
{
    int rank, size, out[RANKS], in[RANKS], sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *number = getenv("OMPI_COMM_WORLD_RANK");
    char note[512];
    snprintf(note, sizeof note, "%s.%s", argc > 1 ? argv[1] : "", number != NULL ? number : "");
    FILE *f = argc > 1 ? fopen(note, "w") : NULL;
    if (f != NULL)
        fclose(f);
    printf("rank %d waits\n", rank);
    fflush(stdout);
    while (argc > 1 && access(argv[1], F_OK) != 0)
        usleep(1000);
    for (int round = 0; round < ROUNDS && size <= RANKS; round++) {
        for (int i = 0; i < size; i++)
            out[i] = rank + i + round;
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            sum += in[i] == rank + i + round;
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %s\n", rank, sum == ROUNDS * size * size ? "all right" : "WRONG");
    MPI_Finalize();
    return 0;
}
