/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c -- a rank that takes and frees the same two large blocks over and over, as a reduction of
 * large vectors does: are they new memory of the system each time?
 *
 *     heap */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { BLOCK = 8000000, PAGE = 4096 };
enum { WARM = 3, ROUNDS = 20, FEW = 1000 }; /* of some 4000 faults a round */

static volatile char *taken(void)
{
    volatile char *block = malloc(BLOCK);
    if (block == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < BLOCK; i += PAGE)
        block[i] = 1;
    return block;
}

static void take_and_free(void)
{
    volatile char *a = taken(), *b = taken();
    free((char *)a);
    free((char *)b);
}

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < WARM; i++)
        take_and_free();
    const long before = faults();
    for (int i = 0; i < ROUNDS; i++)
        take_and_free();
    const char *how = faults() - before < FEW ? "the same memory" : "new memory each time";
    printf("heap: rank %d has %s\n", rank, how);
    MPI_Finalize();
    return 0;
}
