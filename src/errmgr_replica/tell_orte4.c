/* SPDX-License-Identifier: BSD-3-Clause */
/* tell_orte4.c -- mpirun tells the local daemon where its ranks run and what becomes of them, for
 * PMIx tools and whoever asks. The job never waits for it, and does without when it fails. */
#include "src/ras_p2p/ras_p2p.h"
#include "errmgr_replica.h"
#include "src/survive/told.h"
#include "overlay/client/words.h"
#include <errno.h>

enum { TOGETHER_MS = 50 }; /* what happens at once is told at once, and after a refusal again */

static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;

static void later(void)
{
    struct timeval t = {.tv_usec = TOGETHER_MS * 1000};
    if (!self->tell.waiting)
        opal_event_evtimer_add(&self->tell.timer, &t);
    self->tell.waiting = true;
}

/* The connection is another thread's while that asks for peers. */
static struct client *listener(void)
{
    return ras_grid() != NULL && !grid_busy(ras_grid()) ? grid_client(ras_grid()) : NULL;
}

static int introduce(struct client *c, bool over, int status)
{
    struct grid_job is = {.ranks = self->tell.ranks,
                          .lanes = self->tell.lanes,
                          .over = over,
                          .status = status,
                          .program = self->tell.program};
    if (mca_ras_p2p_component.within)
        is.within = &mca_ras_p2p_component.allocation;
    const int rc = client_tell_job(c, &is);
    self->tell.introduced |= rc == 0;
    return rc;
}

/* 0, -EAGAIN, or the connection has ended. */
static int tell_news(struct client *c)
{
    struct grid_place row[GRID_PLACES];
    size_t count;
    int rc = self->tell.introduced ? 0 : introduce(c, false, 0);
    while (rc == 0 && (count = told_news(self->tell.told, row, GRID_PLACES)) > 0) {
        rc = client_tell_places(c, row, count);
        if (rc == 0)
            told_done(self->tell.told, row, count);
    }
    return rc;
}

static void on_timer(int fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    struct client *c = listener();
    self->tell.waiting = false;
    if (ras_grid() != NULL && (c == NULL || tell_news(c) == -EAGAIN))
        later();
}

void tell_place(const orte_proc_t *p, unsigned char state)
{
    const struct ras_p2p_node *node = p->node != NULL ? ras_p2p_find(p->node) : NULL;
    struct grid_place place = {.state = state};
    if (self->tell.told == NULL || node == NULL || ORTE_LOCAL_JOBID(p->name.jobid) != 1 ||
        !survive_place(&p->name, self->tell.ranks, &place.rank, &place.lane))
        return;
    place.peer = node->lease.peer;
    memcpy(place.name, node->lease.name, sizeof place.name);
    told_set(self->tell.told, &place);
    later();
}

void tell_begin(const orte_job_t *job)
{
    const orte_app_context_t *app = opal_pointer_array_get_item(job->apps, 0);
    if (self->tell.told != NULL || ORTE_LOCAL_JOBID(job->jobid) != 1)
        return;
    self->tell.ranks = survive_ranks(job);
    self->tell.lanes = level_lanes(&self->level, self->tell.ranks);
    self->tell.told = told_new(self->tell.ranks, self->tell.lanes);
    snprintf(self->tell.program, sizeof self->tell.program, "%s", app != NULL ? app->app : "");
    opal_event_evtimer_set(orte_event_base, &self->tell.timer, on_timer, NULL);
    for (int i = 0; i < job->procs->size; i++) {
        const orte_proc_t *p = opal_pointer_array_get_item(job->procs, i);
        if (p != NULL)
            tell_place(p, PLACE_RUNS);
    }
}

void tell_end(void)
{
    struct client *c = listener();
    if (self->tell.told == NULL)
        return;
    opal_event_evtimer_del(&self->tell.timer);
    if (c != NULL && tell_news(c) == 0)
        (void)introduce(c, true, self->hnp.ending ? self->hnp.status : orte_exit_status);
    told_free(self->tell.told);
    self->tell.told = NULL;
}
