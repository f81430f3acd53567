/* SPDX-License-Identifier: BSD-3-Clause */
/* logged.c -- preloaded into a program on stock Open MPI: each message that it sends is copied to a
 * log as well, and nothing else is done. What two such copies take is what any replication costs
 * that copies what it sends, since another copy of the receiver may want it from here.
 *
 * The log has room for one window, and is used again without asking whether it may be. Messages
 * beyond the eager limit are left alone, as p2pgrid does not copy these either. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, EAGER = 64 * 1024, LINE = 64 };

struct record {
    uint64_t number, hash;
    void *bytes;
    size_t length;
    MPI_Comm comm;
    int to, tag;
};

static struct {
    struct record record[WINDOW];
    uint8_t *bytes;
    uint64_t sent, hash;
} logged;

static void log_message(const void *bytes, int count, MPI_Datatype type, int to, int tag,
                        MPI_Comm comm)
{
    int size;
    PMPI_Type_size(type, &size);
    const size_t length = (size_t)count * (size_t)size;
    if (length > EAGER)
        return;
    if (!logged.bytes && !(logged.bytes = aligned_alloc(LINE, (size_t)WINDOW * EAGER)))
        PMPI_Abort(MPI_COMM_WORLD, 1);
    struct record *r = &logged.record[logged.sent % WINDOW];
    logged.hash = (logged.hash ^ length ^ (uint64_t)(unsigned)tag) * 0x9E3779B97F4A7C15;
    /* Short ones lie close together, as a log would have them. */
    *r = (struct record){.number = logged.sent++,
                         .hash = logged.hash,
                         .bytes = logged.bytes +
                                  (size_t)(r - logged.record) * ((length + LINE - 1) / LINE * LINE),
                         .length = length,
                         .comm = comm,
                         .to = to,
                         .tag = tag};
    memcpy(r->bytes, bytes, length);
}

int MPI_Send(const void *bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    log_message(bytes, count, type, to, tag, comm);
    return PMPI_Send(bytes, count, type, to, tag, comm);
}

int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    log_message(bytes, count, type, to, tag, comm);
    return PMPI_Isend(bytes, count, type, to, tag, comm, request);
}
