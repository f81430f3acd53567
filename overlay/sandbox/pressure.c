/* SPDX-License-Identifier: BSD-3-Clause */
/* pressure.c -- reads /proc/PID/schedstat: nanoseconds on a processor, and runnable without one. */
#include "pressure.h"
#include "overlay/host/proctree.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WANTED_NS = 10 * 1000 * 1000 }; /* with less than this nothing can be said */

struct pressure_sample {
    struct pressure now;
    pid_t command;
    bool stopped;
};

bool pressure_parse(const char *schedstat, struct pressure_one *one)
{
    return sscanf(schedstat, "%" SCNu64 " %" SCNu64, &one->ran_ns, &one->waited_ns) == 2;
}

static bool pressure_read_one(struct pressure_one *one)
{
    char path[48], text[96];
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)one->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return pressure_parse(text, one);
}

static void pressure_add(void *ctx, const struct proctree_process *p)
{
    struct pressure_sample *l = ctx;
    bool own = p->pid == l->command || p->parent == l->command;
    struct pressure_one one = {.pid = p->pid};
    l->stopped = l->stopped || (own && p->stopped);
    if (l->now.count < PRESSURE_PROCESSES && pressure_read_one(&one))
        l->now.last[l->now.count++] = one;
}

static const struct pressure_one *pressure_find(const struct pressure *p, pid_t pid)
{
    for (unsigned i = 0; i < p->count; i++)
        if (p->last[i].pid == pid)
            return &p->last[i];
    return NULL;
}

/* A process that was not there before is counted from its beginning. */
unsigned pressure_between(const struct pressure *before, const struct pressure *now)
{
    uint64_t ran = 0, waited = 0;
    for (unsigned i = 0; i < now->count; i++) {
        const struct pressure_one *n = &now->last[i], *b = pressure_find(before, n->pid);
        const struct pressure_one none = {.pid = n->pid};
        if (b == NULL || b->ran_ns > n->ran_ns || b->waited_ns > n->waited_ns)
            b = &none; /* another process of that number */
        ran += n->ran_ns - b->ran_ns;
        waited += n->waited_ns - b->waited_ns;
    }
    return before->count > 0 && ran + waited >= WANTED_NS
               ? (unsigned)(waited * 1000 / (ran + waited))
               : 0;
}

unsigned pressure_take(struct pressure *p, pid_t room, pid_t command)
{
    struct pressure_sample *l = calloc(1, sizeof *l);
    if (l == NULL)
        return 0;
    l->command = command;
    proctree_each(room, pressure_add, l);
    unsigned waits = l->stopped ? 0 : pressure_between(p, &l->now);
    *p = l->now;
    free(l);
    return waits;
}
