/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_of_mpi.c -- what single calls of MPI take, in the ways in which programs combine them; run
 * by bench/calls.
 *
 *     calls_of_mpi [PART]     those with this part in their names; all of them
 *
 * Four ranks, or another even number. Rank 0 prints a line for each: `call NAME MICROSECONDS`, of
 * one time round. None computes, except in test_beside_, so what is seen is the price
 * of the calls alone. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 64, MIDDLE = 20 * 1000, LARGE = 300 * 1000 }; /* bytes */
enum { DOUBLES = 1024 * 1024, TAG = 1, MANY = 16, FEW_TIMES = 20 };
static int rank, size, next, before;
static int bytes; /* of a message, where a call is measured with several sizes */
static double out[DOUBLES], in[DOUBLES];
static char *const chars_out = (char *)out, *const chars_in = (char *)in;
static const MPI_Comm all = MPI_COMM_WORLD;
#define NO_STATUS MPI_STATUS_IGNORE
#define NO_STATUSES MPI_STATUSES_IGNORE

/* ---- two at a time, or in a ring ---- */

static void pass_on(void)
{
    MPI_Sendrecv(out, bytes, MPI_CHAR, next, TAG, in, bytes, MPI_CHAR, before, TAG, all, NO_STATUS);
}

static void sendrecv(int times)
{
    while (times-- > 0)
        pass_on();
}

static void sendrecv_replace(int times)
{
    while (times-- > 0)
        MPI_Sendrecv_replace(in, LARGE, MPI_CHAR, next, TAG, before, TAG, all, NO_STATUS);
}

static void to_self(int times)
{
    while (times-- > 0)
        MPI_Sendrecv(out, SMALL, MPI_CHAR, rank, TAG, in, SMALL, MPI_CHAR, rank, TAG, all,
                     NO_STATUS);
}

static void synchronous(int times)
{
    while (times-- > 0)
        if (rank % 2 == 0)
            MPI_Ssend(out, SMALL, MPI_CHAR, rank + 1, TAG, all);
        else
            MPI_Recv(in, SMALL, MPI_CHAR, rank - 1, TAG, all, NO_STATUS);
}

/* Thousands under way at once; the receivers take one after the other. */
static void synchronous_many(int times)
{
    enum { MOST = 10000 };
    static MPI_Request r[MOST];
    for (int left = times, n; left > 0; left -= n) {
        n = left < MOST ? left : MOST;
        for (int i = 0; i < n; i++)
            if (rank % 2 == 0)
                MPI_Issend(out, SMALL, MPI_CHAR, rank + 1, TAG, all, &r[i]);
            else
                MPI_Recv(in, SMALL, MPI_CHAR, rank - 1, TAG, all, NO_STATUS);
        if (rank % 2 == 0)
            MPI_Waitall(n, r, NO_STATUSES);
    }
}

/* As halos are exchanged by DUNE. */
static void synchronous_halo(int times)
{
    enum { HALO = 1024 };
    MPI_Request receives[2], sends[2];
    int which;
    while (times-- > 0) {
        MPI_Irecv(chars_in, HALO, MPI_CHAR, before, TAG, all, &receives[0]);
        MPI_Irecv(chars_in + HALO, HALO, MPI_CHAR, next, TAG, all, &receives[1]);
        MPI_Issend(out, HALO, MPI_CHAR, before, TAG, all, &sends[0]);
        MPI_Issend(out, HALO, MPI_CHAR, next, TAG, all, &sends[1]);
        for (int i = 0; i < 2; i++)
            MPI_Waitany(2, receives, &which, NO_STATUS);
        MPI_Waitall(2, sends, NO_STATUSES);
    }
}

static void buffered(int times)
{
    static char space[1024 * 1024];
    void *at;
    int room;
    MPI_Buffer_attach(space, sizeof space);
    while (times-- > 0) {
        MPI_Bsend(out, 1024, MPI_CHAR, next, TAG, all);
        MPI_Recv(in, 1024, MPI_CHAR, before, TAG, all, NO_STATUS);
    }
    MPI_Buffer_detach(&at, &room);
}

static void one_way(int times)
{
    while (times-- > 0)
        if (rank == 0)
            MPI_Send(out, SMALL, MPI_CHAR, 1, TAG, all);
        else if (rank == 1)
            MPI_Recv(in, SMALL, MPI_CHAR, 0, TAG, all, NO_STATUS);
}

