/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_messages.c -- what calls.c leaves out of messages between two: all modes as persistent
 * requests, all ways to complete, cancel and truncation, types of all kinds, large counts; 4 ranks.
 */
#include "calls.h"
#include <stdlib.h>
#include <string.h>

#define W MPI_COMM_WORLD

static void modes(int round)
{
    enum { MODES = 4 };
    int out[MODES], in[MODES], flag, index;
    static char room[4096];
    MPI_Request to[MODES], from[MODES];
    MPI_Buffer_attach(room, sizeof room);
    MPI_Send_init(&out[0], 1, MPI_INT, next, 70, W, &to[0]);
    MPI_Bsend_init(&out[1], 1, MPI_INT, next, 71, W, &to[1]);
    MPI_Ssend_init(&out[2], 1, MPI_INT, next, 72, W, &to[2]);
    MPI_Rsend_init(&out[3], 1, MPI_INT, next, 73, W, &to[3]);
    for (int i = 0; i < MODES; i++)
        MPI_Recv_init(&in[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : before, 70 + i, W, &from[i]);
    for (int again = 0; again < 3; again++) {
        for (int i = 0; i < MODES; i++)
            out[i] = rank * 100 + i + again + round;
        MPI_Startall(MODES, from);
        MPI_Barrier(W); /* for the ready one */
        for (int i = 0; i < MODES; i++)
            MPI_Start(&to[i]);
        for (int done = 0; done < MODES; done += flag)
            MPI_Testany(MODES, from, &index, &flag, MPI_STATUS_IGNORE);
        for (flag = 0; !flag;)
            MPI_Testall(MODES, to, &flag, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MODES; i++)
            CHECK(in[i] == before * 100 + i + again + round);
    }
    for (int i = 0; i < MODES; i++) {
        MPI_Request_free(&to[i]);
        MPI_Request_free(&from[i]);
    }
    void *detached;
    MPI_Buffer_detach(&detached, &index);
    /* and once each, not persistent */
    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < MODES; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, before, 74 + i, W, &from[i]);
    MPI_Barrier(W);
    MPI_Isend(&out[0], 1, MPI_INT, next, 74, W, &to[0]);
    MPI_Ibsend(&out[1], 1, MPI_INT, next, 75, W, &to[1]);
    MPI_Issend(&out[2], 1, MPI_INT, next, 76, W, &to[2]);
    MPI_Irsend(&out[3], 1, MPI_INT, next, 77, W, &to[3]);
    for (int done = 0, some[MODES], n; done < MODES; done += n)
        MPI_Waitsome(MODES, from, &n, some, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MODES; i++) {
        MPI_Wait(&to[i], MPI_STATUS_IGNORE);
        CHECK(in[i] == before * 100 + i + 2 + round);
    }
    MPI_Buffer_detach(&detached, &index);
}

static void odd_cases(int round)
{
    int x = rank + round, in[2] = {-1, -1}, flag, n;
    MPI_Request r;
    MPI_Status s;
    /* to oneself, to nobody, nothing at all */
    MPI_Irecv(in, 1, MPI_INT, rank, 80, W, &r);
    MPI_Send(&x, 1, MPI_INT, rank, 80, W);
    MPI_Wait(&r, &s);
    CHECK(in[0] == x && s.MPI_SOURCE == rank);
    MPI_Sendrecv(&x, 1, MPI_INT, MPI_PROC_NULL, 80, in, 2, MPI_INT, MPI_PROC_NULL, 80, W, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL && n == 0);
    MPI_Sendrecv(NULL, 0, MPI_INT, next, 81, NULL, 0, MPI_INT, before, 81, W, &s);
    CHECK(s.MPI_TAG == 81);
    in[0] = x;
    MPI_Sendrecv_replace(in, 1, MPI_INT, next, 82, before, 82, W, &s);
    CHECK(in[0] == before + round);
    /* more than fits: an error, if errors return */
    MPI_Errhandler old;
    int two[2] = {x, x + 1};
    MPI_Comm_get_errhandler(W, &old);
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    MPI_Irecv(in, 1, MPI_INT, before, 83, W, &r);
    MPI_Send(two, 2, MPI_INT, next, 83, W);
    CHECK(MPI_Wait(&r, &s) == MPI_ERR_TRUNCATE);
    MPI_Comm_set_errhandler(W, old);
    MPI_Errhandler_free(&old);
    /* a cancelled receive takes nothing, one that is too late takes its message */
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(in, 1, MPI_INT, i == 0 ? MPI_ANY_SOURCE : before, 84, W, &r);
        MPI_Cancel(&r);
        MPI_Wait(&r, &s);
        MPI_Test_cancelled(&s, &flag);
        CHECK(flag);
    }
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 85, W, &r);
    MPI_Send(&x, 1, MPI_INT, next, 85, W);
    MPI_Barrier(W);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    if (flag)
        MPI_Recv(&in[1], 1, MPI_INT, before, 85, W, &s);
    CHECK(in[1] == before + round);
    /* looked at without being completed */
    MPI_Irecv(in, 1, MPI_INT, before, 86, W, &r);
    MPI_Send(&x, 1, MPI_INT, next, 86, W);
    for (flag = 0; !flag;)
        MPI_Request_get_status(r, &flag, &s);
    CHECK(s.MPI_SOURCE == before && in[0] == before + round);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void send_and_check(const void *out, MPI_Datatype sent, void *in, int count,
                           MPI_Datatype got, int tag)
{
    MPI_Status s;
    int n;
    MPI_Sendrecv(out, 1, sent, next, tag, in, count, got, before, tag, W, &s);
    MPI_Get_elements(&s, got, &n);
    CHECK(n > 0);
}

