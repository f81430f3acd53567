/* SPDX-License-Identifier: BSD-3-Clause */
/* storm.c -- a seeded mixture of message-passing calls.
 *
 * All ranks draw the same operations and sizes from SEED. Every payload follows
 * from (round, sender, receiver), so the receiver checks each byte. The digest
 * printed depends on the arguments and the number of ranks alone.
 * usage: storm SEED ROUNDS MAXBYTES
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { RANKS = 256 };
enum { WAITALL, WAITANY, TESTSOME, PROBE, ALLTOALL, NONBLOCKING, SPLIT, KINDS };
static int rank, size;
static uint64_t seed, round_no, digest, checked;
static unsigned char *out, *in, *expected; /* one block for each rank */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* what the sender and the receiver of a message of this round both know */
static uint64_t value(int from, int to)
{
    return mix(mix(seed ^ (round_no << 20)) + (uint64_t)from * 4099 + (uint64_t)to);
}

static void fill(unsigned char *p, int n, int from, int to)
{
    uint64_t x = value(from, to);
    for (int i = 0; i < n; i++, x = x * 6364136223846793005u + 1442695040888963407u)
        p[i] = (unsigned char)(x >> 56);
}

static void require(int good, const char *what, int from)
{
    if (good)
        return;
    fprintf(stderr, "storm: round %" PRIu64 ", rank %d: bad %s from %d\n", round_no, rank, what,
            from);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* every rank sends n bytes to every rank, itself included */
static void exchange(int kind, MPI_Comm comm, int n)
{
    MPI_Request req[2 * RANKS];
    MPI_Status st[2 * RANKS];
    int index[2 * RANKS], done = 0, got;
    for (int r = 0; r < size; r++) {
        fill(out + r * n, n, rank, r);
        req[size + r] = MPI_REQUEST_NULL;
        if (kind <= PROBE)
            MPI_Isend(out + r * n, n, MPI_BYTE, r, kind, comm, &req[r]);
        if (kind < PROBE)
            MPI_Irecv(in + r * n, n, MPI_BYTE, r, kind, comm, &req[size + r]);
    }
    for (int r = 0; kind == PROBE && r < size; r++) {
        MPI_Probe(MPI_ANY_SOURCE, PROBE, comm, st);
        MPI_Get_count(st, MPI_BYTE, &got);
        require(got == n, "length", st->MPI_SOURCE);
        MPI_Recv(in + st->MPI_SOURCE * n, n, MPI_BYTE, st->MPI_SOURCE, PROBE, comm, st);
    }
    for (int i = 0; kind == WAITANY && i < 2 * size; i++)
        MPI_Waitany(2 * size, req, index, st);
    for (; kind == TESTSOME && done < 2 * size; done += got)
        MPI_Testsome(2 * size, req, &got, index, st);
    if (kind == WAITALL || kind == PROBE)
        MPI_Waitall(2 * size, req, st);
    if (kind == ALLTOALL)
        MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, comm);
    if (kind == NONBLOCKING) {
        MPI_Ialltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, comm, &req[0]);
        MPI_Ibarrier(comm, &req[1]);
        MPI_Waitall(2, req, st);
    }
    for (int r = 0; r < size; r++, checked += n) {
        fill(expected, n, r, rank);
        require(memcmp(in + r * n, expected, n) == 0, "payload", r);
        digest += mix(value(r, rank) ^ in[r * n]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4 || size > RANKS || atol(argv[2]) < 1 || atoi(argv[3]) < 1 ||
        atoi(argv[3]) > 1 << 24)
        MPI_Abort(MPI_COMM_WORLD, 2);
    uint64_t rounds = strtoull(argv[2], NULL, 10), max = strtoull(argv[3], NULL, 10);
    seed = strtoull(argv[1], NULL, 10);
    out = malloc(size * max), in = malloc(size * max), expected = malloc(max);

    for (round_no = 0; round_no < rounds; round_no++) {
        uint64_t draw = value(-1, -1), mine = value(rank, -2), sum, wanted = 0;
        int kind = (int)(draw % KINDS), odd = rank % 2;
        MPI_Comm comm; /* a new one every round */
        MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &comm);
        if (kind != SPLIT) {
            MPI_Comm_free(&comm);
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            exchange(kind, comm, 1 + (int)((draw >> 8) % max >> (draw >> 40) % 12));
        }
        MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
        for (int r = 0; r < size; r++)
            wanted += kind != SPLIT || r % 2 == odd ? value(r, -2) : 0;
        require(sum == wanted, "sum", -1);
        MPI_Comm_free(&comm);
    }
    uint64_t part[2] = {digest, checked}, all[2];
    MPI_Reduce(part, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("storm: %d ranks, %" PRIu64 " rounds, %" PRIu64 " bytes, digest %016" PRIx64 "\n",
               size, rounds, all[1], all[0]);
    return MPI_Finalize();
}
