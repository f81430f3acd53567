/* SPDX-License-Identifier: BSD-3-Clause */
/* large.c -- messages of more than 2^31 bytes, from rank 0 to rank 1: in one piece, with gaps, to
 * all. Half of the memory that they take is kept out by a sender that sends one block many times.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 20, BLOCKS = 2049, GAP = 4096 }; /* 2^31 + 2^20 bytes */
enum { WORDS = BLOCK / sizeof(uint64_t) };

static int rank;

static void *memory(size_t bytes)
{
    void *p = malloc(bytes);
    if (p == NULL) {
        fprintf(stderr, "large: no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return p;
}

/* Every word says where it is, so that no block can be taken for another. */
static void fill(uint64_t *words, size_t count, uint64_t salt)
{
    for (size_t i = 0; i < count; i++)
        words[i] = (i + salt) * 0x9e3779b97f4a7c15;
}

static bool is_filled(const uint64_t *words, size_t count, uint64_t salt)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] != (i + salt) * 0x9e3779b97f4a7c15)
            return false;
    return true;
}

static bool has_arrived(MPI_Status *status, MPI_Datatype block)
{
    MPI_Count bytes;
    int blocks;
    MPI_Get_elements_x(status, MPI_BYTE, &bytes);
    MPI_Get_count(status, block, &blocks);
    return bytes == (MPI_Count)BLOCKS * BLOCK && blocks == BLOCKS;
}

/* A count of a large type; the receiver looks at it first. */
static bool in_one_piece(uint64_t *words, MPI_Datatype block)
{
    MPI_Status status;
    if (rank == 0) {
        fill(words, (size_t)BLOCKS * WORDS, 1);
        MPI_Send(words, BLOCKS, block, 1, 1, MPI_COMM_WORLD);
        return true;
    }
    MPI_Probe(0, 1, MPI_COMM_WORLD, &status);
    bool good = has_arrived(&status, block);
    MPI_Recv(words, BLOCKS, block, 0, 1, MPI_COMM_WORLD, &status);
    return good && has_arrived(&status, block) && is_filled(words, (size_t)BLOCKS * WORDS, 1);
}

static bool to_all(uint64_t *words, MPI_Datatype block)
{
    if (rank == 0)
        fill(words, (size_t)BLOCKS * WORDS, 2);
    else
        memset(words, 0, (size_t)BLOCKS * BLOCK);
    MPI_Bcast(words, BLOCKS, block, 0, MPI_COMM_WORLD);
    return is_filled(words, (size_t)BLOCKS * WORDS, 2);
}

/* One block, sent as if it lay in memory many times; received into blocks with gaps. */
static bool with_gaps(MPI_Datatype block)
{
    MPI_Datatype same, apart;
    MPI_Type_create_hvector(BLOCKS, 1, 0, block, &same);
    MPI_Type_create_hvector(BLOCKS, 1, BLOCK + GAP, block, &apart);
    MPI_Type_commit(&same);
    MPI_Type_commit(&apart);
    bool good = true;
    char *bytes = memory(rank == 0 ? BLOCK : (size_t)BLOCKS * (BLOCK + GAP));
    if (rank == 0) {
        fill((uint64_t *)(void *)bytes, WORDS, 3);
        MPI_Send(bytes, 1, same, 1, 2, MPI_COMM_WORLD);
    } else {
        MPI_Recv(bytes, 1, apart, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (size_t i = 0; i < BLOCKS; i++)
            good = good && is_filled((uint64_t *)(void *)(bytes + i * (BLOCK + GAP)), WORDS, 3);
    }
    free(bytes);
    MPI_Type_free(&same);
    MPI_Type_free(&apart);
    return good;
}

int main(int argc, char **argv)
{
    MPI_Datatype block;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_commit(&block);
    uint64_t *words = memory((size_t)BLOCKS * BLOCK);
    int good[] = {in_one_piece(words, block), to_all(words, block), 0}, all[3];
    free(words);
    good[2] = with_gaps(block);
    MPI_Reduce(good, all, 3, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("large: %lld bytes; in one piece %s, to all %s, with gaps %s\n",
               (long long)BLOCKS * BLOCK, all[0] ? "right" : "WRONG", all[1] ? "right" : "WRONG",
               all[2] ? "right" : "WRONG");
    MPI_Type_free(&block);
    MPI_Finalize();
    return 0;
}
