/* SPDX-License-Identifier: BSD-3-Clause */
/* report_orte4.c -- mpirun tells the local daemon where its ranks run and what becomes of them, for
 * PMIx tools and other users. The job never waits for it, and does without when it fails. */
#include "src/ras_p2p/ras_p2p.h"
#include "errmgr_replica.h"
#include "src/survive/place_updates.h"
#include "overlay/client/words.h"
#include <errno.h>
#include <stdlib.h>

enum {
    TOGETHER_MS = 50, /* what happens at once is told at once, and after a refusal again */
    PRINTED_MS = 400, /* of what is printed meanwhile, no more than is kept is told */
};

static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;

static void report_later(void)
{
    struct timeval t = {.tv_usec = TOGETHER_MS * 1000};
    if (!self->report.waiting)
        opal_event_evtimer_add(&self->report.timer, &t);
    self->report.waiting = true;
}

/* The connection is another thread's while that asks for peers. */
static struct client *report_connection(void)
{
    return ras_grid() != NULL && !grid_busy(ras_grid()) ? grid_client(ras_grid()) : NULL;
}

static int report_job(struct client *c, bool over, int status)
{
    struct grid_job is = {.ranks = self->report.ranks,
                          .lanes = self->report.lanes,
                          .over = over,
                          .status = status,
                          .program = self->report.program};
    if (mca_ras_p2p_component.within)
        is.within = &mca_ras_p2p_component.allocation;
    const int rc = client_tell_job(c, &is);
    self->report.introduced |= rc == 0;
    return rc;
}

/* 0, -EAGAIN, or the connection has ended. */
static int report_updates(struct client *c)
{
    struct grid_place row[GRID_PLACES];
    size_t count;
    int rc = self->report.introduced ? 0 : report_job(c, false, 0);
    while (rc == 0 && (count = place_updates_pending(self->report.updates, row, GRID_PLACES)) > 0) {
        rc = client_tell_places(c, row, count);
        if (rc == 0)
            place_updates_sent(self->report.updates, row, count);
    }
    return rc;
}

/* The first word on it says how much is kept, also while nothing was printed yet. */
static int report_output(struct client *c)
{
    static uint8_t piece[GRID_OUTPUT];
    const struct recent *output = &self->report.output;
    int rc = 0;
    while (rc == 0 && output->most > 0 &&
           (!self->report.output_begun || self->report.output_told < output->all)) {
        uint64_t from = self->report.output_told;
        const size_t count = recent_read(output, &from, piece, sizeof piece);
        rc = client_tell_output(c, output->most, from, piece, count);
        if (rc == 0)
            self->report.output_told = from + count;
        self->report.output_begun |= rc == 0;
    }
    return rc;
}

static void report_output_later(void)
{
    struct timeval t = {.tv_usec = PRINTED_MS * 1000};
    if (!self->report.output_waiting)
        opal_event_evtimer_add(&self->report.output_timer, &t);
    self->report.output_waiting = true;
}

static void report_on_output_timer(int fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    struct client *c = report_connection();
    self->report.output_waiting = false;
    if (ras_grid() != NULL &&
        (c == NULL || !self->report.introduced || report_output(c) == -EAGAIN))
        report_output_later();
}

void survive_printed(const void *bytes, size_t count)
{
    if (self->report.updates == NULL || self->report.output.most == 0)
        return;
    recent_add(&self->report.output, bytes, count);
    report_output_later();
}

static void report_on_timer(int fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    struct client *c = report_connection();
    self->report.waiting = false;
    if (ras_grid() != NULL && (c == NULL || report_updates(c) == -EAGAIN))
        report_later();
}

void report_place(const orte_proc_t *p, unsigned char state)
{
    const struct ras_p2p_node *node = p->node != NULL ? ras_p2p_find(p->node) : NULL;
    struct grid_place place = {.state = state};
    if (self->report.updates == NULL || node == NULL || ORTE_LOCAL_JOBID(p->name.jobid) != 1 ||
        !survive_place(&p->name, self->report.ranks, &place.rank, &place.lane))
        return;
    place.peer = node->lease.peer;
    memcpy(place.name, node->lease.name, sizeof place.name);
    place_updates_set(self->report.updates, &place);
    report_later();
}

static void report_keep_output(void)
{
    const size_t keep = mca_ras_p2p_component.keep;
    opal_event_evtimer_set(orte_event_base, &self->report.output_timer, report_on_output_timer,
                           NULL);
    self->report.output = (struct recent){.at = keep > 0 ? malloc(keep) : NULL};
    self->report.output.most = self->report.output.at != NULL ? keep : 0;
    report_output_later();
}

void report_begin(const orte_job_t *job)
{
    const orte_app_context_t *app = opal_pointer_array_get_item(job->apps, 0);
    if (self->report.updates != NULL || ORTE_LOCAL_JOBID(job->jobid) != 1)
        return;
    self->report.ranks = survive_ranks(job);
    self->report.lanes = level_lanes(&self->level, self->report.ranks);
    self->report.updates = place_updates_new(self->report.ranks, self->report.lanes);
    snprintf(self->report.program, sizeof self->report.program, "%s", app != NULL ? app->app : "");
    opal_event_evtimer_set(orte_event_base, &self->report.timer, report_on_timer, NULL);
    report_keep_output();
    for (int i = 0; i < job->procs->size; i++) {
        const orte_proc_t *p = opal_pointer_array_get_item(job->procs, i);
        if (p != NULL)
            report_place(p, PLACE_RUNS);
    }
}

void report_end(void)
{
    struct client *c = report_connection();
    if (self->report.updates == NULL)
        return;
    const int status = self->hnp.ending ? self->hnp.status : orte_exit_status;
    opal_event_evtimer_del(&self->report.timer);
    opal_event_evtimer_del(&self->report.output_timer);
    if (status != 0)
        iof_replica_reveal();
    if (c != NULL && report_updates(c) == 0) {
        (void)report_output(c);
        (void)report_job(c, true, status);
    }
    free(self->report.output.at);
    self->report.output = (struct recent){0};
    place_updates_free(self->report.updates);
    self->report.updates = NULL;
}
