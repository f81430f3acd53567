/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c -- how fast all ranks write one file by MPI-IO and read it: `make bench-files`.
 * `files FILE MEGABYTES`: rank 0 prints, in MB/s, what all others send to it by plain messages; a
 * collective write of contiguous parts, of parts of 64 KiB in turn, and a collective read. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEGABYTE = 1 << 20, STRIDE = 64 << 10 };

static int rank, size;
static char *part;   /* of this rank */
static size_t bytes; /* of it */

static void report(const char *what, double begin, double moved)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %.1f\n", what, moved / (MPI_Wtime() - begin) / 1e6);
    fflush(stdout);
}

static void link_measure(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (size_t at = 0; at < bytes; at += MEGABYTE)
        if (rank != 0)
            MPI_Send(part + at, MEGABYTE, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        else
            for (int i = 1; i < size; i++)
                MPI_Recv(part, MEGABYTE, MPI_CHAR, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    report("link", begin, (double)bytes * (size - 1));
}

static void fill(void)
{
    for (size_t i = 0; i < bytes; i++)
        part[i] = (char)(i * 31 + (size_t)rank);
}

static void move(MPI_File f, const char *what, int strided, int writes)
{
    MPI_Datatype view;
    const double all = (double)bytes * size;
    MPI_Type_vector((int)(bytes / STRIDE), STRIDE, STRIDE * size, MPI_CHAR, &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(f, strided ? (MPI_Offset)rank * STRIDE : (MPI_Offset)((size_t)rank * bytes),
                      MPI_CHAR, strided ? view : MPI_CHAR, "native", MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (writes)
        MPI_File_write_at_all(f, 0, part, (int)bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    else
        MPI_File_read_at_all(f, 0, part, (int)bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    report(what, begin, all);
    MPI_Type_free(&view);
}

int main(int argc, char **argv)
{
    MPI_File f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3 || atoi(argv[2]) < size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    bytes = (size_t)(atoi(argv[2]) / size) * MEGABYTE;
    part = malloc(bytes);
    if (part == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fill();
    link_measure();
    fill();
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f))
        MPI_Abort(MPI_COMM_WORLD, 1);
    move(f, "write", 0, 1);
    move(f, "strided", 1, 1);
    memset(part, 0, bytes);
    move(f, "read", 1, 0);
    for (size_t i = 0; i < bytes; i++)
        if (part[i] != (char)(i * 31 + (size_t)rank))
            MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_File_close(&f);
    free(part);
    MPI_Finalize();
    return 0;
}