static void freed_requests(int times)
{
    MPI_Request r;
    while (times-- > 0) {
        MPI_Isend(out, SMALL, MPI_CHAR, next, TAG, all, &r);
        MPI_Request_free(&r);
        MPI_Recv(in, SMALL, MPI_CHAR, before, TAG, all, NO_STATUS);
    }
}

static void persistent(int times)
{
    MPI_Request r[2];
    MPI_Send_init(out, 2048, MPI_CHAR, next, TAG, all, &r[0]);
    MPI_Recv_init(in, 2048, MPI_CHAR, before, TAG, all, &r[1]);
    while (times-- > 0) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, NO_STATUSES);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void cancelled(int times)
{
    MPI_Request r;
    while (times-- > 0) {
        MPI_Irecv(in, 1, MPI_CHAR, next, TAG + 1, all, &r);
        MPI_Cancel(&r);
        MPI_Wait(&r, NO_STATUS);
    }
}

/* ---- requests, completed in all the ways that there are ---- */

static int exchange(MPI_Request *r)
{
    int n = 0;
    for (int i = 1; i < size; i++)
        MPI_Irecv(chars_in + (size_t)i * LARGE, bytes, MPI_CHAR, (rank + i) % size, TAG, all,
                  &r[n++]);
    for (int i = 1; i < size; i++)
        MPI_Isend(out, bytes, MPI_CHAR, (rank + i) % size, TAG, all, &r[n++]);
    return n;
}

static void wait_all(int times)
{
    MPI_Request r[2 * MANY];
    while (times-- > 0)
        MPI_Waitall(exchange(r), r, NO_STATUSES);
}

static void wait_any(int times)
{
    MPI_Request r[2 * MANY];
    while (times-- > 0) {
        const int n = exchange(r);
        for (int done = 0, which; done < n; done++)
            MPI_Waitany(n, r, &which, NO_STATUS);
    }
}

static void wait_some(int times)
{
    MPI_Request r[2 * MANY];
    while (times-- > 0) {
        const int n = exchange(r);
        for (int done = 0, some, which[2 * MANY]; done < n; done += some)
            MPI_Waitsome(n, r, &some, which, NO_STATUSES);
    }
}

static void test_all(int times)
{
    MPI_Request r[2 * MANY];
    while (times-- > 0) {
        const int n = exchange(r);
        for (int done = 0; !done;)
            MPI_Testall(n, r, &done, NO_STATUSES);
    }
}

static void test_any(int times)
{
    MPI_Request r[2 * MANY];
    while (times-- > 0) {
        const int n = exchange(r);
        for (int done = 0, one, which; done < n; done += one && which != MPI_UNDEFINED)
            MPI_Testany(n, r, &which, &one, NO_STATUS);
    }
}

/* In the reverse of the order in which they come. */
static void out_of_order(int times)
{
    MPI_Request r[2 * MANY];
    while (times-- > 0) {
        for (int i = 0; i < MANY; i++)
            MPI_Isend(chars_out + (size_t)i * MIDDLE, bytes, MPI_CHAR, next, i, all, &r[i]);
        for (int i = MANY - 1; i >= 0; i--)
            MPI_Recv(in, bytes, MPI_CHAR, before, i, all, NO_STATUS);
        MPI_Waitall(MANY, r, NO_STATUSES);
    }
}

/* ---- from any source ---- */

static void from_any_source(int times)
{
    while (times-- > 0) {
        for (int i = 1; i < size; i++)
            MPI_Send(out, SMALL, MPI_CHAR, (rank + i) % size, TAG, all);
        for (int i = 1; i < size; i++)
            MPI_Recv(in, SMALL, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, all, NO_STATUS);
        MPI_Barrier(all);
    }
}

static void any_source_ring(int times)
{
    MPI_Request r;
    while (times-- > 0) {
        MPI_Irecv(in, bytes, MPI_CHAR, MPI_ANY_SOURCE, TAG, all, &r);
        MPI_Send(out, bytes, MPI_CHAR, next, TAG, all);
        MPI_Wait(&r, NO_STATUS);
    }
}

static void probed(int times, int blocks)
{
    MPI_Request r;
    while (times-- > 0) {
        MPI_Status s;
        MPI_Isend(out, bytes, MPI_CHAR, next, TAG, all, &r);
        if (blocks)
            MPI_Probe(MPI_ANY_SOURCE, TAG, all, &s);
        for (int found = blocks; !found;)
            MPI_Iprobe(MPI_ANY_SOURCE, TAG, all, &found, &s);
        MPI_Recv(in, bytes, MPI_CHAR, s.MPI_SOURCE, TAG, all, NO_STATUS);
        MPI_Wait(&r, NO_STATUS);
    }
}

