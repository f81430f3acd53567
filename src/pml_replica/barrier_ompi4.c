/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier_ompi4.c -- the lanes of a rank wait for each other where the program empties a file
 * (preload_file.c).
 *
 * A lane that is far behind is not waited for: lanes have as much time as at the end of the job. */
#include "glue.h"
#include "src/survive/fate.h"

static const clockid_t coarse = CLOCK_MONOTONIC_COARSE;

void barrier_begin(void)
{
    replica.since_ms = now_ms(coarse);
}

void barrier_lanes(void)
{
    if (!program_calls())
        return;
    const uint64_t begin = now_ms(coarse);
    const uint64_t patience = fate_grace_of(begin - replica.since_ms);
    link_enter();
    engine_barrier_enter(replica.engine);
    while (!engine_barrier_done(replica.engine) && now_ms(coarse) - begin < patience)
        link_wait();
    engine_barrier_leave(replica.engine);
    link_leave();
}
