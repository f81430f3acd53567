/* SPDX-License-Identifier: BSD-3-Clause */
/* rally_ompi4.c -- the lanes come together where the program empties a file (preload_file.c).
 *
 * Who is far behind is not waited for: lanes have the same time for it as at the end of the job. */
#include "glue.h"
#include "src/survive/fate.h"
#include <unistd.h>

static const clockid_t coarse = CLOCK_MONOTONIC_COARSE;

void rally_begin(void)
{
    replica.rallying = (struct rallying){getpid(), now_ms(coarse)};
}

bool rally_is_in_order(void)
{
    return pthread_equal(pthread_self(), replica.program) && replica.depth == 0 &&
           getpid() == replica.rallying.pid;
}

void rally_lanes(void)
{
    if (!rally_is_in_order())
        return;
    const uint64_t begin = now_ms(coarse);
    const uint64_t patience = fate_grace_of(begin - replica.rallying.since_ms);
    link_enter();
    engine_rally(replica.engine);
    while (!engine_rallied(replica.engine) && now_ms(coarse) - begin < patience)
        link_wait();
    engine_part(replica.engine);
    link_leave();
}
