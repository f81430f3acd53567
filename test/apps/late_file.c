/* SPDX-License-Identifier: BSD-3-Clause */
/* late_file.c -- an MPI program that adds up for a tenth of a second in each of so many steps, and
 * opens its file when it is almost over: late_file STEPS FILE */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Each rank writes its number and reads that of its counterpart. */
static long exchange(const char *name, int rank, int size, long mine)
{
    MPI_File file;
    long other = 0;
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File_write_at_all(file, (MPI_Offset)sizeof mine * rank, &mine, 1, MPI_LONG,
                          MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, (MPI_Offset)sizeof mine * (size - 1 - rank), &other, 1, MPI_LONG,
                         MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return other;
}

int main(int argc, char **argv)
{
    int rank, size;
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int steps = argc == 3 ? atoi(argv[1]) : 0;
    for (int i = 0; i < steps; i++) {
        long one = (long)i * (rank + 1), all;
        MPI_Allreduce(&one, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
        if (rank == 0 && i == 0) {
            puts("begun");
            fflush(stdout);
        }
        usleep(100000);
    }
    long other = exchange(argv[argc - 1], rank, size, sum);
    if (rank == 0)
        printf("sums %ld and %ld\n", sum, other);
    return MPI_Finalize();
}
