/* SPDX-License-Identifier: BSD-3-Clause */
/* input_orte4.c -- mpirun's standard input, from a file, a pipe or a terminal, to every replica of
 * rank 0. */
#include "iof_replica.h"
#include "opal/dss/dss.h"
#include "orte/mca/rml/rml.h"
#include "orte/util/name_fns.h"
#include <errno.h>
#include <unistd.h>

static struct iof_replica_component *const self = &mca_iof_replica_component;

enum { LOOK_AGAIN_MS = 200 }; /* while mpirun is in the background of its terminal */

static void input_send(orte_proc_t *p, const void *bytes, size_t count)
{
    if (p->node->daemon->name.vpid == ORTE_PROC_MY_NAME->vpid) {
        pipe_put(&p->name, bytes, count);
        return;
    }
    opal_buffer_t *b = OBJ_NEW(opal_buffer_t);
    opal_dss.pack(b, &p->name, 1, ORTE_NAME);
    if (count > 0)
        opal_dss.pack(b, bytes, (int32_t)count, OPAL_BYTE);
    if (orte_rml.send_buffer_nb(orte_mgmt_conduit, &p->node->daemon->name, b, TAG_INPUT,
                                orte_rml_send_callback, NULL) < 0)
        OBJ_RELEASE(b);
}

/* The copy of rank 0 in this lane; NULL: none. */
static orte_proc_t *input_copy(unsigned lane)
{
    unsigned process;
    orte_job_t *job = orte_get_job_data_object(self->output.job);
    return job != NULL && level_process(survive_level(), self->output.ranks, 0, lane, &process)
               ? opal_pointer_array_get_item(job->procs, (int)process)
               : NULL;
}

static void input_send_to_all(const void *bytes, size_t count)
{
    for (unsigned lane = 0; lane < self->output.lanes && lane < INPUT_WINDOW_LANES; lane++) {
        orte_proc_t *p = self->input.window.open[lane] ? input_copy(lane) : NULL;
        if (p != NULL && p->node != NULL && p->node->daemon != NULL)
            input_send(p, bytes, count);
    }
}

static bool in_background(void)
{
    return isatty(self->input.fd) && tcgetpgrp(self->input.fd) != getpgrp();
}

/* Asks for the next bytes, when there is room for them. */
static void input_resume(void)
{
    if (!self->input.begun || self->input.pending || self->input.ended ||
        input_window_room(&self->input.window) == 0)
        return;
    struct timeval later = {0, LOOK_AGAIN_MS * 1000}, now = {0, 0};
    const bool always =
        orte_iof_base_fd_always_ready(self->input.fd); /* no poll says so of a file */
    self->input.pending = true;
    opal_event_add(&self->input.event, in_background() ? &later : always ? &now : NULL);
}

static void input_on_readable(int fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    char bytes[ORTE_IOF_BASE_MSG_MAX];
    size_t room = input_window_room(&self->input.window);
    self->input.pending = false;
    opal_event_del(&self->input.event);
    if (room == 0 || in_background()) {
        input_resume();
        return;
    }
    ssize_t n = read(self->input.fd, bytes, room < sizeof bytes ? room : sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        input_resume();
        return;
    }
    self->input.ended = n <= 0;
    if (n > 0)
        input_window_read(&self->input.window, (size_t)n);
    input_send_to_all(bytes, n > 0 ? (size_t)n : 0);
    input_resume();
}

void input_begin(int fd)
{
    const orte_job_t *job = orte_get_job_data_object(self->output.job);
    if (self->input.begun || fd < 0 || job == NULL)
        return;
    for (unsigned lane = 0; lane < self->output.lanes && lane < INPUT_WINDOW_LANES; lane++) {
        const orte_proc_t *p = input_copy(lane);
        if (p != NULL && !survive_gone(&p->name))
            input_window_open(&self->input.window, lane);
    }
    self->input.fd = fd;
    self->input.begun = true;
    const bool always = orte_iof_base_fd_always_ready(fd);
    opal_event_set(orte_event_base, &self->input.event, always ? -1 : fd, always ? 0 : OPAL_EV_READ,
                   input_on_readable, NULL);
    opal_event_set_priority(&self->input.event, ORTE_MSG_PRI);
    input_resume();
}

void input_lose(unsigned lane)
{
    if (lane < INPUT_WINDOW_LANES)
        input_window_close(&self->input.window, lane);
    input_resume();
}

void input_passed(unsigned lane, uint64_t bytes, bool closed)
{
    (void)input_window_passed(&self->input.window, lane, bytes);
    if (closed)
        input_lose(lane);
    else
        input_resume();
}

void input_stop(void)
{
    if (self->input.pending)
        opal_event_del(&self->input.event);
    self->input.pending = false;
    self->input.ended = true;
}
