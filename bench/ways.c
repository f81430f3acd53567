/* SPDX-License-Identifier: BSD-3-Clause */
/* ways.c -- the ways in which programs talk, one at a time, for bench/patterns.
 *
 *     mpirun -n 4 ways WAY [ROUNDS [BYTES]]
 *
 * pipeline   a wave of 8 bytes runs through the ranks, as in LU's sweeps
 * halo       a strip of a grid each: 8 KiB to both neighbours, a stencil, and a dot product of all
 * exchange   48 KiB to each other rank, and work on what came, as particles that change their cell
 * transpose  2 MiB to each other rank at once
 * search     64 bytes to whoever has a vertex, received from any source: a graph's front
 * reduce     a sum of 1 MiB over all
 * stream     BYTES from each even rank to the next one, 64 under way; whoever: received from any
 * source start      nothing
 * meet       rounds of search by processes that have yet to meet: the first, and thirty
 *
 * Each checks what it receives. What it sent is printed by rank 0, of all ranks: lines
 * `sent BYTES MESSAGES` or, of those that were received from any source, `any BYTES MESSAGES`. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS = 4, SIZES = 8, WINDOW = 64, TAG = 1, END = 2, MOST = 4 * 1024 * 1024 };
static int rank;
static struct {
    int bytes, any;
    long messages;
} sent[SIZES];
static unsigned char *out[RANKS], *in[RANKS];

static void count(int bytes, int any, long messages)
{
    int i = 0;
    while (i < SIZES - 1 && sent[i].messages && (sent[i].bytes != bytes || sent[i].any != any))
        i++;
    sent[i].bytes = bytes;
    sent[i].any = any;
    sent[i].messages += messages;
}

static void wrong(const char *what, long round)
{
    fprintf(stderr, "ways: rank %d: %s is wrong in round %ld\n", rank, what, round);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Something that takes the processor as long as the compiler cannot leave it out. */
static double work(double *cell, int cells)
{
    double sum = 0;
    for (int i = 1; i < cells - 1; i++) {
        cell[i] = 0.5 * cell[i] + 0.25 * (cell[i - 1] + cell[i + 1]);
        sum += cell[i];
    }
    return sum;
}

