/* SPDX-License-Identifier: BSD-3-Clause */
/* farm.c -- master and workers.
 *
 * Rank 0 hands out numbers to factor, one at a time, to whichever worker asks
 * next; the costs differ widely from item to item. It looks for messages with
 * MPI_Iprobe on any source and any tag. Every answer is checked. The digest
 * does not depend on which worker answered first; the log printed with -v does.
 *
 * usage: farm ITEMS BITS [-v]    prints one line: the digest of all results
 */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READY = 1, RESULT = 2, WORK = 3, STOP = 4 }; /* message tags */
enum { ITEM, NUMBER, FACTOR, FIELDS };              /* message fields */

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* the smallest prime factor of an odd n */
static uint64_t factor(uint64_t n)
{
    for (uint64_t d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return d;
    return n;
}

/* the first prime with the given number of bits after a seeded start */
static uint64_t prime(uint64_t seed, int bits)
{
    uint64_t p = (mix(seed) >> (64 - bits)) | (1ull << (bits - 1)) | 1;
    while (factor(p) != p)
        p += 2;
    return p;
}

static void master(int workers, uint64_t items, int bits, int verbose)
{
    uint64_t msg[FIELDS], sent = 0, done = 0, digest = 0;
    uint64_t *small = malloc(items * sizeof *small); /* the expected answers */

    while (workers > 0) {
        MPI_Status st;
        int waiting;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &waiting, &st);
        if (!waiting) {
            usleep(50);
            continue;
        }
        int who = st.MPI_SOURCE, tag = st.MPI_TAG;
        MPI_Recv(msg, FIELDS, MPI_UINT64_T, who, tag, MPI_COMM_WORLD, &st);
        if (tag == RESULT) {
            if (msg[ITEM] >= sent || msg[FACTOR] != small[msg[ITEM]]) {
                fprintf(stderr, "farm: wrong answer from rank %d\n", who);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
            if (verbose)
                printf("item %" PRIu64 " from rank %d: %" PRIu64 " = %" PRIu64 " * %" PRIu64 "\n",
                       msg[ITEM], who, msg[NUMBER], msg[FACTOR], msg[NUMBER] / msg[FACTOR]);
            small[msg[ITEM]] = 0; /* an answer counts once */
            digest += mix(msg[ITEM] ^ mix(msg[NUMBER]) ^ mix(msg[FACTOR] << 1));
            done++;
        }
        if (sent < items) {
            int half = bits / 2 - (int)(mix(sent) % 6);
            uint64_t p = prime(2 * sent, half), q = prime(2 * sent + 1, half);
            small[sent] = p < q ? p : q;
            msg[ITEM] = sent++, msg[NUMBER] = p * q, msg[FACTOR] = 0;
            MPI_Send(msg, FIELDS, MPI_UINT64_T, who, WORK, MPI_COMM_WORLD);
        } else {
            MPI_Send(msg, 0, MPI_UINT64_T, who, STOP, MPI_COMM_WORLD);
            workers--;
        }
    }
    printf("farm: %" PRIu64 " of %" PRIu64 " items, %d bits, digest %016" PRIx64 "\n", done, items,
           bits, digest);
    free(small);
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3 || size < 2 || atol(argv[1]) < 1 || atoi(argv[2]) < 20 || atoi(argv[2]) > 60) {
        if (rank == 0)
            fprintf(stderr, "usage: farm ITEMS BITS [-v]  (20 to 60 bits, at least 2 ranks)\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 0) {
        master(size - 1, strtoull(argv[1], NULL, 10), atoi(argv[2]),
               argc > 3 && strcmp(argv[3], "-v") == 0);
    } else {
        uint64_t msg[FIELDS] = {0};
        MPI_Status st;
        for (int tag = READY;; tag = RESULT) {
            MPI_Send(msg, FIELDS, MPI_UINT64_T, 0, tag, MPI_COMM_WORLD);
            MPI_Recv(msg, FIELDS, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
            if (st.MPI_TAG == STOP)
                break;
            msg[FACTOR] = factor(msg[NUMBER]);
        }
    }
    MPI_Finalize();
    return 0;
}
