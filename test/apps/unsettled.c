/* SPDX-License-Identifier: BSD-3-Clause */
/* unsettled.c -- what was put is there for all who can know that its epoch is over: those that its
 * origin has sent to since, or has received from a synchronous sender, or has put something for, in
 * this window or another one. And locks in numbers: 4 ranks, ROUNDS times. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, next;

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("unsettled: rank %d, line %d: not %s\n", rank, __LINE__, #what);                \
            fflush(stdout);                                                                        \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                          \
        }                                                                                          \
    } while (0)

enum { CELLS = 512, FLAG = CELLS, OTHER, COUNTER, SUM, ROOM, LONG = 4000 };
static long data[LONG], *room, *flags;
static MPI_Win win, second;

/* Late, so that a request of one origin may be served before an older one of another. */
static void target_is_busy(void)
{
    volatile double x = 1;
    for (int i = 0; i < 200000; i++)
        x = x * 1.0000001 + 1e-9;
}

static long get(MPI_Win from, int target, MPI_Aint where)
{
    long value = -1;
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, from);
    MPI_Get(&value, 1, MPI_LONG, target, where, 1, MPI_LONG, from);
    MPI_Win_unlock(target, from);
    return value;
}

/* flush: by that in an epoch of all targets, else by a lock of one. */
static void put(int target, int cells, long value, int flush)
{
    for (int i = 0; i < cells; i++)
        data[i] = value;
    if (flush)
        MPI_Win_lock_all(0, win);
    else
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Put(data, cells, MPI_LONG, target, 0, cells, MPI_LONG, win);
    if (flush)
        MPI_Win_flush(target, win);
    else
        MPI_Win_unlock(target, win);
}

static void put_flag(MPI_Win there, int target, MPI_Aint where, long value, int flush)
{
    if (!flush)
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, there);
    MPI_Accumulate(&value, 1, MPI_LONG, target, where, 1, MPI_LONG, MPI_REPLACE, there);
    if (!flush)
        MPI_Win_unlock(target, there);
    else
        MPI_Win_flush(target, there);
}

