/* SPDX-License-Identifier: BSD-3-Clause */
/* stops.h -- a process that is stopped for a while, as on a busy desktop. */
#ifndef P2P_TEST_APPS_STOPS_H
#define P2P_TEST_APPS_STOPS_H
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Is this one the copy of rank 0 in the second lane? */
static inline int is_second_copy(int ranks)
{
    const char *process = getenv("PMIX_RANK");
    return process && atoi(process) == ranks;
}

static inline void stop_for(long ns)
{
    if (fork() == 0) {
        nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}
#endif
