/* SPDX-License-Identifier: BSD-3-Clause */
/* turn.c -- asks /proc: schedstat has for how long a thread has run and waited in line, stat
 * whether it would like to run now. That of the first thread is taken: it calls MPI in nearly all
 * programs.
 */
#include "turn.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool proc_read(int pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* A wait in line is counted when it is over. */
static bool schedstat_read(int pid, struct turn *now)
{
    char text[128], *end;
    if (!proc_read(pid, "schedstat", text, sizeof text))
        return false;
    now->ran_ns = strtoull(text, &end, 10);
    now->waited_ns = strtoull(end, NULL, 10);
    return true;
}

/* `1234 (a name) R ...`; the name may have brackets of its own. */
static bool stat_says_runnable(const char *stat)
{
    const char *end = strrchr(stat, ')');
    return end != NULL && end[1] == ' ' && end[2] == 'R';
}

uint64_t turn_look(struct turn *t, int pid, uint64_t gap_ms, bool anew)
{
    enum { MS = 1000000 };
    const struct turn before = *t;
    char stat[512];
    if (!schedstat_read(pid, t) || !proc_read(pid, "stat", stat, sizeof stat))
        return gap_ms;
    const uint64_t ran_ms = (t->ran_ns - before.ran_ns) / MS;
    const uint64_t waited_ms = (t->waited_ns - before.waited_ns) / MS;
    if (anew)
        return 0;
    if (stat_says_runnable(stat))
        return ran_ms < gap_ms ? ran_ms : gap_ms;
    return waited_ms < gap_ms ? gap_ms - waited_ms : 0;
}
