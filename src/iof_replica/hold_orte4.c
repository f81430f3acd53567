/* SPDX-License-Identifier: BSD-3-Clause */
/* hold_orte4.c -- between a process on this host and the code that forwards its output: what it
 * wrote waits here until every living replica of its rank holds the decisions that it may depend
 * on. What still waits when the process has died is dropped, for the next replica may write
 * something else. */
#include "iof_replica.h"
#include "orte/runtime/orte_globals.h"
#include "src/survive/commit.h"
#include "src/survive/rate_limit.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAIT_FIRST_MS = 4, WAIT_MOST_MS = 16 };

struct hold {
    struct hold *next;
    orte_process_name_t name;
    int from, to;     /* from the process, to the code that forwards */
    int commit;       /* its two numbers; -1: it has not made them yet */
    uint64_t decided; /* when what waits here was read */
    bool known;       /* that number is */
    unsigned wait_ms; /* until the next look */
    struct rate_limit rate;
    opal_event_t readable; /* nothing waits here: there may be more */
    opal_event_t again;    /* a timer: something waits, or it is too early to read */
    size_t begin, end;
    char bytes[ORTE_IOF_BASE_MSG_MAX];
};

static struct iof_replica_component *const self = &mca_iof_replica_component;

static void hold_shut(struct hold *h)
{
    struct hold **at = &self->holds;
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    opal_event_del(&h->readable);
    opal_event_evtimer_del(&h->again);
    close(h->from);
    close(h->to);
    if (h->commit >= 0)
        close(h->commit);
    free(h);
}

static bool has_died(const orte_process_name_t *name)
{
    const orte_proc_t *p = orte_get_proc_object((orte_process_name_t *)name);
    return p == NULL || ORTE_FLAG_TEST(p, ORTE_PROC_FLAG_WAITPID);
}

/* May what waits here leave? */
static bool is_committed(struct hold *h)
{
    uint64_t decided, held;
    if (h->commit < 0 && orte_process_info.proc_session_dir != NULL)
        h->commit = commit_open(orte_process_info.proc_session_dir, h->name.vpid);
    if (h->commit < 0)
        return true; /* it is no replica yet, or has no progress thread to hear that all is held */
    if (!commit_read(h->commit, &decided, &held))
        return false;
    if (!h->known)
        h->decided = decided;
    h->known = true;
    return held >= h->decided;
}

static void hold_come_back(struct hold *h, unsigned ms)
{
    struct timeval t = {.tv_usec = ms * 1000};
    opal_event_evtimer_add(&h->again, &t);
}

/* False: nobody wants it any more. */
static bool hold_pass(struct hold *h)
{
    while (h->begin < h->end) {
        const ssize_t n =
            send(h->to, h->bytes + h->begin, h->end - h->begin, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
        h->begin += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* False: it is shut. */
static bool hold_go_on(struct hold *h)
{
    const bool dead = has_died(&h->name); /* asked first: its last numbers stand */
    if (is_committed(h)) {
        if (!hold_pass(h)) {
            hold_shut(h);
            return false;
        }
    } else if (dead) {
        h->begin = h->end;
    }
    if (h->begin == h->end) {
        opal_event_add(&h->readable, NULL);
        return true;
    }
    hold_come_back(h, h->wait_ms);
    if (h->wait_ms < WAIT_MOST_MS)
        h->wait_ms *= 2;
    return true;
}

/* False: there was nothing, or it is shut. */
static bool hold_read(struct hold *h)
{
    const ssize_t n = read(h->from, h->bytes, sizeof h->bytes);
    if (n <= 0 && !(n < 0 && (errno == EAGAIN || errno == EINTR))) {
        hold_shut(h);
        return false;
    }
    h->begin = 0;
    h->end = n > 0 ? (size_t)n : 0;
    h->known = false;
    h->wait_ms = WAIT_FIRST_MS;
    if (h->end < sizeof h->bytes) /* else there is more at once */
        rate_limit_spend(&h->rate, survive_now_ms());
    return hold_go_on(h) && n > 0;
}

static void hold_on_readable(int fd, short what, void *context)
{
    (void)fd, (void)what;
    struct hold *h = context;
    const unsigned early = rate_limit_wait(&h->rate, survive_now_ms());
    if (early > 0)
        hold_come_back(h, early);
    else
        hold_read(h);
}

static void hold_on_again(int fd, short what, void *context)
{
    (void)fd, (void)what;
    struct hold *h = context;
    if (h->begin < h->end)
        hold_go_on(h);
    else
        hold_read(h);
}

int hold_open(const orte_process_name_t *name, int fd)
{
    int ends[2];
    struct hold *h = calloc(1, sizeof *h);
    if (h == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        free(h);
        return fd;
    }
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL, 0) | O_NONBLOCK);
    *h = (struct hold){.next = self->holds, .name = *name, .from = fd, .to = ends[0], .commit = -1};
    self->holds = h;
    opal_event_set(orte_event_base, &h->readable, fd, OPAL_EV_READ, hold_on_readable, h);
    opal_event_set_priority(&h->readable, ORTE_MSG_PRI);
    opal_event_evtimer_set(orte_event_base, &h->again, hold_on_again, h);
    opal_event_set_priority(&h->again, ORTE_MSG_PRI);
    opal_event_add(&h->readable, NULL);
    return ends[1];
}

void hold_hasten(const orte_process_name_t *name)
{
    for (struct hold *h = self->holds; h != NULL; h = h->next)
        if (is_same_process(&h->name, name))
            h->rate = (struct rate_limit){0};
}

void iof_replica_hear_out(const orte_process_name_t *name)
{
    for (struct hold *h = self->holds, *next; h != NULL; h = next) {
        next = h->next;
        if (!is_same_process(&h->name, name))
            continue;
        bool more = true;
        while (more)
            more = h->begin < h->end ? hold_go_on(h) && h->begin == h->end : hold_read(h);
    }
}

void hold_close(const orte_process_name_t *name)
{
    for (struct hold *h = self->holds, *next; h != NULL; h = next) {
        next = h->next;
        if (is_same_process(&h->name, name))
            hold_shut(h);
    }
}
