/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c -- a program of MPI and OpenMP: each rank's threads add up shares, and ranks send on as
 * many sums as they have threads, and as many bytes as they have processors. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { TERMS = 1000000 };

int main(int argc, char **argv)
{
    int rank, size, got;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int threads = omp_get_max_threads();
    double *sums = calloc((size_t)threads, sizeof *sums), other[1024], sum = 0;
#pragma omp parallel for
    for (int t = 0; t < threads; t++)
        for (int i = t + 1; i <= TERMS; i += threads)
            sums[t] += 1.0 / ((double)i + rank);
    MPI_Status status;
    MPI_Sendrecv(sums, threads, MPI_DOUBLE, (rank + 1) % size, 0, other, 1024, MPI_DOUBLE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &got);
    for (int t = 0; t < got; t++)
        sum += other[t];
    const int processors = omp_get_num_procs() + get_nprocs() + get_nprocs_conf() +
                           (int)sysconf(_SC_NPROCESSORS_ONLN) + (int)sysconf(_SC_NPROCESSORS_CONF);
    MPI_Sendrecv(other, processors, MPI_BYTE, (rank + 1) % size, 1, sums, 0, MPI_BYTE,
                 MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(other, sizeof other, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    printf("team: rank %d has %d threads, and got %a of %d\n", rank, threads, sum, got);
    free(sums);
    MPI_Finalize();
    return 0;
}