/* One rank puts into another's window, and a third one is told in one way or another. */
static void told(int round, int way)
{
    enum { SENT, SENT_LATER, SYNCHRONOUS, IN_COLLECTIVE, BY_WINDOW, BY_SECOND, WAYS };
    const int flush = round % 2, kind = way % WAYS, origin = way / WAYS % size;
    const int target = (origin + 1) % size, third = (origin + 2) % size;
    const long value = round * 100L + way + 1;
    MPI_Request r;
    int nothing = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (kind == IN_COLLECTIVE && rank != origin)
        MPI_Ibarrier(MPI_COMM_WORLD, &r);
    if (rank == origin) {
        put(target, CELLS, value, flush);
        if (kind == SENT)
            MPI_Send(&nothing, 1, MPI_INT, third, 0, MPI_COMM_WORLD);
        else if (kind == SENT_LATER)
            MPI_Isend(&nothing, 1, MPI_INT, third, 0, MPI_COMM_WORLD, &r);
        else if (kind == SYNCHRONOUS)
            MPI_Recv(&nothing, 1, MPI_INT, third, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (kind == IN_COLLECTIVE)
            MPI_Ibarrier(MPI_COMM_WORLD, &r);
        else if (kind == BY_WINDOW)
            put_flag(win, third, FLAG, value, flush);
        else {
            if (flush)
                MPI_Win_lock_all(0, second);
            put_flag(second, third, 0, value, flush);
            if (flush)
                MPI_Win_unlock_all(second);
        }
        if (kind == SENT_LATER)
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        if (flush)
            MPI_Win_unlock_all(win);
    } else if (rank == target) {
        target_is_busy();
    } else if (rank == third) {
        if (kind == SENT || kind == SENT_LATER)
            MPI_Recv(&nothing, 1, MPI_INT, origin, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (kind == SYNCHRONOUS)
            MPI_Ssend(&nothing, 1, MPI_INT, origin, 0, MPI_COMM_WORLD);
        else if (kind == IN_COLLECTIVE)
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        else if (kind == BY_WINDOW)
            while (get(win, third, FLAG) != value)
                continue;
        else
            while (get(second, third, 0) != value)
                continue;
        CHECK(get(win, target, CELLS - 1) == value);
    }
    if (kind == IN_COLLECTIVE && rank != third)
        MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Many short epochs without a wait, of all ranks with all: none is lost, nor done twice. */
static void counted(int round)
{
    enum { TIMES = 100 };
    const long one = 1;
    long value;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++)
        for (int k = 0; k < size; k++) {
            const int to = (rank + k) % size;
            MPI_Win_lock(i % 3 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, to, 0, win);
            MPI_Accumulate(&one, 1, MPI_LONG, to, OTHER, 1, MPI_LONG, MPI_SUM, win);
            MPI_Win_unlock(to, win);
        }
    for (int i = 0; i < TIMES; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win);
        MPI_Get(&value, 1, MPI_LONG, 3, COUNTER, 1, MPI_LONG, win);
        MPI_Win_flush_local(3, win);
        value++;
        MPI_Put(&value, 1, MPI_LONG, 3, COUNTER, 1, MPI_LONG, win);
        MPI_Win_unlock(3, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(get(win, rank, OTHER) == (long)size * TIMES * (round + 1));
    CHECK(rank != 3 || get(win, 3, COUNTER) == (long)size * TIMES * (round + 1));
}

/* More under a lock that others hold than a target keeps, and longer than it keeps; two locks,
 * first used in another order than they were asked for; and epochs without anything. */
static void under_a_lock(int round)
{
    enum { TIMES = 1500 };
    long seen[LONG];
    for (int target = 0; target < 2; target++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        for (int i = 0; i < TIMES; i++) {
            data[i] = rank * 1000 + round;
            MPI_Put(&data[i], 1, MPI_LONG, target, ROOM + i, 1, MPI_LONG, win);
        }
        MPI_Get(seen, TIMES, MPI_LONG, target, ROOM, TIMES, MPI_LONG, win);
        MPI_Win_unlock(target, win);
        for (int i = 0; i < TIMES; i++)
            CHECK(seen[i] == data[i]);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        for (int i = 0; i < LONG; i++)
            data[i] = rank * 1000 + round + i;
        MPI_Put(data, LONG, MPI_LONG, target, ROOM, LONG, MPI_LONG, win);
        MPI_Win_flush_local(target, win);
        MPI_Get(seen, LONG, MPI_LONG, target, ROOM, LONG, MPI_LONG, win);
        MPI_Win_unlock(target, win);
        for (int i = 0; i < LONG; i++)
            CHECK(seen[i] == data[i]);
    }
    for (int i = 0; i < 20; i++) {
        data[0] = rank;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
        MPI_Put(data, 1, MPI_LONG, 1 + (rank + i) % 2, ROOM, 1, MPI_LONG, win);
        MPI_Put(data, 1, MPI_LONG, 2 - (rank + i) % 2, ROOM, 1, MPI_LONG, win);
        MPI_Win_unlock(1 + rank % 2, win);
        MPI_Win_unlock(2 - rank % 2, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
        MPI_Win_unlock(next, win);
    }
}

/* One holds a lock for long, while two begin epoch after epoch, more than a target keeps. */
static void held_for_long(int round)
{
    enum { EPOCHS = 200, EACH = 12 };
    const long one = 1;
    long seen;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win);
        MPI_Get(&seen, 1, MPI_LONG, 3, SUM, 1, MPI_LONG, win);
        MPI_Win_flush(3, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < 30; i++)
            target_is_busy();
        MPI_Win_unlock(3, win);
    }
    for (int i = 0; (rank == 1 || rank == 2) && i < EPOCHS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win);
        for (int k = 0; k < EACH; k++)
            MPI_Accumulate(&one, 1, MPI_LONG, 3, SUM, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_unlock(3, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(get(win, 3, SUM) == 2L * EPOCHS * EACH * (round + 1));
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 4);
    next = (rank + 1) % size;
    MPI_Win_allocate((ROOM + LONG) * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &room, &win);
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &flags, &second);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < ROOM; i++)
        room[i] = 0;
    MPI_Win_unlock(rank, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, second);
    *flags = 0;
    MPI_Win_unlock(rank, second);
    for (int i = 0; i < rounds; i++) {
        for (int way = 0; way < 72; way++)
            told(i, way);
        counted(i);
        under_a_lock(i);
        held_for_long(i);
    }
    MPI_Win_free(&second);
    MPI_Win_free(&win);
    if (rank == 0)
        printf("unsettled: %d ranks, %d rounds, all right\n", size, rounds);
    MPI_Finalize();
    return 0;
}
