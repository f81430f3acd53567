/* SPDX-License-Identifier: BSD-3-Clause */
/* posted.c -- MPI_Send of a large message to another host, where the receive is posted: is the
 * buffer the program's again when the receiver has asked for the message, before all of it is
 * there? Two ranks. */
#include <mpi.h>
#include <stdio.h>

enum { TIMES = 5, BYTES = 256 * 1024 };
static char bytes[BYTES];

/* There and back, in seconds. */
static double small(int rank)
{
    const double begin = MPI_Wtime();
    char c = 0;
    if (rank == 0)
        MPI_Send(&c, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&c, 1, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(&c, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

/* How long the sender's call takes. */
static double large(int rank, int *wrong)
{
    MPI_Request request;
    double took = 0;
    char c = 0;
    if (rank == 0) {
        MPI_Recv(&c, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < BYTES; i++)
            bytes[i] = (char)(i * 7);
        const double begin = MPI_Wtime();
        MPI_Send(bytes, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        took = MPI_Wtime() - begin;
        for (int i = 0; i < BYTES; i++)
            bytes[i] = 1; /* another one must not arrive */
        return took;
    }
    MPI_Irecv(bytes, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Send(&c, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < BYTES; i++)
        *wrong += bytes[i] != (char)(i * 7);
    return took;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

int main(int argc, char **argv)
{
    int rank, wrong = 0;
    double round = 1e9, send = 1e9;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < TIMES; i++) {
        round = least(round, small(rank));
        send = least(send, large(rank, &wrong));
    }
    if (rank == 0)
        printf("posted: a small message there and back %.0f ms, a large one sent in %.0f ms: %s\n",
               1e3 * round, 1e3 * send, send < 1.5 * round ? "early" : "late");
    else
        printf("posted: %d bytes are wrong\n", wrong);
    MPI_Finalize();
    return 0;
}
