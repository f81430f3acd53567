/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c -- the token ring.
 *
 * A token travels round all ranks LOOPS times. It carries a hop counter and
 * a payload of BYTES bytes; every hop changes one word of the payload. Rank 0
 * replays every lap on a copy of its own and compares, so a lost, repeated or
 * damaged hop stops the program in the lap where it happened.
 *
 * usage: ring LOOPS BYTES        prints one line: the payload's checksum
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* token[0] counts hops; the rest is the payload */
static void hop(uint64_t *token, size_t words)
{
    uint64_t n = ++token[0];
    token[1 + n % words] += mix(n);
}

static uint64_t checksum(const uint64_t *token, size_t words)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= words; i++)
        sum = mix(sum ^ token[i]);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3 || size < 2 || atol(argv[1]) < 1 || atol(argv[2]) < 8) {
        if (rank == 0)
            fprintf(stderr, "usage: ring LOOPS BYTES  (at least 2 ranks, 8 bytes)\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    long loops = atol(argv[1]);
    size_t words = (size_t)atol(argv[2]) / sizeof(uint64_t);
    int count = (int)(words + 1), tag = 7;
    int next = (rank + 1) % size, prev = (rank + size - 1) % size;
    uint64_t *token = calloc(words + 1, sizeof *token);
    uint64_t *copy = calloc(words + 1, sizeof *copy);

    for (size_t i = 1; i <= words; i++)
        token[i] = copy[i] = mix(i << 32);

    for (long lap = 0; lap < loops; lap++) {
        if (rank == 0) {
            hop(token, words);
            MPI_Send(token, count, MPI_UINT64_T, next, tag, MPI_COMM_WORLD);
            MPI_Recv(token, count, MPI_UINT64_T, prev, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int r = 0; r < size; r++)
                hop(copy, words);
            if (memcmp(token, copy, (words + 1) * sizeof *token) != 0) {
                fprintf(stderr, "ring: lap %ld: the token is not the expected one\n", lap);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        } else {
            MPI_Recv(token, count, MPI_UINT64_T, prev, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (token[0] != (uint64_t)lap * size + rank) {
                fprintf(stderr, "ring: rank %d, lap %ld: hop counter is %llu\n", rank, lap,
                        (unsigned long long)token[0]);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
            hop(token, words);
            MPI_Send(token, count, MPI_UINT64_T, next, tag, MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        printf("ring: %d ranks, %ld loops, %zu bytes, checksum %016llx\n", size, loops,
               words * sizeof *token, (unsigned long long)checksum(token, words));
    free(token);
    free(copy);
    MPI_Finalize();
    return 0;
}
