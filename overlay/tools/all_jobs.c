/* SPDX-License-Identifier: BSD-3-Clause */
/* all_jobs.c -- asks the daemon for the jobs of the whole grid, and shows them. */
#include "all_jobs.h"
#include "moment.h"
#include "own_jobs.h"
#include "overlay/json/rows.h"
#include "overlay/client/words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_MS = 10000, GRACE_MS = 3000 };

void all_jobs_take(struct all_jobs *all, const struct message *m)
{
    if (m->kind != MSG_local_grid_job)
        return;
    if (all->count == all->most) {
        const size_t most = all->most == 0 ? 64 : 2 * all->most;
        struct msg_local_grid_job *more = realloc(all->at, most * sizeof *more);
        if (more == NULL)
            return;
        all->at = more;
        all->most = most;
    }
    all->at[all->count++] = m->local_grid_job;
}

/* Those that wait come last, in the order in which they get slots. */
static int by_desktop(const void *a, const void *b)
{
    const struct msg_local_grid_job *x = a, *y = b;
    const bool x_waits = x->job.state == GRID_JOB_WAITS, y_waits = y->job.state == GRID_JOB_WAITS;
    if (x_waits != y_waits)
        return x_waits ? 1 : -1;
    if (x_waits && x->job.place != y->job.place)
        return x->job.place < y->job.place ? -1 : 1;
    if (x->own != y->own)
        return x->own ? -1 : 1;
    if (strcmp(x->from, y->from) != 0)
        return strcmp(x->from, y->from);
    return x->job.age_ms > y->job.age_ms ? -1 : x->job.age_ms < y->job.age_ms;
}

static void all_jobs_row(void *ctx, const struct message *m)
{
    all_jobs_take(ctx, m);
}

void all_jobs_done(struct all_jobs *all, const struct msg_local_done *done)
{
    all->silent = done->silent;
    all->old = done->spares;
    memcpy(all->note, done->reason, sizeof all->note);
    if (all->count > 0)
        qsort(all->at, all->count, sizeof all->at[0], by_desktop);
}

int all_jobs_ask(struct all_jobs *all, struct client *c, struct err *e)
{
    struct message question = {.kind = MSG_local_grid_jobs, .local_grid_jobs.timeout_ms = ASK_MS};
    struct msg_local_done done;
    *all = (struct all_jobs){0};
    const int rc = client_ask(c, &question, ASK_MS + GRACE_MS, all_jobs_row, all, &done, e);
    if (rc == 0)
        all_jobs_done(all, &done);
    return rc;
}

void all_jobs_clear(struct all_jobs *all)
{
    free(all->at);
    *all = (struct all_jobs){0};
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

void all_jobs_size(const struct part_grid_job *j, char *out, size_t size)
{
    if (j->ranks == 0)
        snprintf(out, size, "%u slot%s", j->slots, plural(j->slots));
    else if (j->lanes > 1)
        snprintf(out, size, "%u ranks x %u", j->ranks, (unsigned)j->lanes);
    else
        snprintf(out, size, "%u rank%s", j->ranks, plural(j->ranks));
}

/* Counts: p2pctl top has no room for names. */
void all_jobs_where(const struct part_grid_job *j, char *out, size_t size)
{
    if (j->state == GRID_JOB_WAITS)
        snprintf(out, size, "place %u, %u free", j->place, j->free);
    else if (j->lost > 0)
        snprintf(out, size, "%u peer%s, %u lost", j->peers, plural(j->peers), j->lost);
    else
        snprintf(out, size, "%u peer%s", j->peers, plural(j->peers));
}

static void name_where(const struct part_grid_job *j, char *out, size_t size)
{
    if (j->state == GRID_JOB_WAITS)
        all_jobs_where(j, out, size);
    else
        own_job_where(j->where, j->peers, j->lost, out, size);
}

static void print_row(const char *job, const char *desktop, const char *user, const char *state,
                      const char *since, const char *size, const char *where, int width,
                      const char *program)
{
    printf("%-16s %-12s %-10s %-8s %9s  %-13s %-*s %s\n", job, desktop, user, state, since, size,
           width, where, program);
}

static void print_job(const struct msg_local_grid_job *row, int width)
{
    const struct part_grid_job *j = &row->job;
    char span[24], size[32], where[OWN_JOB_WHERE], name[20];
    snprintf(name, sizeof name, "%.16s", j->name[0] != '\0' ? j->name : "-");
    all_jobs_size(j, size, sizeof size);
    name_where(j, where, sizeof where);
    print_row(name, row->from[0] != '\0' ? row->from : "-", j->user, grid_job_state_text(j),
              moment_span(j->age_ms / 1000, span), size, where, width,
              j->program[0] != '\0' ? j->program : "-");
}

static int where_width(const struct all_jobs *all)
{
    enum { LEAST = 16 };
    char where[OWN_JOB_WHERE];
    int width = LEAST;
    for (size_t i = 0; i < all->count; i++) {
        name_where(&all->at[i].job, where, sizeof where);
        width = (int)strlen(where) > width ? (int)strlen(where) : width;
    }
    return width;
}

void all_jobs_print(const struct all_jobs *all)
{
    const struct tool_style style = tool_style(stdout);
    const int width = where_width(all);
    if (all->count == 0)
        puts("nothing runs on the grid");
    else {
        fputs(style.bold, stdout);
        print_row("job", "desktop", "user", "state", "since", "size", "where", width, "program");
        fputs(style.end, stdout);
    }
    for (size_t i = 0; i < all->count; i++)
        print_job(&all->at[i], width);
    if (all->silent > 0)
        printf("%u peer%s did not answer\n", all->silent, plural(all->silent));
    if (all->old > 0)
        printf("%u peer%s %s an older p2pgrid, which does not tell of jobs\n", all->old,
               plural(all->old), all->old == 1 ? "has" : "have");
    tool_print_lines(all->note);
}

json_t *all_jobs_json(const struct all_jobs *all)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < all->count; i++)
        json_array_append_new(rows, json_of_grid_job(&all->at[i]));
    return rows;
}
