/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.c -- the questions that are put to the daemon, each at its pace. */
#include "feed.h"
#include "overlay/base/clock.h"
#include "overlay/client/ask.h"
#include "overlay/client/words.h"
#include "overlay/tools/moment.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EACH_MS = 1000,
    MEMBERS_MS = 30000,
    HISTORY_MS = 5000,
    /* The jobs of everybody take a message to each peer: in large grids they are asked for less
     * often. (Of the peers themselves the daemon has a list.) */
    GRID_MS = 2000,
    GRID_PEER_MS = 20,
    GRID_PATIENCE_MS = 5000,
    WATCH_MS = 4000,
    PAST_EVENTS = 64,
    OFTEN = OVERVIEW_ALL & ~OVERVIEW_MEMBERS,
};

enum question { ASK_OVERVIEW, ASK_MEMBERS, ASK_GRID, ASK_HISTORY, QUESTIONS };

struct asked {
    uint32_t token; /* 0: no answer is awaited */
    uint64_t due_ms;
    bool answered; /* once */
};

struct feed {
    struct top_state *state;
    const char *socket;
    struct client *client; /* NULL: it went away */
    uint64_t dial_ms;      /* then: when it is called again */
    struct asked asked[QUESTIONS];
    struct own_jobs jobs; /* from here on: the answers that come */
    struct all_jobs grid;
    struct msg_local_granted lent[LEASE_MAX];
    size_t lent_count;
    struct msg_local_transfer transfers[TOP_TRANSFERS];
    size_t transfer_count;
    struct msg_local_past history[TOP_HISTORY];
    size_t history_count;
    uint64_t walked_ms;
    bool changed;
};

/* --- answers --- */

static void feed_granted(struct feed *f, const struct msg_local_granted *l)
{
    if (f->lent_count < LEASE_MAX && !id_equal(&l->holder, &f->state->self.ad.peer.id))
        f->lent[f->lent_count++] = *l;
}

static void feed_overview_done(struct feed *f)
{
    struct top_state *s = f->state;
    memcpy(s->lent, f->lent, f->lent_count * sizeof s->lent[0]);
    s->lent_count = f->lent_count;
    memcpy(s->transfers, f->transfers, f->transfer_count * sizeof s->transfers[0]);
    s->transfer_count = f->transfer_count;
    top_state_jobs(s, &f->jobs);
    top_state_told(s, f->walked_ms);
}

static void feed_grid_done(struct feed *f, const struct msg_local_done *done)
{
    all_jobs_done(&f->grid, done);
    all_jobs_clear(&f->state->grid);
    f->state->grid = f->grid;
    f->grid = (struct all_jobs){0};
}

static void feed_done(struct feed *f, enum question q, const struct msg_local_done *done)
{
    struct asked *a = &f->asked[q];
    a->token = 0;
    a->answered = q != ASK_OVERVIEW || f->walked_ms != 0;
    if (q == ASK_OVERVIEW && done->code == 0)
        feed_overview_done(f);
    if (q == ASK_GRID)
        a->due_ms = clock_ms() + GRID_MS + GRID_PEER_MS * f->state->peer_count;
    if (q == ASK_GRID && done->code == 0)
        feed_grid_done(f, done);
    if (q == ASK_HISTORY && done->code == 0) {
        memcpy(f->state->history, f->history, f->history_count * sizeof f->history[0]);
        f->state->history_count = f->history_count;
    }
}

static void feed_row(struct feed *f, const struct message *m)
{
    struct top_state *s = f->state;
    if (m->kind == MSG_local_self)
        s->self = m->local_self;
    else if (m->kind == MSG_local_granted)
        feed_granted(f, &m->local_granted);
    else if (m->kind == MSG_local_terms)
        s->terms = *m->local_terms;
    else if (m->kind == MSG_local_member)
        top_state_member(s, &m->local_member);
    else if (m->kind == MSG_local_peer)
        top_state_met(s, &m->local_peer, moment_now_ms());
    else if (m->kind == MSG_local_transfer && f->transfer_count < TOP_TRANSFERS)
        f->transfers[f->transfer_count++] = m->local_transfer;
    else if (m->kind == MSG_local_past && f->history_count < TOP_HISTORY)
        f->history[f->history_count++] = m->local_past;
    else if (m->kind == MSG_local_totals)
        f->walked_ms = m->local_totals.walked_ms;
    else if (m->kind == MSG_local_grid_job)
        all_jobs_take(&f->grid, m);
    else
        own_jobs_take(&f->jobs, m);
}

static void feed_answer(void *ctx, const struct message *m)
{
    struct feed *f = ctx;
    const uint32_t token = message_token(m);
    f->changed = true;
    for (int q = 0; q < QUESTIONS; q++) {
        if (token == 0 || f->asked[q].token != token)
            continue;
        if (m->kind == MSG_local_done)
            feed_done(f, (enum question)q, &m->local_done);
        else
            feed_row(f, m);
        return;
    }
}

static void feed_notice(void *ctx, const struct message *m)
{
    struct feed *f = ctx;
    f->changed = true;
    top_state_notice(f->state, &m->local_notice);
}

