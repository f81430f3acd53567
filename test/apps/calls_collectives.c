/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_collectives.c -- every collective, blocking and not, with known answers; 4 ranks. */
#include "calls.h"
#include <stdlib.h>
#include <string.h>

enum { N = 4 };

/* What a blocking and a nonblocking call do alike is written once. */
#define BOTH(nonblocking, call, icall)                                                             \
    do {                                                                                           \
        if (nonblocking) {                                                                         \
            MPI_Request request;                                                                   \
            icall;                                                                                 \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                 \
        } else {                                                                                   \
            call;                                                                                  \
        }                                                                                          \
    } while (0)
#define W MPI_COMM_WORLD

/* Rank i gives or gets i + 1 integers: value(from, to, k). */
static const int counts[N] = {1, 2, 3, 4}, places[N] = {0, 1, 3, 6};
static int value(int from, int to, int k, int round)
{
    return ((round * N + from) * N + to) * 10 + k;
}

static void one_to_all(int round, int nb)
{
    int root = round % N, x = rank == root ? round : -1, mine[N], all[10];
    BOTH(nb, MPI_Barrier(W), MPI_Ibarrier(W, &request));
    BOTH(nb, MPI_Bcast(&x, 1, MPI_INT, root, W), MPI_Ibcast(&x, 1, MPI_INT, root, W, &request));
    CHECK(x == round);
    for (int i = 0; i < 10; i++)
        all[i] = i + round;
    BOTH(nb, MPI_Scatter(all, 2, MPI_INT, mine, 2, MPI_INT, root, W),
         MPI_Iscatter(all, 2, MPI_INT, mine, 2, MPI_INT, root, W, &request));
    CHECK(mine[0] == 2 * rank + round && mine[1] == mine[0] + 1);
    BOTH(nb, MPI_Scatterv(all, counts, places, MPI_INT, mine, counts[rank], MPI_INT, root, W),
         MPI_Iscatterv(all, counts, places, MPI_INT, mine, counts[rank], MPI_INT, root, W,
                       &request));
    for (int k = 0; k < counts[rank]; k++)
        CHECK(mine[k] == places[rank] + k + round);
    memset(all, 0, sizeof all);
    BOTH(nb, MPI_Gather(mine, 1, MPI_INT, all, 1, MPI_INT, root, W),
         MPI_Igather(mine, 1, MPI_INT, all, 1, MPI_INT, root, W, &request));
    CHECK(rank != root || (all[3] == 6 + round && all[1] == 1 + round));
    BOTH(
        nb, MPI_Gatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, root, W),
        MPI_Igatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, root, W, &request));
    for (int k = 0; rank == root && k < 10; k++)
        CHECK(all[k] == k + round);
}

static void all_to_all(int round, int nb)
{
    int out[N * N], in[N * N], all[10], n = counts[rank], out_counts[N], out_places[N];
    int byte_out[N], byte_in[N], byte_counts[N];
    MPI_Datatype ints[N] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    for (int i = 0; i < n; i++)
        out[i] = value(rank, 0, i, round);
    BOTH(nb, MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, W),
         MPI_Iallgather(out, 1, MPI_INT, in, 1, MPI_INT, W, &request));
    for (int i = 0; i < N; i++)
        CHECK(in[i] == value(i, 0, 0, round));
    BOTH(nb, MPI_Allgatherv(out, n, MPI_INT, all, counts, places, MPI_INT, W),
         MPI_Iallgatherv(out, n, MPI_INT, all, counts, places, MPI_INT, W, &request));
    for (int i = 0; i < N; i++)
        for (int k = 0; k < counts[i]; k++)
            CHECK(all[places[i] + k] == value(i, 0, k, round));
    /* rank i sends counts[j] to rank j, and gets counts[i] of each */
    for (int j = 0; j < N; j++) {
        out_counts[j] = n;
        out_places[j] = j * N;
        byte_out[j] = places[j] * (int)sizeof(int);
        byte_in[j] = j * N * (int)sizeof(int);
        byte_counts[j] = counts[j];
        for (int k = 0; k < counts[j]; k++)
            out[places[j] + k] = value(rank, j, k, round);
    }
    for (int with_types = 0; with_types < 2; with_types++) {
        memset(in, 0, sizeof in);
        if (with_types)
            BOTH(nb,
                 MPI_Alltoallw(out, byte_counts, byte_out, ints, in, out_counts, byte_in, ints, W),
                 MPI_Ialltoallw(out, byte_counts, byte_out, ints, in, out_counts, byte_in, ints, W,
                                &request));
        else
            BOTH(
                nb,
                MPI_Alltoallv(out, counts, places, MPI_INT, in, out_counts, out_places, MPI_INT, W),
                MPI_Ialltoallv(out, counts, places, MPI_INT, in, out_counts, out_places, MPI_INT, W,
                               &request));
        for (int j = 0; j < N; j++)
            for (int k = 0; k < n; k++)
                CHECK(in[j * N + k] == value(j, rank, k, round));
    }
    for (int j = 0; j < N; j++)
        in[j] = value(rank, j, 0, round);
    BOTH(nb, MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, 1, MPI_INT, W),
         MPI_Ialltoall(in, 1, MPI_INT, out, 1, MPI_INT, W, &request));
    for (int j = 0; j < N; j++)
        CHECK((nb ? out : in)[j] == value(j, rank, 0, round));
}

