/* SPDX-License-Identifier: BSD-3-Clause */
/* spawner.c -- spawns as many children as its argument says and counts everybody. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int count_all(MPI_Comm to_others, int high)
{
    MPI_Comm all;
    int one = 1, sum = 0;
    MPI_Intercomm_merge(to_others, high, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, argc > 1 ? atoi(argv[1]) : 1, MPI_INFO_NULL, 0,
                       MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
        const int all = count_all(children, 0);
        if (rank == 0)
            printf("parents and children: %d\n", all);
        MPI_Comm_disconnect(&children);
    } else {
        count_all(parent, 1);
        printf("child %d\n", rank);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