static void probe(int times)
{
    probed(times, 1);
}

static void iprobe(int times)
{
    probed(times, 0);
}

static void matched_probe(int times)
{
    MPI_Message m;
    while (times-- > 0) {
        MPI_Send(out, SMALL, MPI_CHAR, next, TAG, all);
        MPI_Mprobe(MPI_ANY_SOURCE, TAG, all, &m, NO_STATUS);
        MPI_Mrecv(in, SMALL, MPI_CHAR, &m, NO_STATUS);
    }
}

static void farm(int times)
{
    MPI_Status s;
    if (rank == 0) {
        for (int left = size - 1, given = 0; left > 0; given++) {
            MPI_Recv(in, bytes, MPI_CHAR, MPI_ANY_SOURCE, TAG, all, &s);
            MPI_Send(out, given < times ? bytes : 0, MPI_CHAR, s.MPI_SOURCE, TAG, all);
            left -= given >= times;
        }
        return;
    }
    for (int got = 1; got > 0;) {
        MPI_Send(out, bytes, MPI_CHAR, 0, TAG, all);
        MPI_Recv(in, bytes, MPI_CHAR, 0, TAG, all, &s);
        MPI_Get_count(&s, MPI_CHAR, &got);
    }
}

/* ---- what does not lie in one piece ---- */

static void columns(int times, int rows, int width)
{
    MPI_Datatype column;
    MPI_Type_vector(rows, width, 2 * width, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    while (times-- > 0)
        MPI_Sendrecv(out, 1, column, next, TAG, in, 1, column, before, TAG, all, NO_STATUS);
    MPI_Type_free(&column);
}

static void vector_small(int times)
{
    columns(times, 256, 16);
}

static void vector_large(int times)
{
    columns(times, 2048, 32);
}

static void packed(int times)
{
    char room[8192];
    while (times-- > 0) {
        int end = 0, at = 0;
        MPI_Pack(out, 100, MPI_DOUBLE, room, sizeof room, &end, all);
        MPI_Sendrecv(room, end, MPI_PACKED, next, TAG, in, end, MPI_PACKED, before, TAG, all,
                     NO_STATUS);
        MPI_Unpack(in, end, &at, out, 100, MPI_DOUBLE, all);
    }
}

/* ---- collectives ---- */

static void barrier(int times)
{
    while (times-- > 0)
        MPI_Barrier(all);
}

static void broadcast(int times)
{
    while (times-- > 0)
        MPI_Bcast(out, bytes, MPI_CHAR, 0, all);
}

static void reduce(int times)
{
    while (times-- > 0)
        MPI_Reduce(out, in, 8, MPI_DOUBLE, MPI_SUM, 0, all);
}

static void allreduce(int times)
{
    while (times-- > 0)
        MPI_Allreduce(out, in, bytes / (int)sizeof *out, MPI_DOUBLE, MPI_SUM, all);
}

static void scan(int times)
{
    while (times-- > 0)
        MPI_Scan(out, in, SMALL, MPI_DOUBLE, MPI_SUM, all);
}

static void gather_and_scatter(int times)
{
    while (times-- > 0) {
        MPI_Gather(out, 1024, MPI_DOUBLE, in, 1024, MPI_DOUBLE, 0, all);
        MPI_Scatter(in, 1024, MPI_DOUBLE, out, 1024, MPI_DOUBLE, 0, all);
    }
}

static void allgather(int times)
{
    while (times-- > 0)
        MPI_Allgather(out, 4096, MPI_DOUBLE, in, 4096, MPI_DOUBLE, all);
}

static void alltoall(int times)
{
    while (times-- > 0)
        MPI_Alltoall(out, 512, MPI_DOUBLE, in, 512, MPI_DOUBLE, all);
}

static void started_allreduce(int times)
{
    MPI_Request r;
    while (times-- > 0) {
        MPI_Iallreduce(out, in, 128, MPI_DOUBLE, MPI_SUM, all, &r);
        for (int done = 0; !done;)
            MPI_Test(&r, &done, NO_STATUS);
    }
}

static void started_broadcast(int times)
{
    MPI_Request r;
    while (times-- > 0) {
        MPI_Ibcast(out, 8192, MPI_CHAR, times % size, all, &r);
        MPI_Wait(&r, NO_STATUS);
    }
}

/* ---- communicators ---- */

static void duplicated(int times)
{
    MPI_Comm c;
    while (times-- > 0) {
        MPI_Comm_dup(all, &c);
        MPI_Barrier(c);
        MPI_Comm_free(&c);
    }
}

static void split(int times)
{
    MPI_Comm c;
    while (times-- > 0) {
        MPI_Comm_split(all, rank % 2, rank, &c);
        MPI_Barrier(c);
        MPI_Comm_free(&c);
    }
}

/* ---- windows and files ---- */

static void put(int times)
{
    MPI_Win w;
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, all, &w);
    while (times-- > 0) {
        MPI_Win_fence(0, w);
        MPI_Put(out, bytes, MPI_CHAR, next, 0, bytes, MPI_CHAR, w);
        MPI_Win_fence(0, w);
    }
    MPI_Win_free(&w);
}