static void twice_and_add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += 2 * ((int *)in)[i];
}

static void reductions(int round, int nb)
{
    int x[N], sum[N], root = round % N, part = 0;
    struct {
        double v;
        int at;
    } mine = {(rank * 3 + round) % 5, rank}, best;
    for (int i = 0; i < N; i++)
        x[i] = rank * (i + 1) + round;
    BOTH(nb, MPI_Reduce(x, sum, N, MPI_INT, MPI_SUM, root, W),
         MPI_Ireduce(x, sum, N, MPI_INT, MPI_SUM, root, W, &request));
    CHECK(rank != root || sum[2] == 18 + 4 * round);
    BOTH(nb, MPI_Allreduce(x, sum, N, MPI_INT, MPI_MAX, W),
         MPI_Iallreduce(x, sum, N, MPI_INT, MPI_MAX, W, &request));
    CHECK(sum[3] == 12 + round);
    BOTH(nb, MPI_Reduce_scatter_block(x, &part, 1, MPI_INT, MPI_SUM, W),
         MPI_Ireduce_scatter_block(x, &part, 1, MPI_INT, MPI_SUM, W, &request));
    CHECK(part == 6 * (rank + 1) + 4 * round);
    int one[N] = {1, 1, 1, 1};
    BOTH(nb, MPI_Reduce_scatter(x, &part, one, MPI_INT, MPI_MIN, W),
         MPI_Ireduce_scatter(x, &part, one, MPI_INT, MPI_MIN, W, &request));
    CHECK(part == round);
    BOTH(nb, MPI_Scan(x, sum, N, MPI_INT, MPI_SUM, W),
         MPI_Iscan(x, sum, N, MPI_INT, MPI_SUM, W, &request));
    CHECK(sum[0] == rank * (rank + 1) / 2 + (rank + 1) * round);
    sum[0] = 0;
    BOTH(nb, MPI_Exscan(x, sum, N, MPI_INT, MPI_SUM, W),
         MPI_Iexscan(x, sum, N, MPI_INT, MPI_SUM, W, &request));
    CHECK(rank == 0 || sum[0] == rank * (rank - 1) / 2 + rank * round);
    BOTH(nb, MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, W),
         MPI_Iallreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, W, &request));
    CHECK((best.at * 3 + round) % 5 == (int)best.v);
    MPI_Op own;
    MPI_Op_create(twice_and_add, 0, &own);
    BOTH(nb, MPI_Reduce(x, sum, N, MPI_INT, own, root, W),
         MPI_Ireduce(x, sum, N, MPI_INT, own, root, W, &request));
    MPI_Op_free(&own);
    BOTH(nb, MPI_Allreduce(MPI_IN_PLACE, x, N, MPI_INT, MPI_SUM, W),
         MPI_Iallreduce(MPI_IN_PLACE, x, N, MPI_INT, MPI_SUM, W, &request));
    CHECK(x[1] == 12 + 4 * round);
}

static void in_place(int round)
{
    int all[N], root = round % N, x = rank + round, many[N];
    memset(all, 0, sizeof all);
    all[rank] = x;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, W);
    CHECK(all[0] == round && all[N - 1] == N - 1 + round);
    all[rank] = 2 * x;
    if (rank == root)
        MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, root, W);
    else
        MPI_Gather(&all[rank], 1, MPI_INT, NULL, 0, MPI_INT, root, W);
    for (int i = 0; rank == root && i < N; i++)
        CHECK(all[i] == 2 * (i + round));
    if (rank == root)
        MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, root, W);
    else
        MPI_Scatter(NULL, 0, MPI_INT, &all[rank], 1, MPI_INT, root, W);
    CHECK(all[rank] == 2 * x);
    MPI_Reduce(rank == root ? MPI_IN_PLACE : &x, &x, 1, MPI_INT, MPI_SUM, root, W);
    CHECK(rank != root || x == 6 + 4 * round);
    for (int i = 0; i < N; i++)
        many[i] = i;
    MPI_Reduce_scatter_block(MPI_IN_PLACE, many, 1, MPI_INT, MPI_SUM, W);
    CHECK(many[0] == N * rank);
    x = rank;
    MPI_Scan(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, W);
    CHECK(x == rank * (rank + 1) / 2);
}

