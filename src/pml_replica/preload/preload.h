/* SPDX-License-Identifier: BSD-3-Clause */
/* preload.h -- what the preloaded library asks of the message layer, found by name once both are
 * loaded. */
#ifndef P2P_SRC_PML_REPLICA_PRELOAD_PRELOAD_H
#define P2P_SRC_PML_REPLICA_PRELOAD_PRELOAD_H
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* The clocks of the system that lanes share, in seconds. */
enum preload_clock {
    PRELOAD_WALL,   /* of 1970 */
    PRELOAD_STEADY, /* CLOCK_MONOTONIC */
    PRELOAD_RAW,
    PRELOAD_USED, /* of a processor, by the process */
    PRELOAD_USED_BY_THREAD,
    PRELOAD_CLOCKS
};

struct preload_questions {
    bool has_begun;             /* MPI has: it may be over, too */
    double (*time)(double own); /* the time to give for this process's own */
    /* The same for a clock of the system. False: it is not the program that asks. */
    bool (*clock)(enum preload_clock which, double *time);
    void (*name)(char *name, int *length); /* turns this process's own into the one to give */
    /* The same for what the machine says of itself. False: it is not the program that asks. */
    bool (*fact)(void *fact, size_t size);
    /* Has the leader decided that the request is complete? Then it is complete here, too, when this
     * returns. */
    int (*is_complete)(MPI_Request request);
    /* Give a new communicator its number; and, if asked for, the request of having done it. */
    int (*number)(MPI_Comm comm, MPI_Request *request);
    int (*idup)(MPI_Comm comm, MPI_Comm *twin, MPI_Request *request);
    void (*settle)(void);  /* the job is about to be aborted: the others are to hold the decisions
                              that led here */
    void (*barrier)(void); /* waits for the other lanes of this rank to come here, too */
    /* The call is not possible: says so, once for the job. Returns only to errors-return handlers.
     */
    int (*refuse)(MPI_Comm comm, int root, int error, const char *call);
};
#define PRELOAD_SYMBOL "p2pgrid_preload_questions"
#endif
