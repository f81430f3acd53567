/* SPDX-License-Identifier: BSD-3-Clause */
/* tap_orte4.c -- the output of processes that mpirun started on its own host, which no orted
 * forwards. */
#include "iof_replica.h"
#include "orte/constants.h"
#include "orte/mca/state/state.h"
#include "orte/util/name_fns.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct tap {
    struct tap *next;
    orte_process_name_t name;
    orte_iof_tag_t stream;
    int fd;
    opal_event_t event;
};

static struct iof_replica_component *const self = &mca_iof_replica_component;

static bool tap_any_open(const orte_process_name_t *name)
{
    for (const struct tap *t = self->taps; t != NULL; t = t->next)
        if (is_same_process(&t->name, name))
            return true;
    return false;
}

static void tap_shut(struct tap *t)
{
    struct tap **at = &self->taps;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    opal_event_del(&t->event);
    close(t->fd);
    free(t);
}

static void tap_on_readable(int fd, short what, void *context)
{
    (void)what;
    struct tap *t = context;
    orte_process_name_t name = t->name;
    char bytes[ORTE_IOF_BASE_MSG_MAX];
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n > 0)
        (void)output_take(&name, t->stream, bytes, (size_t)n);
    if (n > 0 && self->only_output && !output_quiet(&name, t->stream))
        output_show_stock(&name, t->stream, bytes, (size_t)n);
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return; /* the event is persistent */
    tap_shut(t);
    if (!tap_any_open(&name))
        ORTE_ACTIVATE_PROC_STATE(&name, ORTE_PROC_STATE_IOF_COMPLETE);
}

int tap_open(const orte_process_name_t *name, orte_iof_tag_t stream, int fd)
{
    struct tap *t = calloc(1, sizeof *t);
    if (t == NULL)
        return ORTE_ERR_OUT_OF_RESOURCE;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL, 0) | O_NONBLOCK);
    *t = (struct tap){.next = self->taps, .name = *name, .stream = stream, .fd = fd};
    self->taps = t;
    opal_event_set(orte_event_base, &t->event, fd, OPAL_EV_READ | OPAL_EV_PERSIST, tap_on_readable,
                   t);
    opal_event_set_priority(&t->event, ORTE_MSG_PRI);
    opal_event_add(&t->event, NULL);
    return ORTE_SUCCESS;
}

void tap_close(const orte_process_name_t *name)
{
    for (struct tap *t = self->taps, *next; t != NULL; t = next) {
        next = t->next;
        if (is_same_process(&t->name, name))
            tap_shut(t);
    }
}
