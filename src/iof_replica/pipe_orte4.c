/* SPDX-License-Identifier: BSD-3-Clause */
/* pipe_orte4.c -- what a process on this host is to read, and how much of it the process has taken.
 * mpirun sends no more than a window ahead of that, so what waits here is bounded. */
#include "iof_replica.h"
#include "opal/dss/dss.h"
#include "orte/constants.h"
#include "orte/mca/rml/rml.h"
#include "orte/util/name_fns.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pipe {
    struct pipe *next;
    orte_process_name_t name;
    int fd;          /* -1: closed */
    bool last;       /* nothing comes after what waits */
    bool waiting;    /* for the process to read */
    uint64_t passed; /* bytes written to the process so far */
    opal_event_t event;
    size_t begin, end;
    char bytes[INPUT_WINDOW_BYTES];
};

static struct iof_replica_component *const self = &mca_iof_replica_component;

static struct pipe *pipe_find(const orte_process_name_t *name)
{
    for (struct pipe *p = self->pipes; p != NULL; p = p->next)
        if (is_same_process(&p->name, name))
            return p;
    return NULL;
}

static void pipe_tell_passed(const orte_process_name_t *name, uint64_t passed, bool closed)
{
    uint32_t vpid = name->vpid;
    uint8_t flag = closed;
    if (ORTE_PROC_IS_HNP) {
        unsigned rank, lane;
        if (survive_place(name, self->output.ranks, &rank, &lane))
            input_passed(lane, passed, closed);
        return;
    }
    opal_buffer_t *b = OBJ_NEW(opal_buffer_t);
    opal_dss.pack(b, &vpid, 1, OPAL_UINT32);
    opal_dss.pack(b, &passed, 1, OPAL_UINT64);
    opal_dss.pack(b, &flag, 1, OPAL_UINT8);
    if (orte_rml.send_buffer_nb(orte_mgmt_conduit, ORTE_PROC_MY_HNP, b, TAG_INPUT_PASSED,
                                orte_rml_send_callback, NULL) < 0)
        OBJ_RELEASE(b);
}

static void pipe_shut(struct pipe *p)
{
    if (p->fd < 0)
        return;
    if (p->waiting)
        opal_event_del(&p->event);
    p->waiting = false;
    close(p->fd);
    p->fd = -1;
}

/* Writes what the process takes now, and comes back for the rest when it reads. */
static void pipe_write(struct pipe *p)
{
    const uint64_t before = p->passed;
    while (p->begin < p->end) {
        ssize_t n = write(p->fd, p->bytes + p->begin, p->end - p->begin);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) { /* it reads no more */
            pipe_shut(p);
            pipe_tell_passed(&p->name, p->passed, true);
            return;
        }
        p->begin += (size_t)n;
        p->passed += (uint64_t)n;
    }
    if (p->begin < p->end) {
        p->waiting = true;
        opal_event_add(&p->event, NULL);
    } else if (p->last) {
        pipe_shut(p);
    }
    if (p->passed == before)
        return;
    hold_hasten(&p->name);
    pipe_tell_passed(&p->name, p->passed, false);
}

static void pipe_on_writable(int fd, short what, void *context)
{
    (void)fd, (void)what;
    struct pipe *p = context;
    p->waiting = false;
    pipe_write(p);
}

int pipe_open(const orte_process_name_t *name, int fd)
{
    struct pipe *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ORTE_ERR_OUT_OF_RESOURCE;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL, 0) | O_NONBLOCK);
    p->name = *name;
    p->fd = fd;
    p->next = self->pipes;
    self->pipes = p;
    opal_event_set(orte_event_base, &p->event, fd, OPAL_EV_WRITE, pipe_on_writable, p);
    opal_event_set_priority(&p->event, ORTE_MSG_PRI);
    return ORTE_SUCCESS;
}

void pipe_put(const orte_process_name_t *name, const void *bytes, size_t count)
{
    struct pipe *p = pipe_find(name);
    if (p == NULL || p->fd < 0) {
        pipe_tell_passed(name, 0, true);
        return;
    }
    if (count > sizeof p->bytes - p->end) {
        memmove(p->bytes, p->bytes + p->begin, p->end - p->begin);
        p->end -= p->begin;
        p->begin = 0;
    }
    if (count > sizeof p->bytes - p->end) { /* mpirun keeps to the window; this is not mpirun */
        pipe_shut(p);
        pipe_tell_passed(name, p->passed, true);
        return;
    }
    memcpy(p->bytes + p->end, bytes, count);
    p->end += count;
    p->last = p->last || count == 0;
    if (!p->waiting)
        pipe_write(p);
}

void pipe_close(const orte_process_name_t *name)
{
    for (struct pipe **at = &self->pipes; *at != NULL; at = &(*at)->next) {
        struct pipe *p = *at;
        if (p->name.jobid != name->jobid || p->name.vpid != name->vpid)
            continue;
        *at = p->next;
        pipe_shut(p);
        free(p);
        return;
    }
}
