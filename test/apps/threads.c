/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c -- asks for MPI_THREAD_MULTIPLE, does not look at what it gets, and has two threads in
 * MPI calls at once. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static void *receive(void *got)
{
    MPI_Recv(got, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank, size, got = -1;
    pthread_t other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_create(&other, NULL, receive, &got);
    for (int i = 0; i < 1000; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
    pthread_join(other, NULL);
    printf("threads: rank %d got %d\n", rank, got);
    MPI_Finalize();
    return 0;
}