/* --- the connection --- */

static void feed_hang_up(struct feed *f, const char *why)
{
    client_close(f->client);
    f->client = NULL;
    memset(f->asked, 0, sizeof f->asked);
    f->walked_ms = 0;
    own_jobs_clear(&f->jobs);
    all_jobs_clear(&f->grid);
    f->dial_ms = clock_ms() + EACH_MS;
    f->changed = true;
    if (f->state->gone_ms == 0) {
        f->state->gone_ms = moment_now_ms();
        top_state_event(f->state, f->state->gone_ms, true, why);
    }
    snprintf(f->state->gone_why, sizeof f->state->gone_why, "%s", why);
}

static void no_row(void *ctx, const struct message *m)
{
    (void)ctx, (void)m;
}

static int feed_dial(struct feed *f, struct err *e)
{
    struct message watch = {.kind = MSG_local_watch, .local_watch.past = PAST_EVENTS};
    struct msg_local_done done;
    int rc = client_open(&f->client, f->socket, e);
    if (rc != 0)
        return rc;
    client_on_notice(f->client, feed_notice, f);
    client_on_answer(f->client, feed_answer, f);
    rc = client_ask(f->client, &watch, WATCH_MS, no_row, NULL, &done, e);
    if (rc != 0 || f->state->gone_ms == 0)
        return rc;
    f->state->gone_ms = 0;
    top_state_event(f->state, moment_now_ms(), false, "p2pd answers again");
    return 0;
}

static void feed_redial(struct feed *f)
{
    struct err e = {0};
    if (clock_ms() < f->dial_ms)
        return;
    f->changed = true;
    if (feed_dial(f, &e) != 0)
        feed_hang_up(f, e.text);
}

/* --- questions --- */

static void question_of(enum question q, struct message *m)
{
    memset(m, 0, sizeof *m);
    m->kind = q == ASK_GRID      ? MSG_local_grid_jobs
              : q == ASK_HISTORY ? MSG_local_history
                                 : MSG_local_overview;
    if (q == ASK_HISTORY)
        m->local_history.most = TOP_HISTORY;
    else if (q == ASK_GRID)
        m->local_grid_jobs.timeout_ms = GRID_PATIENCE_MS;
    else
        m->local_overview.parts = q == ASK_MEMBERS ? OVERVIEW_MEMBERS : OFTEN;
}

static void feed_forget(struct feed *f, enum question q)
{
    if (q == ASK_OVERVIEW) {
        f->lent_count = f->transfer_count = 0;
        own_jobs_clear(&f->jobs);
    }
    if (q == ASK_GRID)
        all_jobs_clear(&f->grid);
    if (q == ASK_HISTORY)
        f->history_count = 0;
}

static int feed_put(struct feed *f, enum question q, struct err *e)
{
    struct message *m = malloc(sizeof *m);
    if (m == NULL)
        return err_set(e, ENOMEM, "out of memory");
    question_of(q, m);
    feed_forget(f, q);
    const int64_t token = client_put(f->client, m, e);
    free(m);
    if (token < 0)
        return (int)token;
    f->asked[q].token = (uint32_t)token;
    f->asked[q].due_ms = clock_ms() + (q == ASK_MEMBERS   ? MEMBERS_MS
                                       : q == ASK_HISTORY ? HISTORY_MS
                                                          : EACH_MS);
    return 0;
}

static void feed_ask(struct feed *f)
{
    struct err e = {0};
    const uint64_t now = clock_ms();
    for (int q = 0; q < QUESTIONS; q++)
        if (f->asked[q].token == 0 && f->asked[q].due_ms <= now &&
            feed_put(f, (enum question)q, &e) != 0) {
            feed_hang_up(f, e.text);
            return;
        }
}

bool feed_step(struct feed *f, bool paused)
{
    struct grid_event event;
    f->changed = false;
    if (f->client == NULL)
        feed_redial(f);
    while (f->client != NULL && client_event(f->client, &event) == 1)
        if (event.kind == GRID_DAEMON_GONE)
            feed_hang_up(f, event.text);
    if (f->client != NULL && !paused)
        feed_ask(f);
    return f->changed;
}

bool feed_is_full(const struct feed *f)
{
    for (int q = 0; q < QUESTIONS; q++)
        if (!f->asked[q].answered)
            return false;
    return true;
}

int feed_fd(const struct feed *f)
{
    return f->client != NULL ? client_fd(f->client) : -1;
}

int feed_open(struct feed **out, struct top_state *state, const char *socket, struct err *e)
{
    struct feed *f = calloc(1, sizeof *f);
    *out = f;
    if (f == NULL)
        return err_set(e, ENOMEM, "out of memory");
    f->state = state;
    f->socket = socket;
    const int rc = feed_dial(f, e);
    if (rc == 0)
        return 0;
    feed_close(f);
    *out = NULL;
    return rc;
}

void feed_close(struct feed *f)
{
    if (f == NULL)
        return;
    client_close(f->client);
    own_jobs_clear(&f->jobs);
    all_jobs_clear(&f->grid);
    free(f);
}
