/* SPDX-License-Identifier: BSD-3-Clause */
/* drift.c -- `drift WHAT COUNT [FOLDER]`: so many nonblocking collectives, or communicators, one
 * after the other, so that the lanes of a job may drift apart. With a folder, each process leaves
 * its id there, under its PMIX_RANK, when a hundredth of it is done: somebody may stop it. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, DEPTH = 8 };

static int rank, size;
static MPI_Comm half, inter, inter_other; /* even and odd ranks; between them */

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("drift: rank %d, line %d: not %s\n", rank, __LINE__, #what);                    \
            fflush(stdout);                                                                        \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                          \
        }                                                                                          \
    } while (0)

static void wait_for(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void check_sum(MPI_Comm c, int i)
{
    MPI_Request request;
    int x = rank + i, sum = -1;
    MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c, &request);
    wait_for(&request);
    CHECK(sum == size * i + size * (size - 1) / 2);
}

static void sums(int i)
{
    check_sum(MPI_COMM_WORLD, i);
}

/* Several in flight, among them a barrier and a broadcast, which is the first to be waited for. */
static void several(int i)
{
    MPI_Request request[DEPTH + 2];
    int x[DEPTH], sum[DEPTH], word = rank == i % size ? i : -1;
    for (int j = 0; j < DEPTH; j++) {
        x[j] = rank + i + j;
        MPI_Iallreduce(&x[j], &sum[j], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[j]);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request[DEPTH]);
    MPI_Ibcast(&word, 1, MPI_INT, i % size, MPI_COMM_WORLD, &request[DEPTH + 1]);
    for (int j = DEPTH + 1; j >= 0; j--)
        wait_for(&request[j]);
    CHECK(word == i);
    for (int j = 0; j < DEPTH; j++)
        CHECK(sum[j] == size * (i + j) + size * (size - 1) / 2);
}

/* As many in flight as there is no window for. */
static void thousands(int i)
{
    enum { MANY = 3000 };
    static MPI_Request request[MANY];
    static int word[MANY];
    for (int j = 0; j < MANY; j++) {
        word[j] = rank == j % size ? i + j : -1;
        MPI_Ibcast(&word[j], 1, MPI_INT, j % size, MPI_COMM_WORLD, &request[j]);
    }
    MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE);
    for (int j = 0; j < MANY; j++)
        CHECK(word[j] == i + j);
}