static void types(int round)
{
    enum { SIDE = 60 };
    static int square[SIDE][SIDE], flat[SIDE * SIDE];
    int lengths[3] = {3, 1, 2}, places[3] = {0, 10, 20}, n, place = 0;
    int whole[2] = {SIDE, SIDE}, part[2] = {20, 30}, from[2] = {5, 7};
    MPI_Aint bytes[3] = {0, 40, 80}, lower, extent;
    MPI_Datatype t, u;
    char packed[1000];
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++)
            square[i][k] = (rank * SIDE + i) * SIDE + k + round;
    const int other = before * SIDE * SIDE + round;
    MPI_Type_contiguous(SIDE, MPI_INT, &t);
    MPI_Type_commit(&t);
    send_and_check(square, t, flat, SIDE, MPI_INT, 90);
    CHECK(flat[SIDE - 1] == other + SIDE - 1);
    MPI_Type_free(&t);
    MPI_Type_indexed(3, lengths, places, MPI_INT, &t);
    MPI_Type_commit(&t);
    send_and_check(square, t, flat, 6, MPI_INT, 91);
    CHECK(flat[2] == other + 2 && flat[3] == other + 10 && flat[5] == other + 21);
    MPI_Type_free(&t);
    MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &t);
    MPI_Type_dup(t, &u);
    MPI_Type_commit(&u);
    send_and_check(square, u, flat, 6, MPI_INT, 92);
    CHECK(flat[4] == other + 20);
    MPI_Type_free(&t);
    MPI_Type_free(&u);
    MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &t);
    MPI_Type_commit(&t);
    send_and_check(square, t, flat, 6, MPI_INT, 93);
    CHECK(flat[2] == other + 10 && flat[3] == other + 11);
    MPI_Type_free(&t);
    MPI_Type_create_hvector(SIDE, 2, SIDE * (MPI_Aint)sizeof(int), MPI_INT, &t);
    MPI_Type_commit(&t);
    send_and_check(square, t, flat, 2 * SIDE, MPI_INT, 94);
    CHECK(flat[2 * SIDE - 1] == other + (SIDE - 1) * SIDE + 1);
    MPI_Type_free(&t);
    MPI_Type_create_subarray(2, whole, part, from, MPI_ORDER_C, MPI_INT, &t);
    MPI_Type_commit(&t);
    send_and_check(square, t, flat, 600, MPI_INT, 95);
    CHECK(flat[0] == other + 5 * SIDE + 7 && flat[599] == other + 24 * SIDE + 36);
    MPI_Type_get_extent(t, &lower, &extent);
    CHECK(extent == (MPI_Aint)sizeof square);
    MPI_Type_free(&t);
    MPI_Pack(square[1], 100, MPI_INT, packed, sizeof packed, &place, W);
    MPI_Sendrecv_replace(packed, place, MPI_PACKED, next, 96, before, 96, W, MPI_STATUS_IGNORE);
    n = place;
    place = 0;
    MPI_Unpack(packed, n, &place, flat, 100, MPI_INT, W);
    CHECK(flat[99] == other + SIDE + 99);
}

/* By rendezvous in many pieces, counted as the bytes that they are. */
static void large(int round)
{
    enum { MEGA = 1 << 20, COUNT = 24 };
    char *out = malloc((size_t)COUNT * MEGA), *in = malloc((size_t)COUNT * MEGA);
    MPI_Datatype mega;
    MPI_Status s;
    MPI_Count n;
    MPI_Type_contiguous(MEGA, MPI_CHAR, &mega);
    MPI_Type_commit(&mega);
    for (int i = 0; i < COUNT; i++)
        memset(out + (size_t)i * MEGA, rank + i + round, MEGA);
    MPI_Sendrecv(out, COUNT, mega, next, 97, in, COUNT, mega, before, 97, W, &s);
    MPI_Get_elements_x(&s, mega, &n);
    CHECK(n == (MPI_Count)COUNT * MEGA);
    for (int i = 0; i < COUNT; i++)
        CHECK(in[(size_t)i * MEGA] == (char)(before + i + round) &&
              in[(size_t)(i + 1) * MEGA - 1] == (char)(before + i + round));
    MPI_Type_free(&mega);
    free(out);
    free(in);
}

void messages_all(int round)
{
    modes(round);
    odd_cases(round);
    types(round);
    if (round == 0)
        large(round);
}
