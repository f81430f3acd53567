/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c -- what messages cost between two ranks: `make bench-replication` runs it over
 * different message layers. `--copies R`: R pairs, each by itself, at the same time; `--step 1`: a
 * large message is done for all pairs before the next one goes, as it is with replicas. A line a
 * quantity: the best of a few batches, which begin together and last until the last pair is done.
 * Counts are fixed, so that replicas do the same. */
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 15, LARGE = 4 << 20, SIDE = 512, WINDOW = 64 };

static MPI_Comm pair;
static int rank;
static bool in_step;

static void pass(void *p, int length, bool to_me)
{
    if (to_me)
        MPI_Recv(p, length, MPI_BYTE, 1 - rank, 0, pair, MPI_STATUS_IGNORE);
    else
        MPI_Send(p, length, MPI_BYTE, 1 - rank, 0, pair);
    if (in_step && length == LARGE)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void ping(void *p, int length, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        pass(p, length, rank == 1);
        pass(p, length, rank == 0);
    }
}

/* Half a round trip of 8 bytes, us. */
static double latency(int scale)
{
    char word[8] = {0};
    double begin = MPI_Wtime();
    ping(word, sizeof word, 50 * scale);
    return (MPI_Wtime() - begin) * 1e6 / (2 * 50 * scale);
}

/* 4 MiB there and back, MB/s each way. */
static double bandwidth(int scale)
{
    static char large[LARGE];
    double begin = MPI_Wtime();
    ping(large, LARGE, scale);
    return 2.0 * scale * LARGE / 1e6 / (MPI_Wtime() - begin);
}

/* 8-byte messages one way, as fast as they go, in millions a second. */
static double rate(int scale)
{
    static char words[WINDOW][8];
    MPI_Request request[WINDOW];
    double begin = MPI_Wtime();
    for (int i = 0; i < 5 * scale; i++) {
        for (int j = 0; j < WINDOW; j++)
            if (rank == 0)
                MPI_Isend(words[j], 8, MPI_BYTE, 1, 1, pair, &request[j]);
            else
                MPI_Irecv(words[j], 8, MPI_BYTE, 0, 1, pair, &request[j]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
        ping(words[0], 1, 1);
    }
    return 5.0 * scale * WINDOW / 1e6 / (MPI_Wtime() - begin);
}

/* Heat on half a plate each: a row to the other side in each step, the change every tenth. s */
static double stencil(int scale)
{
    static double now[SIDE + 2][SIDE], next[SIDE + 2][SIDE];
    double change = 1, begin = MPI_Wtime();
    for (int i = 0; i < SIDE; i++)
        now[rank == 0 ? 0 : SIDE + 1][i] = 1;
    for (int step = 0; step < 5 * scale; step++) {
        int edge = rank == 0 ? SIDE : 1, ghost = rank == 0 ? SIDE + 1 : 0;
        MPI_Sendrecv(now[edge], SIDE, MPI_DOUBLE, 1 - rank, 2, now[ghost], SIDE, MPI_DOUBLE,
                     1 - rank, 2, pair, MPI_STATUS_IGNORE);
        double own = 0;
        for (int y = 1; y <= SIDE; y++)
            for (int x = 1; x < SIDE - 1; x++) {
                next[y][x] = (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1]) / 4;
                own += (next[y][x] - now[y][x]) * (next[y][x] - now[y][x]);
            }
        memcpy(now[1], next[1], sizeof now[1] * SIDE);
        if (step % 10 == 0)
            MPI_Allreduce(&own, &change, 1, MPI_DOUBLE, MPI_SUM, pair);
    }
    return change < 0 ? 0 : MPI_Wtime() - begin;
}

/* Nothing but collectives. s */
static double collectives(int scale)
{
    static double a[256], b[256];
    double begin = MPI_Wtime();
    for (int i = 0; i < 10 * scale; i++) {
        MPI_Allreduce(a, b, 8, MPI_DOUBLE, MPI_SUM, pair);
        MPI_Bcast(b, 128, MPI_DOUBLE, i % 2, pair);
        MPI_Alltoall(b, 128, MPI_DOUBLE, a, 128, MPI_DOUBLE, pair);
    }
    return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool more; /* is better */
        double (*run)(int scale);
    } quantities[] = {{"latency", false, latency},
                      {"bandwidth", true, bandwidth},
                      {"rate", true, rate},
                      {"stencil", false, stencil},
                      {"collectives", false, collectives}};
    const char *only = NULL;
    bool realtime = false;
    int size, world, copies = 1, scale = 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--copies") == 0)
            copies = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--scale") == 0)
            scale = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
        else if (strcmp(argv[i], "--step") == 0)
            in_step = atoi(argv[i + 1]) != 0;
        else if (strcmp(argv[i], "--realtime") == 0)
            realtime = atoi(argv[i + 1]) != 0;
    if (size != 2 * copies || scale < 1) {
        fprintf(stderr, "exchange: 2 ranks for each copy, please\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_split(MPI_COMM_WORLD, world / 2, world, &pair);
    MPI_Comm_rank(pair, &rank);
    for (size_t q = 0; q < sizeof quantities / sizeof *quantities; q++) {
        double best = 0;
        if (only != NULL && strcmp(only, quantities[q].name) != 0)
            continue;
        MPI_Barrier(MPI_COMM_WORLD);
        if (realtime && sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){1}) != 0)
            perror("exchange: --realtime");
        quantities[q].run(1 + scale / 10); /* connections, pages, caches */
        for (int i = 0; i < BATCHES; i++) {
            double slowest;
            MPI_Barrier(MPI_COMM_WORLD);
            double value = quantities[q].run(scale);
            MPI_Allreduce(&value, &slowest, 1, MPI_DOUBLE, quantities[q].more ? MPI_MIN : MPI_MAX,
                          MPI_COMM_WORLD);
            if (i == 0 || (quantities[q].more ? slowest > best : slowest < best))
                best = slowest;
        }
        sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
        if (world == 0)
            printf("%s %g\n", quantities[q].name, best);
    }
    MPI_Finalize();
    return 0;
}
