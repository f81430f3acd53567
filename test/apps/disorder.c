/* SPDX-License-Identifier: BSD-3-Clause */
/* disorder.c -- a program whose copies ask for messages in another order, as one does whose threads
 * race for its MPI calls: rank 0 tests two receives one after the other, in its second copy the
 * second one first. "disorder answered": that is sent only when the first one was answered. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_until_done(MPI_Request *request)
{
    for (int done = 0; !done;)
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

static void receive_both(int first)
{
    MPI_Request request[2];
    for (int tag = 0; tag < 2; tag++)
        MPI_Irecv(NULL, 0, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request[tag]);
    test_until_done(&request[first]);
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    test_until_done(&request[1 - first]);
}

static void send_both(int answered)
{
    MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    if (answered)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    if (!answered)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *process = getenv("OMPI_COMM_WORLD_RANK"); /* 2 and more: of the second copy */
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || process == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0)
        receive_both(atoi(process) >= size);
    else
        send_both(argc > 1 && strcmp(argv[1], "answered") == 0);
    printf("disorder: rank %d is done\n", rank);
    MPI_Finalize();
    return 0;
}
