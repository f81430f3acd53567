/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_communicators.c -- groups, communicators, topologies, attributes; 4 ranks. */
#include "calls.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static int sum_over(MPI_Comm c, int x)
{
    int sum = -1;
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c);
    return sum;
}

static void groups(int round)
{
    MPI_Group all, some, rest, both, common, range;
    MPI_Comm c;
    int odd[2] = {1, 3}, n, where[2], result, from_to[1][3] = {{3, 0, -1}};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, odd, &some);
    MPI_Group_difference(all, some, &rest);
    MPI_Group_union(some, rest, &both);
    MPI_Group_intersection(all, some, &common);
    MPI_Group_range_incl(all, 1, from_to, &range);
    MPI_Group_size(rest, &n);
    CHECK(n == 2);
    MPI_Group_compare(common, some, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_compare(both, all, &result);
    CHECK(result == MPI_SIMILAR);
    MPI_Group_translate_ranks(all, 2, odd, range, where);
    CHECK(where[0] == 2 && where[1] == 0);
    MPI_Comm_create(MPI_COMM_WORLD, some, &c);
    CHECK((c != MPI_COMM_NULL) == rank % 2);
    if (c != MPI_COMM_NULL) {
        CHECK(sum_over(c, rank + round) == 4 + 2 * round);
        MPI_Comm_free(&c);
    } else { /* by these alone */
        MPI_Comm_create_group(MPI_COMM_WORLD, rest, 60, &c);
        CHECK(sum_over(c, rank + round) == 2 + 2 * round);
        MPI_Comm_free(&c);
    }
    MPI_Comm_create(MPI_COMM_WORLD, range, &c);
    MPI_Comm_rank(c, &n);
    CHECK(n == size - 1 - rank);
    MPI_Comm_free(&c);
    MPI_Group *const made[] = {&all, &some, &rest, &both, &common, &range};
    for (int i = 0; i < 6; i++)
        MPI_Group_free(made[i]);
}

/* At level 1. There several twins that are on their way at once wait for each other, now and then,
 * for ever. */
static bool has_stock_layer(void)
{
    const char *layer = getenv("OMPI_MCA_pml");
    return layer != NULL && strcmp(layer, "ob1") == 0;
}

/* Twins that are made while others are, asked for in another order by every other rank. */
static void twins(int round)
{
    const bool in_turn = has_stock_layer();
    MPI_Comm half, twin[3];
    MPI_Request r[3];
    int result, n;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Comm of[2] = {MPI_COMM_WORLD, half};
    for (int i = 0; i < 2; i++) {
        int which = in_turn ? i : (rank + i) % 2;
        MPI_Comm_idup(of[which], &twin[which], &r[which]);
        if (in_turn)
            MPI_Wait(&r[which], MPI_STATUS_IGNORE);
    }
    MPI_Comm_idup(MPI_COMM_WORLD, &twin[2], &r[2]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    CHECK(sum_over(twin[0], rank) == 6 && sum_over(twin[2], round) == 4 * round);
    CHECK(sum_over(twin[1], rank) == (rank / 2 ? 5 : 1));
    MPI_Comm_compare(MPI_COMM_WORLD, twin[2], &result);
    CHECK(result == MPI_CONGRUENT);
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&twin[i]);
    MPI_Comm_free(&half);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &half);
    MPI_Comm_size(half, &n); /* at level 1 as the hosts are, else nobody is near anybody */
    CHECK(n >= 1 && sum_over(half, 1) == n);
    MPI_Comm_free(&half);
}

static void between(int round)
{
    MPI_Comm half, inter, twin, whole;
    int is, n, x = rank + round, sum = -1, in = -1, all[2];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 61, &inter);
    MPI_Comm_test_inter(inter, &is);
    MPI_Comm_remote_size(inter, &n);
    CHECK(is && n == 2);
    MPI_Comm_dup(inter, &twin);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, twin); /* of the others */
    CHECK(sum == (rank % 2 ? 2 : 4) + 2 * round);
    MPI_Allgather(&x, 1, MPI_INT, all, 1, MPI_INT, inter);
    CHECK(all[0] == (rank % 2 ? 0 : 1) + round && all[1] == all[0] + 2);
    MPI_Sendrecv(&x, 1, MPI_INT, rank / 2, 62, &in, 1, MPI_INT, rank / 2, 62, inter,
                 MPI_STATUS_IGNORE);
    CHECK(in == (rank ^ 1) + round);
    MPI_Bcast(&x, 1, MPI_INT, rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    CHECK(rank % 2 == 0 || x == round);
    MPI_Barrier(inter);
    MPI_Intercomm_merge(inter, rank % 2, &whole);
    CHECK(sum_over(whole, 1) == 4);
    MPI_Comm *const made[] = {&whole, &twin, &inter, &half};
    for (int i = 0; i < 4; i++)
        MPI_Comm_free(made[i]);
}

