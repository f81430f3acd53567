/* SPDX-License-Identifier: BSD-3-Clause */
/* output_ompi4.c -- what the program prints is under output commit, as its messages are: the reader
 * (iof_replica, hold_orte4.c) waits until all replicas hold what it may depend on. The program does
 * not wait; the progress thread handles acknowledgements while the program computes. */
#include "glue.h"
#include "src/survive/commit.h"
#include <stdlib.h>

enum { SETTLE_MS = 1000 };

/* The folder is one that the daemon on this host has named to its processes. */
void output_begin(void)
{
    const char *folder = getenv("OMPI_FILE_LOCATION");
    if (folder != NULL && *folder == '/')
        replica.commit = commit_make(folder, (unsigned)OMPI_PROC_MY_NAME->vpid);
    if (replica.commit == NULL)
        return;
    link_enter(); /* the progress thread may be at it already */
    engine_publish(replica.engine, replica.commit);
    link_leave();
}

void output_release(void)
{
    if (replica.commit == NULL)
        return;
    engine_publish(replica.engine, NULL);
    commit_note(replica.commit, 0, UINT64_MAX);
}

/* Replicas that do not answer, as they abort too, are not waited for long. */
void output_settle(void)
{
    if (!program_calls() || replica.stopped)
        return;
    const uint64_t begin = now_ms(CLOCK_MONOTONIC);
    link_enter();
    while (!engine_committed(replica.engine) && now_ms(CLOCK_MONOTONIC) - begin < SETTLE_MS)
        link_wait();
    link_leave();
}
