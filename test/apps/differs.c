/* SPDX-License-Identifier: BSD-3-Clause */
/* differs.c -- a program whose lanes cannot agree: it sends as many bytes as its process id says.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char bytes[1 << 16];
    int rank, size, n = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 200; i++) {
        MPI_Status s;
        MPI_Sendrecv(bytes, (int)getpid() % 1000, MPI_BYTE, (rank + 1) % size, 1, bytes,
                     sizeof bytes, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &s);
        MPI_Get_count(&s, MPI_BYTE, &n);
    }
    printf("differs: rank %d of %d got %d\n", rank, size, n);
    MPI_Finalize();
    return 0;
}