/* On a ring of ranks, and on a graph where all see all. */
static void neighbours(int round, int nb)
{
    MPI_Comm ring, graph;
    int dims[1] = {N}, wraps[1] = {1}, left, right, me = rank + round, seen[2], out[2], others[3];
    int two[2] = {1, 1}, at[2] = {0, 1}, from_all[3], ones[3] = {1, 1, 1}, n = 0;
    MPI_Aint bytes[2] = {0, sizeof(int)};
    MPI_Datatype ints[2] = {MPI_INT, MPI_INT};
    MPI_Cart_create(W, 1, dims, wraps, 1, &ring);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    BOTH(nb, MPI_Neighbor_allgather(&me, 1, MPI_INT, seen, 1, MPI_INT, ring),
         MPI_Ineighbor_allgather(&me, 1, MPI_INT, seen, 1, MPI_INT, ring, &request));
    CHECK(seen[0] == left + round && seen[1] == right + round);
    BOTH(nb, MPI_Neighbor_allgatherv(&me, 1, MPI_INT, seen, two, at, MPI_INT, ring),
         MPI_Ineighbor_allgatherv(&me, 1, MPI_INT, seen, two, at, MPI_INT, ring, &request));
    CHECK(seen[0] == left + round && seen[1] == right + round);
    out[0] = 10 * rank;
    out[1] = 10 * rank + 1;
    BOTH(nb, MPI_Neighbor_alltoall(out, 1, MPI_INT, seen, 1, MPI_INT, ring),
         MPI_Ineighbor_alltoall(out, 1, MPI_INT, seen, 1, MPI_INT, ring, &request));
    CHECK(seen[0] == 10 * left + 1 && seen[1] == 10 * right);
    BOTH(nb, MPI_Neighbor_alltoallv(out, two, at, MPI_INT, seen, two, at, MPI_INT, ring),
         MPI_Ineighbor_alltoallv(out, two, at, MPI_INT, seen, two, at, MPI_INT, ring, &request));
    CHECK(seen[0] == 10 * left + 1 && seen[1] == 10 * right);
    BOTH(nb, MPI_Neighbor_alltoallw(out, two, bytes, ints, seen, two, bytes, ints, ring),
         MPI_Ineighbor_alltoallw(out, two, bytes, ints, seen, two, bytes, ints, ring, &request));
    CHECK(seen[0] == 10 * left + 1 && seen[1] == 10 * right);
    for (int i = 0; i < N; i++)
        if (i != rank)
            others[n++] = i;
    MPI_Dist_graph_create_adjacent(W, n, others, ones, n, others, ones, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_allgather(&me, 1, MPI_INT, from_all, 1, MPI_INT, graph);
    for (int i = 0; i < n; i++)
        CHECK(from_all[i] == others[i] + round);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&ring);
}

/* Large enough for every algorithm that tuned has. */
static void sizes(int round)
{
    for (int n = 1; n <= 1 << 18; n *= 64) {
        int *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * N * sizeof *y);
        for (int i = 0; i < n; i++)
            x[i] = rank + i + round;
        MPI_Allgather(x, n, MPI_INT, y, n, MPI_INT, W);
        for (int j = 0; j < N; j++)
            CHECK(y[j * n] == j + round && y[j * n + n - 1] == j + n - 1 + round);
        MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_INT, MPI_SUM, W);
        CHECK(x[n - 1] == 6 + N * (n - 1 + round));
        MPI_Bcast(x, n, MPI_INT, round % N, W);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, y, n, MPI_INT, W);
        for (int j = 0; j < N; j++)
            CHECK(y[j * n] == rank + round && y[j * n + n - 1] == rank + n - 1 + round);
        free(x);
        free(y);
    }
}

/* Many in flight, completed in another order. */
static void in_flight(int round)
{
    enum { MANY = 20 };
    int x[MANY], sum[MANY], done = 0;
    MPI_Request r[MANY + 1];
    for (int i = 0; i < MANY; i++) {
        x[i] = rank * i + round;
        if (i % 2)
            MPI_Iallreduce(&x[i], &sum[i], 1, MPI_INT, MPI_SUM, W, &r[i]);
        else
            MPI_Iscan(&x[i], &sum[i], 1, MPI_INT, MPI_SUM, W, &r[i]);
    }
    MPI_Ibarrier(W, &r[MANY]);
    while (done < MANY + 1) {
        int which;
        MPI_Waitany(MANY + 1, r, &which, MPI_STATUS_IGNORE);
        done++;
    }
    for (int i = 0; i < MANY; i++)
        CHECK(sum[i] ==
              (i % 2 ? 6 * i + N * round : i * rank * (rank + 1) / 2 + (rank + 1) * round));
}

void collectives_all(int round)
{
    for (int nb = 0; nb < 2; nb++) {
        one_to_all(round, nb);
        all_to_all(round, nb);
        reductions(round, nb);
        neighbours(round, nb);
    }
    in_place(round);
    in_flight(round);
    if (round % 10 == 0)
        sizes(round);
}
