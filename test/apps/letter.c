/* SPDX-License-Identifier: BSD-3-Clause */
/* letter.c -- rank 0 sends a text around, short and a megabyte of it: a listener on the wire can
 * look for it. With `--ports` the ranks say where they listen; with `--secret`, whether the job's
 * secret is in their environment. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 20, TIMES = 20 };
static const char text[] = "Dear colleague, keep this letter to yourself. ";

static void ports(int rank)
{
    char command[128];
    snprintf(command, sizeof command, "ss -Hltnp | awk '/pid=%d,/ { print \"%d listens at\", $4 }'",
             (int)getpid(), rank);
    if (system(command) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* All of `length` bytes must be the text, over and over. */
static int is_text(const char *p, int length)
{
    for (int i = 0; i < length; i++)
        if (p[i] != text[i % (int)(sizeof text - 1)])
            return 0;
    return 1;
}

static int pass_on(char *p, int length, int rank, int size)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    if (rank == 0)
        MPI_Send(p, length, MPI_CHAR, next, 0, MPI_COMM_WORLD);
    memset(p, 0, (size_t)length);
    MPI_Recv(p, length, MPI_CHAR, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Send(p, length, MPI_CHAR, next, 0, MPI_COMM_WORLD);
    return is_text(p, length);
}

int main(int argc, char **argv)
{
    static char page[LONG];
    int rank, size, good = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--ports") == 0)
            ports(rank);
        else if (strcmp(argv[i], "--secret") == 0 && getenv("OMPI_P2PGRID_SECRET") != NULL)
            printf("the secret is in the environment\n");
    for (int i = 0; i < LONG; i++)
        page[i] = text[i % (int)(sizeof text - 1)];
    for (int i = 0; i < TIMES; i++)
        good = good && pass_on(page, 100, rank, size) && pass_on(page, LONG, rank, size);
    if (rank == 0 && good)
        printf("letter: unchanged\n");
    MPI_Finalize();
    return !good;
}
