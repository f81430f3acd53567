/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_files.c -- the files that a job's manifest names come before its command is started. */
#include "grant_state.h"
#include "overlay/base/log.h"
#include "overlay/files/fetcher.h"
#include "overlay/manifest/manifest.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>

static void on_progress(void *ctx, uint64_t have, uint64_t all)
{
    const struct grant_job *job = ctx;
    struct grant *g = job->grant;
    const size_t row = grant_row(job);
    struct message m = {
        .kind = MSG_lease_fetching,
        .lease_fetching = {.lease = g->lend.table.at[row].id, .have = have, .all = all}};
    grant_send(g, &g->lend.granted[row].holder, &m);
}

static void on_fetched(void *ctx, struct tree *tree, const struct err *why)
{
    struct grant_job *job = ctx;
    struct grant *g = job->grant;
    struct err e = *why;
    job->fetching = NULL;
    job->tree = tree;
    if (tree != NULL && grant_start(g, grant_row(job), &e) == 0)
        return;
    log_warn(g->node->log, "a job is not started: %s", e.text);
    grant_step(
        g, &(struct lend_event){.kind = LEND_NOT_STARTED, .row = grant_row(job), .text = e.text});
}

int grant_fetch(struct grant *g, size_t row, const struct link_peer *from, struct err *e)
{
    struct grant_job *job = &g->jobs[row];
    const struct msg_manifest *m = manifest_job(job->manifest);
    const struct fetcher_calls calls = {on_progress, on_fetched, job};
    const bool guest = g->lend.granted[row].guest;
    char about[256];
    snprintf(about, sizeof about, "%.31s at %.63s: %.150s", g->lend.table.at[row].user,
             from->card->name, m->job_folder);
    return fetcher_fetch(g->parts.fetcher, &m->files, &from->peer,
                         guest ? g->node->settings.disk : 0, about, &calls, &job->fetching, e);
}

static void on_stopped(evutil_socket_t fd, short what, void *ctx)
{
    struct grant_job *job = ctx;
    (void)fd, (void)what;
    grant_step(job->grant, &(struct lend_event){.kind = LEND_OVER,
                                                .row = grant_row(job),
                                                .cause = LEASE_REVOKED,
                                                .text = "its files were still on their way"});
}

/* Nothing runs yet; but its end is told from the event loop, as that of what runs is. */
void grant_stop_fetching(struct grant *g, size_t row)
{
    struct grant_job *job = &g->jobs[row];
    if (job->fetching == NULL)
        return;
    fetcher_cancel(job->fetching);
    job->fetching = NULL;
    job->stopped = evtimer_new(g->node->base, on_stopped, job);
    if (job->stopped != NULL)
        evtimer_add(job->stopped, &(struct timeval){0});
}

void grant_forget_job(struct grant *g, size_t row)
{
    struct grant_job *job = &g->jobs[row];
    if (job->fetching != NULL)
        fetcher_cancel(job->fetching);
    if (job->stopped != NULL)
        event_free(job->stopped);
    if (job->tree != NULL)
        tree_release(job->tree);
    manifest_free(job->manifest);
    *job = (struct grant_job){.grant = g};
}