static void gathers(int i)
{
    MPI_Request request;
    int x = rank + i, all[MOST], counts[MOST], places[MOST], mine = -1, root = i % size;
    for (int j = 0; j < size; j++)
        counts[j] = 1, places[j] = j;
    MPI_Igather(&x, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(rank != root || (all[0] == i && all[size - 1] == i + size - 1));
    MPI_Iscatter(all, 1, MPI_INT, &mine, 1, MPI_INT, root, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(mine == x);
    MPI_Igatherv(&x, 1, MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD, &request);
    wait_for(&request);
    MPI_Iscatterv(all, counts, places, MPI_INT, &mine, 1, MPI_INT, root, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(mine == x);
    MPI_Iallgather(&x, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(all[0] == i && all[size - 1] == i + size - 1);
    MPI_Iallgatherv(&x, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(all[0] == i && all[size - 1] == i + size - 1);
}

static void alltoalls(int i)
{
    MPI_Request request;
    MPI_Datatype types[MOST];
    int out[MOST], in[MOST], counts[MOST], places[MOST], bytes[MOST];
    for (int j = 0; j < size; j++) {
        out[j] = rank * size + j + i;
        counts[j] = 1, places[j] = j, bytes[j] = j * (int)sizeof out[0], types[j] = MPI_INT;
    }
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(in[0] == rank + i && in[size - 1] == (size - 1) * size + rank + i);
    MPI_Ialltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD,
                   &request);
    wait_for(&request);
    CHECK(in[0] == rank + i && in[size - 1] == (size - 1) * size + rank + i);
    MPI_Ialltoallw(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(in[0] == rank + i && in[size - 1] == (size - 1) * size + rank + i);
}

static void reductions(int i)
{
    MPI_Request request;
    int x = rank + i, all[MOST], counts[MOST], sum = -1, total = size * i + size * (size - 1) / 2;
    for (int j = 0; j < size; j++)
        all[j] = x, counts[j] = 1;
    MPI_Ireduce(&x, &sum, 1, MPI_INT, MPI_SUM, i % size, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(rank != i % size || sum == total);
    MPI_Ireduce_scatter(all, &sum, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(sum == total);
    MPI_Ireduce_scatter_block(all, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(sum == total);
    MPI_Iscan(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(sum == (rank + 1) * i + rank * (rank + 1) / 2);
    MPI_Iexscan(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    wait_for(&request);
    CHECK(rank == 0 || sum == rank * i + rank * (rank - 1) / 2);
}

/* Between even and odd ranks. */
static void across(int i)
{
    MPI_Request request;
    int x = rank % 2 + i, others, sum = -1, all[MOST], word = i;
    MPI_Comm_remote_size(inter, &others);
    const int theirs = 1 - rank % 2 + i;
    MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, inter, &request);
    wait_for(&request);
    CHECK(sum == others * theirs);
    MPI_Iallgather(&x, 1, MPI_INT, all, 1, MPI_INT, inter, &request);
    wait_for(&request);
    CHECK(all[0] == theirs && all[others - 1] == theirs);
    MPI_Ibarrier(inter, &request);
    wait_for(&request);
    MPI_Ibcast(&word, 1, MPI_INT,
               rank % 2    ? 0
               : rank == 0 ? MPI_ROOT
                           : MPI_PROC_NULL,
               inter, &request);
    wait_for(&request);
    CHECK(word == i);
}

static void dups(int i)
{
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    if (i % 4 == 0)
        check_sum(c, i);
    MPI_Comm_free(&c);
}

/* Splits, twins of twins, intercommunicators. */
static void communicators(int i)
{
    MPI_Comm c[4];
    MPI_Request request;
    int x = rank, sum = -1, n;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, i % 3 ? rank : -rank, &c[0]);
    MPI_Comm_idup(c[0], &c[1], &request);
    MPI_Comm_dup(inter, &c[2]);
    wait_for(&request);
    MPI_Comm_free(&c[0]);
    MPI_Comm_dup(c[1], &c[0]);
    MPI_Comm_size(c[0], &n);
    MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c[0], &request);
    wait_for(&request);
    CHECK(sum == n * (n - 1) + n * (rank % 2));
    MPI_Comm_idup(inter, &c[3], &request);
    wait_for(&request);
    for (int j = 0; j < 4; j++)
        MPI_Comm_free(&c[j]);
}

/* MPI_Comm_idup waits for nobody: each rank calls it only when the one before it has gone on. */
static void twins(int i)
{
    MPI_Comm twin, own;
    MPI_Request request[2];
    int x = rank % 2 + i, word = -1, others, sum = -1, n;
    if (rank > 0)
        MPI_Recv(&word, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_idup(inter, &twin, &request[0]);
    MPI_Comm_idup(half, &own, &request[1]);
    word += rank == 0 ? i + 1 : 0;
    MPI_Send(&word, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&word, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(word == i);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Comm_remote_size(twin, &others);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, twin);
    CHECK(sum == others * (1 - rank % 2 + i));
    MPI_Comm_size(own, &n);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, own);
    CHECK(sum == n * x);
    const int partner = rank / 2 < others ? rank / 2 : MPI_PROC_NULL;
    MPI_Sendrecv(&rank, 1, MPI_INT, partner, 9, &word, 1, MPI_INT, partner, 9, twin,
                 MPI_STATUS_IGNORE);
    CHECK(partner == MPI_PROC_NULL || word == (rank ^ 1));
    MPI_Comm_free(&twin);
    MPI_Comm_free(&own);
}

/* One that is started again in each round, with others between. */
static void again(int i)
{
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
    static MPI_Request request;
    static int x, sum;
    if (i == 0)
        MPIX_Allreduce_init(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    x = rank + i;
    MPI_Start(&request);
    check_sum(MPI_COMM_WORLD, i);
    wait_for(&request);
    CHECK(sum == size * i + size * (size - 1) / 2);
#else
    (void)i;
#endif
}

static void every(int i)
{
    again(i);
    sums(i);
    several(i);
    gathers(i);
    alltoalls(i);
    reductions(i);
    across(i);
}

static const struct {
    const char *name;
    void (*act)(int);
} whats[] = {{"sums", sums},           {"several", several}, {"every", every},
             {"thousands", thousands}, {"dups", dups},       {"communicators", communicators},
             {"twins", twins}};

static void leave_id(const char *folder)
{
    char path[512];
    const char *process = getenv("PMIX_RANK");
    snprintf(path, sizeof path, "%s/%s", folder, process != NULL ? process : "?");
    FILE *f = fopen(path, "we");
    CHECK(f != NULL);
    fprintf(f, "%d\n", (int)getpid());
    fclose(f);
}

int main(int argc, char **argv)
{
    size_t what = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (argc > 2 && what < sizeof whats / sizeof *whats && strcmp(whats[what].name, argv[1]))
        what++;
    if (argc < 3 || what == sizeof whats / sizeof *whats || size < 2 || size > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int count = atoi(argv[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &inter);
    MPI_Comm_idup(inter, &inter_other, &(MPI_Request){MPI_REQUEST_NULL}); /* never freed */
    for (int i = 0; i < count; i++) {
        if (argc > 3 && i == count / 100)
            leave_id(argv[3]);
        whats[what].act(i);
    }
    if (rank == 0)
        printf("drift: %s %d times, %d ranks, all right\n", argv[1], count, size);
    MPI_Finalize();
    return 0;
}
