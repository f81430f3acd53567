/* SPDX-License-Identifier: BSD-3-Clause */
/* beyond.c -- puts that name less at the target than they bring, or what is not in the window: the
 * program's errors, which must change nothing besides. Two ranks.
 *
 *     beyond more     more data than are named there: as many are put as are named
 *     beyond window   the job is to end */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 40000, SHORT = 100, LONG = 20000 };
static int room[CELLS], out[CELLS];

static int put_more(int rank, int named, MPI_Win win)
{
    memset(room, 0, sizeof room);
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Put(out, 2 * named, MPI_INT, 1, 1, named, MPI_INT, win);
    MPI_Win_fence(0, win);
    if (rank == 0)
        return 1;
    for (int i = 0; i < CELLS; i++)
        if (room[i] != (i >= 1 && i <= named ? i : 0))
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    int rank, good;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < CELLS; i++)
        out[i] = i + 1;
    MPI_Win_create(room, sizeof room, sizeof *room, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (argc == 2 && strcmp(argv[1], "more") == 0) {
        good = put_more(rank, SHORT, win) && put_more(rank, LONG, win);
    } else {
        MPI_Win_fence(0, win);
        if (rank == 0)
            MPI_Put(out, LONG, MPI_INT, 1, CELLS - LONG + 1, LONG, MPI_INT, win);
        MPI_Win_fence(0, win);
        good = 0;
    }
    MPI_Win_free(&win);
    printf("beyond: rank %d: %s\n", rank, good ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
