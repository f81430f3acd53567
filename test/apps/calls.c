/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c -- every kind of MPI call that a message layer serves, each with a known answer: 4 ranks,
 * ROUNDS times; what takes longer, in calls_*.c, every fifth round. With a second argument:
 * communicators alone, made and freed all the time, and receives from any source. */
#include "calls.h"
#include <stdlib.h>
#include <string.h>

int rank, size, next, before;

static void modes(int round)
{
    int out = rank * 1000 + round, in[4] = {-1, -1, -1, -1};
    static char room[4096];
    MPI_Request r[4];
    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < 4; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, before, i, MPI_COMM_WORLD, &r[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&out, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    MPI_Bsend(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Ssend(&out, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
    MPI_Rsend(&out, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        CHECK(in[i] == before * 1000 + round);
    void *detached;
    int length;
    MPI_Buffer_detach(&detached, &length);
}

static void persistent(int round)
{
    int out = 0, in = 0;
    MPI_Request r[2];
    MPI_Send_init(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(&in, 1, MPI_INT, before, 5, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < 5; i++) {
        int done = 0, total = 0, which[2];
        out = rank + i + round;
        MPI_Startall(2, r);
        while (total < 2) {
            MPI_Testsome(2, r, &done, which, MPI_STATUSES_IGNORE);
            total += done;
        }
        CHECK(in == before + i + round);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void probes(int round)
{
    int out[2] = {rank, round}, in[2], count, flag = 0;
    MPI_Status s;
    MPI_Message m;
    MPI_Request r, never;
    for (int tag = 10; tag < 13; tag++) {
        MPI_Isend(out, 2, MPI_INT, next, tag, MPI_COMM_WORLD, &r);
        MPI_Request_free(&r);
    }
    MPI_Probe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK(s.MPI_SOURCE == before && count == 2);
    MPI_Recv(in, 2, MPI_INT, s.MPI_SOURCE, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Mprobe(before, 11, MPI_COMM_WORLD, &m, &s);
    MPI_Mrecv(in, 2, MPI_INT, &m, &s);
    CHECK(in[0] == before && in[1] == round);
    while (!flag)
        MPI_Improbe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &flag, &m, &s);
    MPI_Imrecv(in, 2, MPI_INT, &m, &r);
    MPI_Wait(&r, &s);
    CHECK(s.MPI_SOURCE == before && in[1] == round);
    MPI_Irecv(in, 2, MPI_INT, before, 99, MPI_COMM_WORLD, &never);
    MPI_Cancel(&never);
    MPI_Wait(&never, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag);
}

static void types(int round)
{
    struct pair {
        char c;
        double d;
        int i;
    } out[700], in[700];
    int blocks[3] = {1, 1, 1};
    MPI_Aint at[3] = {0, (char *)&out[0].d - (char *)out, (char *)&out[0].i - (char *)out};
    MPI_Datatype kinds[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, raw, type, column;
    MPI_Type_create_struct(3, blocks, at, kinds, &raw);
    MPI_Type_create_resized(raw, 0, sizeof *out, &type);
    MPI_Type_commit(&type);
    memset(in, 0, sizeof in);
    for (int count = 7; count <= 700; count *= 10) { /* the last goes by rendezvous */
        for (int i = 0; i < count; i++)
            out[i] = (struct pair){(char)i, rank + i / 8., round + i};
        MPI_Sendrecv(out, count, type, next, 20, in, count, type, before, 20, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++)
            CHECK(in[i].c == (char)i && in[i].d == before + i / 8. && in[i].i == round + i);
    }
    static double grid[300][300], got[300];
    MPI_Type_vector(300, 1, 300, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < 300; i++)
        grid[i][1] = rank * 1e3 + i;
    MPI_Sendrecv(&grid[0][1], 1, column, next, 21, got, 300, MPI_DOUBLE, before, 21, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 300; i++)
        CHECK(got[i] == before * 1e3 + i);
    MPI_Type_free(&raw);
    MPI_Type_free(&type);
    MPI_Type_free(&column);
}

static void large(int round)
{
    enum { MANY = 3 << 20 };
    static unsigned char out[MANY], in[MANY];
    MPI_Request r[2];
    memset(out, rank + round, MANY);
    MPI_Irecv(in, MANY, MPI_BYTE, before, 30, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, MANY, MPI_BYTE, next, 30, MPI_COMM_WORLD, &r[1]);
    int which;
    MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
    MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
    CHECK(in[0] == (unsigned char)(before + round) && in[MANY - 1] == in[0]);
}

static void collectives(int round)
{
    int sum = 0, all[4], swapped[4], own[4], flag = 0, root = round % size, given;
    MPI_Request r[4];
    for (int i = 0; i < size; i++)
        own[i] = rank * 10 + i;
    given = rank == root ? round : -1;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Ibcast(&given, 1, MPI_INT, root, MPI_COMM_WORLD, &r[1]);
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &r[2]);
    MPI_Ialltoall(own, 1, MPI_INT, swapped, 1, MPI_INT, MPI_COMM_WORLD, &r[3]);
    while (!flag)
        MPI_Testall(4, r, &flag, MPI_STATUSES_IGNORE);
    CHECK(sum == size * (size - 1) / 2 && given == round);
    for (int i = 0; i < size; i++)
        CHECK(all[i] == i && swapped[i] == i * 10 + rank);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == rank * (rank + 1) / 2);
}

static void communicators(int round)
{
    MPI_Comm half, between, whole, circle, twin;
    int n, me, sum, dims[1] = {size}, wraps[1] = {1}, left, right, seen[2];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    CHECK(sum == (rank % 2 ? 4 : 2));
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 2 : 3, 40, &between);
    MPI_Intercomm_merge(between, rank % 2, &whole);
    MPI_Comm_size(whole, &n);
    CHECK(n == size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, wraps, 0, &circle);
    MPI_Cart_shift(circle, 0, 1, &left, &right);
    me = rank + round;
    MPI_Neighbor_allgather(&me, 1, MPI_INT, seen, 1, MPI_INT, circle);
    CHECK(seen[0] == left + round && seen[1] == right + round);
    MPI_Comm_dup(circle, &twin);
    MPI_Barrier(twin);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&circle);
    MPI_Comm_free(&whole);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* A master takes what comes first; each worker ends with what the master told it last. */
static void wildcards(int round)
{
    unsigned long hash = 14695981039346656037ul, x = (unsigned long)(rank + round), told[4], all[4];
    if (rank == 0) {
        for (int i = 0; i < 20 * (size - 1); i++) {
            MPI_Status s;
            MPI_Recv(&x, 1, MPI_UNSIGNED_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
            hash = (hash ^ (x + (unsigned long)s.MPI_SOURCE)) * 1099511628211ul;
            told[s.MPI_SOURCE] = hash;
            MPI_Send(&hash, 1, MPI_UNSIGNED_LONG, s.MPI_SOURCE, 51, MPI_COMM_WORLD);
        }
    } else {
        for (int i = 0; i < 20; i++) {
            MPI_Send(&x, 1, MPI_UNSIGNED_LONG, 0, 50 + i % 2, MPI_COMM_WORLD);
            MPI_Recv(&x, 1, MPI_UNSIGNED_LONG, 0, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Gather(&x, 1, MPI_UNSIGNED_LONG, all, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++)
        CHECK(all[i] == told[i]);
}

static void everything(int round)
{
    modes(round);
    persistent(round);
    probes(round);
    types(round);
    large(round);
    collectives(round);
    communicators(round);
    wildcards(round);
    if (round % 5 == 0) {
        messages_all(round);
        collectives_all(round);
        communicators_all(round);
    }
}

static void founding(int round)
{
    communicators(round);
    communicators_all(round);
    wildcards(round);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 4);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    for (int i = 0; i < rounds; i++)
        if (argc > 2)
            founding(i);
        else
            everything(i);
    if (rank == 0)
        printf("calls: %d ranks, %d rounds, all right\n", size, rounds);
    MPI_Finalize();
    return 0;
}