/* The sum of all ranks' vectors, in each: the other of a pair, then of the pair beyond. */
static void add_all(double *value, double *other, int n)
{
    const int bytes = n * (int)sizeof *value;
    for (int bit = 1; bit < RANKS; bit *= 2) {
        MPI_Sendrecv(value, bytes, MPI_BYTE, rank ^ bit, TAG, other, bytes, MPI_BYTE, rank ^ bit,
                     TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        count(bytes, 0, 1);
        for (int i = 0; i < n; i++)
            value[i] += other[i];
    }
}

static void pipeline(long rounds)
{
    static double cell[512];
    for (long i = 0; i < rounds; i++) {
        int64_t wave = 3 * i;
        if (rank > 0)
            MPI_Recv(&wave, sizeof wave, MPI_BYTE, rank - 1, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (wave != 3 * i + rank)
            wrong("the wave", i);
        work(cell, 512);
        wave++;
        if (rank < RANKS - 1) {
            MPI_Send(&wave, sizeof wave, MPI_BYTE, rank + 1, TAG, MPI_COMM_WORLD);
            count(sizeof wave, 0, 1);
        }
    }
}

static void halo(long rounds)
{
    enum { ROW = 1024, ROWS = 64, BYTES = ROW * sizeof(double) };
    static double grid[ROWS + 2][ROW];
    const int up = rank ? rank - 1 : MPI_PROC_NULL,
              down = rank < RANKS - 1 ? rank + 1 : MPI_PROC_NULL;
    for (long i = 0; i < rounds; i++) {
        grid[1][0] = grid[ROWS][0] = (double)(rank + i);
        MPI_Sendrecv(grid[1], BYTES, MPI_BYTE, up, TAG, grid[ROWS + 1], BYTES, MPI_BYTE, down, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(grid[ROWS], BYTES, MPI_BYTE, down, TAG, grid[0], BYTES, MPI_BYTE, up, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        count(BYTES, 0, (up != MPI_PROC_NULL) + (down != MPI_PROC_NULL));
        if ((rank && grid[0][0] != (double)(rank - 1 + i)) ||
            (rank < RANKS - 1 && grid[ROWS + 1][0] != (double)(rank + 1 + i)))
            wrong("a neighbour's row", i);
        double sum[2] = {1, 0}, other[2];
        for (int row = 1; row <= ROWS; row++)
            sum[1] += work(grid[row], ROW);
        add_all(sum, other, 2);
        if (sum[0] != RANKS)
            wrong("a sum", i);
    }
}

static void all_to_all(long rounds, int bytes, int cells)
{
    static double cell[65536];
    MPI_Request request[2 * RANKS];
    for (long i = 0; i < rounds; i++) {
        int n = 0;
        for (int other = 0; other < RANKS; other++)
            if (other != rank)
                MPI_Irecv(in[other], bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &request[n++]);
        for (int other = 0; other < RANKS; other++) {
            if (other == rank)
                continue;
            out[other][0] = out[other][bytes - 1] = (unsigned char)(i + 7 * rank + other);
            MPI_Isend(out[other], bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &request[n++]);
            count(bytes, 0, 1);
        }
        work(cell, cells);
        MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
        for (int other = 0; other < RANKS; other++)
            if (other != rank && (in[other][0] != (unsigned char)(i + 7 * other + rank) ||
                                  in[other][bytes - 1] != in[other][0]))
                wrong("a block", i);
    }
}

/* Each round is a level of the search: messages to whoever has the vertex, then an end to each. */
static void search(long rounds)
{
    enum { FRONT = 400, BYTES = 64 };
    int64_t vertex[BYTES / 8] = {0}, got[BYTES / 8];
    uint32_t draw = 12345U + (uint32_t)rank;
    for (long i = 0; i < rounds; i++) {
        int64_t told[RANKS] = {0}, had[RANKS] = {0}, claimed[RANKS] = {0};
        for (int k = 0; k < FRONT; k++) {
            draw = draw * 1664525U + 1013904223U;
            const int owner = (int)(draw >> 24) % RANKS;
            if (owner == rank)
                continue;
            vertex[0] = i;
            MPI_Send(vertex, BYTES, MPI_BYTE, owner, TAG, MPI_COMM_WORLD);
            told[owner]++;
            count(BYTES, 1, 1);
        }
        for (int other = 0; other < RANKS; other++) {
            vertex[0] = told[other];
            if (other != rank)
                MPI_Send(vertex, BYTES, MPI_BYTE, other, END, MPI_COMM_WORLD);
        }
        count(BYTES, 1, RANKS - 1);
        for (int ends = 0; ends < RANKS - 1;) {
            MPI_Status status;
            MPI_Recv(got, BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == END) {
                claimed[status.MPI_SOURCE] = got[0];
                ends++;
            } else if (got[0] == i) {
                had[status.MPI_SOURCE]++;
            } else {
                wrong("a vertex", i);
            }
        }
        for (int other = 0; other < RANKS; other++)
            if (had[other] != claimed[other])
                wrong("how many came", i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void reduce(long rounds)
{
    enum { N = 131072 };
    static double value[N], other[N];
    for (long i = 0; i < rounds; i++) {
        for (int k = 0; k < N; k++)
            value[k] = rank + k;
        add_all(value, other, N);
        if (value[0] != 6 || value[N - 1] != 6 + RANKS * (N - 1.0))
            wrong("the sum", i);
    }
}

static void stream(long rounds, int bytes, int any)
{
    MPI_Request request[WINDOW];
    char turn = 0;
    for (long i = 0; i < rounds; i++) {
        if (rank % 2) {
            for (int k = 0; k < WINDOW; k++)
                MPI_Irecv(in[0], bytes, MPI_BYTE, any ? MPI_ANY_SOURCE : rank - 1, TAG,
                          MPI_COMM_WORLD, &request[k]);
            MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
            MPI_Send(&turn, 1, MPI_BYTE, rank - 1, END, MPI_COMM_WORLD);
        } else {
            for (int k = 0; k < WINDOW; k++)
                MPI_Isend(out[0], bytes, MPI_BYTE, rank + 1, TAG, MPI_COMM_WORLD, &request[k]);
            MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
            MPI_Recv(&turn, 1, MPI_BYTE, rank + 1, END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            count(bytes, any, WINDOW);
        }
    }
}

static long now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (long)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int start(int *argc, char ***argv, long begin)
{
    MPI_Init(argc, argv);
    const long init = now_us();
    MPI_Barrier(MPI_COMM_WORLD);
    const long last = now_us();
    MPI_Finalize();
    printf("at %ld %ld %ld %ld\n", begin, init, last, now_us());
    return 0;
}

static void meet(void)
{
    const long begin = now_us();
    search(1);
    const long first = now_us();
    search(29);
    printf("met %ld %ld\n", first - begin, now_us() - begin);
}

static void print_counts(void)
{
    for (int i = 0; i < SIZES; i++) {
        long all, most;
        const long key = sent[i].messages ? (long)sent[i].bytes * 2 + sent[i].any : 0;
        MPI_Allreduce(&key, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        if (key && key != most)
            wrong("the order of counts", i);
        MPI_Reduce(&sent[i].messages, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0 && all)
            printf("%s %ld %ld\n", most % 2 ? "any" : "sent", most / 2, all);
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    const long rounds = argc > 2 ? atol(argv[2]) : 1;
    const int bytes = argc > 3 ? atoi(argv[3]) : 8;
    int ranks;
    if (strcmp(way, "start") == 0)
        return start(&argc, &argv, now_us());
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != RANKS || rounds < 1 || bytes < 1 || bytes > MOST)
        wrong("the number of ranks, rounds or bytes", 0);
    for (int i = 0; i < RANKS; i++) {
        out[i] = calloc(MOST, 1);
        in[i] = calloc(MOST, 1);
        if (!out[i] || !in[i])
            wrong("the memory", 0);
    }
    if (strcmp(way, "pipeline") == 0)
        pipeline(rounds);
    else if (strcmp(way, "halo") == 0)
        halo(rounds);
    else if (strcmp(way, "exchange") == 0)
        all_to_all(rounds, 48 * 1024, 65536);
    else if (strcmp(way, "transpose") == 0)
        all_to_all(rounds, 2 * 1024 * 1024, 3);
    else if (strcmp(way, "search") == 0)
        search(rounds);
    else if (strcmp(way, "meet") == 0)
        meet();
    else if (strcmp(way, "reduce") == 0)
        reduce(rounds);
    else if (strcmp(way, "stream") == 0 || strcmp(way, "whoever") == 0)
        stream(rounds, bytes, way[0] == 'w');
    else
        wrong("the name of the way", 0);
    print_counts();
    MPI_Finalize();
    return 0;
}
