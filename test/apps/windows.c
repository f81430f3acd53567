/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.c -- one-sided communication of every kind, with known answers: 4 ranks, ROUNDS times. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, next, before;

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("windows: rank %d, line %d: not %s\n", rank, __LINE__, #what);                  \
            fflush(stdout);                                                                        \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                          \
        }                                                                                          \
    } while (0)

enum { CELLS = 4000, LONG = 40000 }; /* in messages of both kinds */

static void fences(int round)
{
    static int room[CELLS], out[CELLS], in[CELLS];
    MPI_Win win;
    MPI_Datatype odd;
    MPI_Win_create(room, sizeof room, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < CELLS; i++) {
        room[i] = -1;
        out[i] = rank * CELLS + i + round;
    }
    MPI_Type_vector(CELLS / 2, 1, 2, MPI_INT, &odd);
    MPI_Type_commit(&odd);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(out, CELLS / 2, MPI_INT, next, 1, 1, odd, win);
    MPI_Put(out, 1, odd, next, 0, 1, odd, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < CELLS / 2; i++)
        CHECK(room[2 * i + 1] == before * CELLS + i + round);
    MPI_Get(in, CELLS, MPI_INT, before, 0, CELLS, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(in[1] == (before + size - 1) % size * CELLS + round);
    for (int i = 0; i < CELLS; i++)
        room[i] = 0;
    MPI_Win_fence(0, win);
    for (int to = 0; to < size; to++)
        MPI_Accumulate(out, CELLS, MPI_INT, to, 0, CELLS, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < CELLS; i++)
        CHECK(room[i] == size * (i + round) + CELLS * size * (size - 1) / 2);
    MPI_Type_free(&odd);
    MPI_Win_free(&win);
}

static void groups(int round)
{
    double room[3] = {0, 0, 0}, mine = rank + round / 8., was = -1;
    MPI_Group all, to, from;
    MPI_Win win;
    int flag = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &before, &from);
    MPI_Win_create(room, sizeof room, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < 3; i++) {
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Put(&mine, 1, MPI_DOUBLE, next, i, 1, MPI_DOUBLE, win);
        MPI_Get_accumulate(&mine, 1, MPI_DOUBLE, &was, 1, MPI_DOUBLE, next, i, 1, MPI_DOUBLE,
                           MPI_SUM, win);
        MPI_Win_complete(win);
        CHECK(was == mine);
        if (i == 1)
            for (flag = 0; !flag;)
                MPI_Win_test(win, &flag);
        else
            MPI_Win_wait(win);
        CHECK(room[i] == 2 * (before + round / 8.));
    }
    MPI_Win_free(&win);
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

/* Everybody draws tickets from one counter; each number is drawn once. */
static void tickets(int round)
{
    enum { DRAWS = 25 };
    long *room, drawn[DRAWS], all[4 * DRAWS], one = 1, seen = 0;
    MPI_Win win;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &room, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    *room = round;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < DRAWS; i++) {
        MPI_Fetch_and_op(&one, &drawn[i], MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(i == 0 || drawn[i] > drawn[i - 1]);
    }
    MPI_Win_unlock_all(win);
    /* What a rank drew depends on chance: all copies of a rank have to draw alike. */
    MPI_Gather(drawn, DRAWS, MPI_LONG, all, DRAWS, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size * DRAWS; i++)
        seen += all[i] - round;
    CHECK(rank != 0 || seen == (long)size * DRAWS * (size * DRAWS - 1) / 2);
    MPI_Win_free(&win);
}

/* A lock made of compare and swap, and one of the window's own, guard a counter each. */
static void locks(int round)
{
    enum { TIMES = 5 };
    int *room, free_ = 0, taken = rank + 1, was, value;
    MPI_Win win;
    MPI_Request r[2];
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &room, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(room, 0, 4 * sizeof(int));
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
        value += round + 1;
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < TIMES; i++) {
        do {
            MPI_Compare_and_swap(&taken, &free_, &was, MPI_INT, 2, 1, win);
            MPI_Win_flush(2, win);
        } while (was != free_);
        MPI_Rget(&value, 1, MPI_INT, 2, 2, 1, MPI_INT, win, &r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        value++;
        MPI_Rput(&value, 1, MPI_INT, 2, 2, 1, MPI_INT, win, &r[0]);
        MPI_Raccumulate(&value, 1, MPI_INT, 2, 3, 1, MPI_INT, MPI_MAX, win, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Win_flush(2, win);
        MPI_Accumulate(&free_, 1, MPI_INT, 2, 1, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(2, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(rank != 1 || room[0] == size * TIMES * (round + 1));
    CHECK(rank != 2 || (room[2] == size * TIMES && room[3] == room[2] && room[1] == 0));
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

/* A type for data that are called by MPI_BOTTOM: it says itself where they are, in two pieces. */
static MPI_Datatype type_at(const int *first, int n, const int *second, int m)
{
    MPI_Datatype t;
    MPI_Aint where[2];
    int count[2] = {n, m};
    MPI_Get_address(first, &where[0]);
    MPI_Get_address(second, &where[1]);
    MPI_Type_create_hindexed(2, count, where, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

/* No data: none is written, and none is read from where nothing is. */
static void nothing(MPI_Win win)
{
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Put(NULL, 0, MPI_INT, next, 0, 0, MPI_INT, win);
    MPI_Put(NULL, 3, empty, next, 0, 2, empty, win);
    MPI_Get(NULL, 0, MPI_INT, next, 0, 0, MPI_INT, win);
    MPI_Get(MPI_BOTTOM, 3, empty, next, 0, 2, empty, win);
    MPI_Accumulate(NULL, 0, MPI_INT, next, 0, 0, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, next, 0, 0, MPI_INT, MPI_SUM, win);
    MPI_Type_free(&empty);
}

/* Data at absolute addresses, which MPI_BOTTOM, a null pointer, stands for: of all calls, short and
 * long. */
static void absolute(int round, int cells)
{
    static int room[LONG], out[LONG], more[2], in[LONG], tail[2];
    const int n = cells - 2;
    MPI_Win win;
    MPI_Request r[2];
    MPI_Datatype from = type_at(out, n, more, 2), to = type_at(in, n, tail, 2);
    for (int i = 0; i < cells; i++) {
        *(i < n ? &out[i] : &more[i - n]) = rank * 10 + i + round;
        room[i] = -1;
    }
    MPI_Win_create(room, sizeof room, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(MPI_BOTTOM, 1, from, next, 0, cells, MPI_INT, win);
    nothing(win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < cells; i++)
        CHECK(room[i] == before * 10 + i + round);
    MPI_Get(MPI_BOTTOM, 1, to, next, 0, cells, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < cells; i++)
        CHECK((i < n ? in[i] : tail[i - n]) == rank * 10 + i + round);
    MPI_Accumulate(MPI_BOTTOM, 1, from, next, 0, cells, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < cells; i++)
        CHECK(room[i] == 2 * (before * 10 + i + round));
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, next, 0, cells, MPI_INT, MPI_SUM,
                       win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < cells; i++)
        CHECK((i < n ? in[i] : tail[i - n]) == 2 * (rank * 10 + i + round) &&
              room[i] == 3 * (before * 10 + i + round));
    memset(in, 0, sizeof in);
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, MPI_BOTTOM, 1, to, next, 0, cells, MPI_INT,
                       MPI_NO_OP, win);
    MPI_Fetch_and_op(NULL, &in[n], MPI_INT, next, 1, MPI_NO_OP, win);
    MPI_Win_fence(0, win);
    CHECK(in[n - 1] == 3 * (rank * 10 + n - 1 + round) &&
          tail[1] == 3 * (rank * 10 + n + 1 + round) && in[n] == 3 * (rank * 10 + 1 + round));

    MPI_Win_lock_all(0, win);
    MPI_Rput(MPI_BOTTOM, 1, from, next, 0, cells, MPI_INT, win, &r[0]);
    MPI_Raccumulate(MPI_BOTTOM, 1, from, next, 0, cells, MPI_INT, MPI_SUM, win, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Win_flush(next, win);
    MPI_Rget_accumulate(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, next, 0, cells, MPI_INT, MPI_SUM,
                        win, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK(in[0] == 2 * (rank * 10 + round) && tail[1] == 2 * (rank * 10 + n + 1 + round));
    MPI_Rget(MPI_BOTTOM, 1, to, next, 0, cells, MPI_INT, win, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK(in[0] == 3 * (rank * 10 + round) && tail[1] == 3 * (rank * 10 + n + 1 + round));
    MPI_Win_unlock_all(win);
    MPI_Type_free(&from);
    MPI_Type_free(&to);
    MPI_Win_free(&win);
}

static void dynamic(int round)
{
    int cell[2] = {-1, -1}, mine = rank * 10 + round, seen = -1;
    MPI_Aint at, all[4];
    MPI_Datatype there;
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, cell, sizeof cell);
    MPI_Get_address(&cell[0], &at);
    MPI_Allgather(&at, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_INT, next, all[next], 1, MPI_INT, win);
    /* here the target's type has the address, and its displacement is MPI_BOTTOM */
    at = all[next] + (MPI_Aint)sizeof(int);
    MPI_Type_create_hindexed_block(1, 1, &at, MPI_INT, &there);
    MPI_Type_commit(&there);
    MPI_Accumulate(&mine, 1, MPI_INT, next, 0, 1, there, MPI_REPLACE, win);
    MPI_Accumulate(&mine, 1, MPI_INT, next, 0, 1, there, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(&seen, 1, MPI_INT, next, 0, 1, there, win);
    MPI_Win_fence(0, win);
    CHECK(cell[0] == before * 10 + round && cell[1] == 2 * cell[0] && seen == 2 * mine);
    MPI_Type_free(&there);
    MPI_Win_detach(win, cell);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 4);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    for (int i = 0; i < rounds; i++) {
        fences(i);
        groups(i);
        tickets(i);
        locks(i);
        absolute(i, 6);
        absolute(i, LONG);
        if (argc < 3) /* addresses differ between copies, which -v finds out */
            dynamic(i);
    }
    if (rank == 0)
        printf("windows: %d ranks, %d rounds, all right\n", size, rounds);
    MPI_Finalize();
    return 0;
}
