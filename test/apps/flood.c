/* SPDX-License-Identifier: BSD-3-Clause */
/* flood.c -- far more one-sided operations at once than there should be memory for, from both sides
 * to each other, in each kind of epoch: is the data right, and how much did a process grow? */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int rank, other, count, places;
static size_t cells;
static int *room, *mine;
static MPI_Win win;

static void usage(void)
{
    fputs("usage: flood OPERATIONS BYTES PLACES MEGABYTES\n"
          "  two ranks; so many operations of so many bytes in an epoch, to so many places one "
          "after\n"
          "  the other; a process may grow by so much\n",
          stderr);
    exit(2);
}

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("flood: rank %d, line %d: not %s\n", rank, __LINE__, #what);                    \
            fflush(stdout);                                                                        \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                          \
        }                                                                                          \
    } while (0)

static int value(int of, int place, size_t i)
{
    return of * 1000003 + place * 8191 + (int)i;
}

static void fill(int *memory, int of, int step)
{
    for (int p = 0; p < places; p++)
        for (size_t i = 0; i < cells; i++)
            memory[(size_t)p * cells + i] = step == 0 ? 0 : value(of, p, i);
}

static bool holds(const int *memory, int of, int times)
{
    for (int p = 0; p < places; p++)
        for (size_t i = 0; i < cells; i++)
            if (memory[(size_t)p * cells + i] != times * value(of, p, i))
                return false;
    return true;
}

enum kind { GETS, PUTS, SUMS, KINDS };
static const char *const names[] = {"gets", "puts", "sums"};

static void flood(enum kind kind)
{
    const int n = (int)cells;
    for (int k = 0; k < count; k++) {
        const int p = k % places;
        int *const here = mine + (size_t)p * cells;
        const MPI_Aint there = (MPI_Aint)((size_t)p * cells);
        if (kind == GETS)
            MPI_Get(here, n, MPI_INT, other, there, n, MPI_INT, win);
        else if (kind == PUTS)
            MPI_Put(here, n, MPI_INT, other, there, n, MPI_INT, win);
        else
            MPI_Accumulate(here, n, MPI_INT, other, there, n, MPI_INT, MPI_SUM, win);
    }
}

enum epoch { FENCE, LOCK, GROUP, EPOCHS };

static void run(enum kind kind, enum epoch epoch)
{
    MPI_Group all, partner;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &partner);
    if (epoch == FENCE)
        MPI_Win_fence(0, win);
    else if (epoch == LOCK)
        MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
    else {
        MPI_Win_post(partner, 0, win);
        MPI_Win_start(partner, 0, win);
    }
    flood(kind);
    if (epoch == FENCE)
        MPI_Win_fence(0, win);
    else if (epoch == LOCK) {
        MPI_Win_unlock(other, win);
    } else {
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Group_free(&all);
    MPI_Group_free(&partner);
}

static void try_out(enum kind kind, enum epoch epoch)
{
    fill(room, rank, kind == GETS);
    fill(mine, rank, kind != GETS);
    MPI_Barrier(MPI_COMM_WORLD);
    run(kind, epoch);
    if (kind == GETS)
        CHECK(holds(mine, other, 1));
    else
        CHECK(holds(room, other, kind == SUMS ? count / places : 1));
}

/* Accumulates of one origin to one place keep their order, also those that had to wait. */
static void in_order(void)
{
    for (int k = 0; k < 3 * count; k++) {
        mine[0] = k;
        MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
        for (int i = 0; i < 4; i++) {
            mine[i] = 4 * k + i;
            MPI_Accumulate(&mine[i], 1, MPI_INT, other, 0, 1, MPI_INT, MPI_REPLACE, win);
        }
        MPI_Win_unlock(other, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(room[0] == 12 * count - 1);
}

static long peak_kb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        usage();
    count = atoi(argv[1]);
    cells = strtoul(argv[2], NULL, 10) / sizeof(int);
    places = atoi(argv[3]);
    const long most_kb = atol(argv[4]) << 10;
    if (cells == 0 || places < 1 || count % places != 0)
        usage();
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 2);
    other = 1 - rank;
    const size_t bytes = (size_t)places * cells * sizeof(int);
    room = malloc(bytes);
    mine = malloc(bytes);
    CHECK(room != NULL && mine != NULL);
    memset(room, 1, bytes);
    memset(mine, 1, bytes);
    MPI_Win_create(room, (MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        const long before = peak_kb();
        for (enum epoch epoch = 0; epoch < EPOCHS; epoch++)
            try_out(kind, epoch);
        const long grown = peak_kb() - before;
        if (grown > most_kb) {
            printf("flood: rank %d grew by %ld MB for %s, not %ld\n", rank, grown >> 10,
                   names[kind], most_kb >> 10);
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 4);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    in_order();
    MPI_Win_free(&win);
    if (rank == 0)
        printf("flood: %d operations at once, all right\n", count);
    MPI_Finalize();
    return 0;
}
