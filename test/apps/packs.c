/* SPDX-License-Identifier: BSD-3-Clause */
/* packs.c -- large messages that do not lie in one piece: is the memory for what is packed used
 * again, or does each take fresh pages? */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { ROWS = 2048, WIDTH = 32, STRIDE = 64, FIRST = 40, TIMES = 200, FAULTS_EACH = 16 };

static long faults(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_minflt;
}

/* With both neighbours at once. */
static void exchange(const double *out, double *in, MPI_Datatype column, int times)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < times; i++) {
        MPI_Request r[4];
        MPI_Irecv(in, 1, column, before, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(in + WIDTH, 1, column, next, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(out, 1, column, next, 0, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(out + WIDTH, 1, column, before, 1, MPI_COMM_WORLD, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    double *out = calloc((size_t)ROWS * STRIDE, sizeof *out);
    double *in = calloc((size_t)ROWS * STRIDE, sizeof *in);
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Type_vector(ROWS, WIDTH, STRIDE, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    exchange(out, in, column, FIRST);
    const long before = faults();
    exchange(out, in, column, TIMES);
    const long each = (faults() - before) / TIMES;
    puts(each < FAULTS_EACH ? "packs: in the same memory" : "packs: in fresh memory");
    MPI_Type_free(&column);
    MPI_Finalize();
    free(in);
    free(out);
    return 0;
}