/* As coarrays are written to, one number at a time; and a round of neighbours is met. */
static void put_locked(int times)
{
    MPI_Win w;
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, all, &w);
    for (int i = 0; i < times; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w);
        MPI_Put(out, bytes, MPI_CHAR, next, 0, bytes, MPI_CHAR, w);
        MPI_Win_unlock(next, w);
        if (i % 100 == 99)
            MPI_Sendrecv(out, 0, MPI_CHAR, next, 0, in, 0, MPI_CHAR, before, 0, all, NO_STATUS);
    }
    MPI_Win_free(&w);
}

static void put_flushed(int times)
{
    MPI_Win w;
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, all, &w);
    MPI_Win_lock_all(0, w);
    while (times-- > 0) {
        MPI_Put(out, bytes, MPI_CHAR, next, 0, bytes, MPI_CHAR, w);
        MPI_Win_flush(next, w);
        MPI_Sendrecv(out, 0, MPI_CHAR, next, 0, in, 0, MPI_CHAR, before, 0, all, NO_STATUS);
    }
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
}

static void get(int times)
{
    MPI_Win w;
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, all, &w);
    MPI_Win_lock_all(0, w);
    while (times-- > 0) {
        MPI_Get(out, bytes, MPI_CHAR, next, 0, bytes, MPI_CHAR, w);
        MPI_Win_flush(next, w);
    }
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
}

static void fetch_and_add(int times)
{
    MPI_Win w;
    long one = 1, old;
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, all, &w);
    while (times-- > 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, w);
        MPI_Win_unlock(0, w);
    }
    MPI_Win_free(&w);
}