static void topologies(int round)
{
    MPI_Comm grid, row, graph;
    int dims[2] = {0, 0}, wraps[2] = {0, 1}, at[2], up, down, n, index[4] = {1, 3, 5, 6};
    int edges[6] = {1, 0, 2, 1, 3, 2}, who[2];
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wraps, 1, &grid);
    MPI_Cart_coords(grid, rank, 2, at);
    CHECK(at[0] == rank / 2 && at[1] == rank % 2);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    CHECK(up == (rank < 2 ? MPI_PROC_NULL : rank - 2) && (rank < 2 ? down == rank + 2 : down < 0));
    MPI_Cart_sub(grid, (int[2]){0, 1}, &row);
    CHECK(sum_over(row, rank + round) == (rank < 2 ? 1 : 5) + 2 * round);
    MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &graph); /* a chain */
    MPI_Graph_neighbors_count(graph, rank, &n);
    CHECK(n == (rank % 3 ? 2 : 1));
    MPI_Graph_neighbors(graph, rank, 2, who);
    CHECK(who[0] == (rank ? rank - 1 : 1));
    MPI_Topo_test(graph, &n);
    CHECK(n == MPI_GRAPH && sum_over(graph, 1) == 4);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}

static int copies, deletions;

static int copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra;
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void attributes(int round)
{
    static char room[100];
    MPI_Comm twin;
    int key, flag, *most, length;
    char *value, name[MPI_MAX_OBJECT_NAME];
    copies = deletions = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    CHECK(flag && *most >= 32767);
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &room[round % 50]);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_get_attr(twin, key, &value, &flag);
    CHECK(flag && value == &room[round % 50 + 1] && copies == 1);
    MPI_Comm_set_name(twin, "twin");
    MPI_Comm_get_name(twin, name, &length);
    CHECK(length == 4 && strcmp(name, "twin") == 0);
    MPI_Comm_free(&twin);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    CHECK(deletions == 2);
    MPI_Comm_free_keyval(&key);
}

/* Tags by the wall clock: lanes that saw another one would diverge. */
static void wall_clocks(void)
{
    enum { TAGS = 30000 };
    struct timeval day;
    struct timespec real;
    gettimeofday(&day, NULL);
    clock_gettime(CLOCK_REALTIME, &real);
    const int own[] = {(int)(day.tv_usec % TAGS), (int)(real.tv_nsec % TAGS),
                       (int)(time(NULL) % TAGS)};
    for (int i = 0; i < 3; i++) {
        int sent;
        MPI_Status status;
        MPI_Sendrecv(&own[i], 1, MPI_INT, next, own[i], &sent, 1, MPI_INT, before, MPI_ANY_TAG,
                     MPI_COMM_WORLD, &status);
        CHECK(sent == status.MPI_TAG);
    }
    CHECK(real.tv_sec >= day.tv_sec);
}

/* All copies of a rank are told one name and one time. */
static void clocks(void)
{
    char name[MPI_MAX_PROCESSOR_NAME], seen[MPI_MAX_PROCESSOR_NAME];
    int length;
    double begin = MPI_Wtime(), end, of_other;
    MPI_Get_processor_name(name, &length);
    CHECK(length == (int)strlen(name));
    MPI_Sendrecv(name, length + 1, MPI_CHAR, next, 63, seen, sizeof seen, MPI_CHAR, before, 63,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while ((end = MPI_Wtime()) - begin < 1e-4)
        ;
    MPI_Sendrecv(&end, 1, MPI_DOUBLE, next, 64, &of_other, 1, MPI_DOUBLE, before, 64,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(of_other > 0);
    wall_clocks();
}

void communicators_all(int round)
{
    groups(round);
    twins(round);
    between(round);
    topologies(round);
    attributes(round);
    clocks();
}