static void written(int times)
{
    MPI_File f;
    MPI_File_open(all, "calls.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &f);
    while (times-- > 0)
        MPI_File_write_at(f, ((MPI_Offset)times * size + rank) * SMALL, out, SMALL, MPI_CHAR,
                          NO_STATUS);
    MPI_File_close(&f);
}

/* ---- the clock ---- */

static void clock_reads(int times)
{
    while (times-- > 0)
        (void)MPI_Wtime();
}

static void clock_and_message(int times)
{
    while (times-- > 0) {
        (void)MPI_Wtime();
        pass_on();
    }
}

/* ---- beside work of the program's own ---- */

enum { ABOUT_A_MICROSECOND = 300 };

static void work(int steps)
{
    static double sum;
    for (int i = 0; i < steps; i++)
        sum = 0.999 * sum + 0.1;
    out[DOUBLES - 1] = sum; /* or the compiler leaves it out */
}

/* A program that looks again and again while it computes, so that what comes is taken at once. */
static void test_beside(int steps, int tests)
{
    MPI_Request r;
    int done = 0;
    MPI_Irecv(in, SMALL, MPI_CHAR, before, TAG, all, &r);
    for (int i = 0; i < tests; i++) {
        work(steps);
        if (!done)
            MPI_Test(&r, &done, NO_STATUS);
    }
    MPI_Send(out, SMALL, MPI_CHAR, next, TAG, all);
    if (!done)
        MPI_Wait(&r, NO_STATUS);
}

static void test_beside_work(int times)
{
    while (times-- > 0)
        test_beside(ABOUT_A_MICROSECOND, 1000);
}

/* So little that a test takes longer. */
static void test_beside_little(int times)
{
    while (times-- > 0)
        test_beside(ABOUT_A_MICROSECOND / 10, 10000);
}

/* ---- all of them ---- */

static const struct call {
    const char *name;
    void (*run)(int times);
    int times, bytes;
} calls[] = {
    {"sendrecv", sendrecv, 10000, SMALL},
    {"sendrecv_large", sendrecv, 1000, LARGE},
    {"sendrecv_replace", sendrecv_replace, 1000, LARGE},
    {"to_self", to_self, 50000, SMALL},
    {"synchronous", synchronous, 5000, SMALL},
    {"synchronous_many", synchronous_many, 50000, SMALL},
    {"synchronous_halo", synchronous_halo, 5000, SMALL},
    {"buffered", buffered, 10000, SMALL},
    {"one_way", one_way, 300000, SMALL},
    {"freed_requests", freed_requests, 10000, SMALL},
    {"persistent", persistent, 10000, SMALL},
    {"cancelled", cancelled, 50000, SMALL},
    {"wait_all", wait_all, 5000, SMALL},
    {"wait_any", wait_any, 5000, SMALL},
    {"wait_any_large", wait_any, 300, LARGE},
    {"wait_some", wait_some, 5000, SMALL},
    {"test_all", test_all, 5000, SMALL},
    {"test_all_large", test_all, 300, LARGE},
    {"test_any", test_any, 5000, SMALL},
    {"out_of_order", out_of_order, 500, MIDDLE},
    {"from_any_source", from_any_source, 5000, SMALL},
    {"any_source_ring", any_source_ring, 10000, SMALL},
    {"any_source_ring_large", any_source_ring, 1000, LARGE},
    {"probe", probe, 5000, SMALL},
    {"probe_large", probe, 1000, LARGE},
    {"iprobe", iprobe, 5000, SMALL},
    {"iprobe_large", iprobe, 1000, LARGE},
    {"matched_probe", matched_probe, 10000, SMALL},
    {"farm", farm, 20000, SMALL},
    {"farm_large", farm, 2000, LARGE},
    {"vector", vector_small, 5000, SMALL},
    {"vector_large", vector_large, 500, LARGE},
    {"packed", packed, 10000, SMALL},
    {"barrier", barrier, 10000, SMALL},
    {"broadcast", broadcast, 50000, SMALL},
    {"broadcast_large", broadcast, 1000, LARGE},
    {"reduce", reduce, 50000, SMALL},
    {"allreduce", allreduce, 10000, SMALL},
    {"allreduce_large", allreduce, 200, LARGE},
    {"scan", scan, 10000, SMALL},
    {"gather_and_scatter", gather_and_scatter, 3000, SMALL},
    {"allgather", allgather, 1000, SMALL},
    {"alltoall", alltoall, 2000, SMALL},
    {"started_allreduce", started_allreduce, 5000, SMALL},
    {"started_broadcast", started_broadcast, 5000, SMALL},
    {"duplicated", duplicated, 1000, SMALL},
    {"split", split, 1000, SMALL},
    {"put", put, 3000, SMALL},
    {"put_large", put, 300, LARGE},
    {"put_locked", put_locked, 10000, SMALL},
    {"put_flushed", put_flushed, 3000, SMALL},
    {"get", get, 10000, SMALL},
    {"get_large", get, 500, LARGE},
    {"fetch_and_add", fetch_and_add, 5000, SMALL},
    {"written", written, 1000, SMALL},
    {"clock", clock_reads, 500000, SMALL},
    {"clock_and_message", clock_and_message, 10000, SMALL},
    {"clock_and_message_large", clock_and_message, 1000, LARGE},
    {"test_beside_work", test_beside_work, 50, SMALL},
    {"test_beside_little", test_beside_little, 10, SMALL},
};

static void measure(const struct call *c)
{
    bytes = c->bytes;
    c->run(c->times / FEW_TIMES + 1);
    MPI_Barrier(all);
    const double begin = MPI_Wtime();
    c->run(c->times);
    MPI_Barrier(all);
    const double took = MPI_Wtime() - begin;
    if (rank == 0) {
        printf("call %s %.3f\n", c->name, 1e6 * took / c->times);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    if (size % 2 != 0 || size > MANY || (size_t)size * LARGE > sizeof in) {
        fprintf(stderr, "calls: wants an even number of ranks, up to %d\n", MANY);
        MPI_Abort(all, 2);
    }
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strstr(calls[i].name, part))
            measure(&calls[i]);
    MPI_Finalize();
    return 0;
}
