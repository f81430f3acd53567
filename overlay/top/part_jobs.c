/* SPDX-License-Identifier: BSD-3-Clause */
/* part_jobs.c -- the jobs, and which rank is where in each lane. */
#include "part.h"
#include "overlay/json/rows.h"
#include "overlay/client/words.h"
#include "overlay/tools/moment.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 17, STATE = 9, SINCE = 10, SIZE = 14, WHERE = 17, RANK = 6, LANE_MOST = 26 };

static void put_columns(struct sheet *out, unsigned row, enum tint tint, const char *const cell[6])
{
    static const unsigned width[6] = {NAME, STATE, SINCE, SIZE, WHERE, SHEET_WIDTH_MAX};
    unsigned column = 0;
    for (int i = 0; i < 6; column += width[i++])
        sheet_put(out, row, column, width[i] - 1, tint, cell[i]);
}

static const char *size_text(const struct own_job *j, char out[32])
{
    if (j->is.lanes > 1)
        snprintf(out, 32, "%u ranks x %u", j->is.ranks, (unsigned)j->is.lanes);
    else
        snprintf(out, 32, "%u rank%s", j->is.ranks, j->is.ranks == 1 ? "" : "s");
    return out;
}

static const char *where_text(const struct own_job *j, char out[48])
{
    const unsigned lost = own_job_lost(j), peers = own_job_peers(j);
    snprintf(out, 48, lost > 0 ? "%u peer%s, %u lost" : "%u peer%s", peers, peers == 1 ? "" : "s",
             lost);
    return out;
}

static void put_job(struct sheet *out, unsigned row, const struct own_job *j, uint64_t now_ms)
{
    char span[24], size[32], where[48];
    const uint64_t s = now_ms > j->is.began_ms ? (now_ms - j->is.began_ms) / 1000 : 0;
    put_columns(out, row, own_job_lost(j) > 0 ? TINT_BAD : TINT_PLAIN,
                (const char *const[6]){j->is.name, own_job_state(j), moment_span(s, span),
                                       size_text(j, size), where_text(j, where), j->is.program});
}

/* --- ranks x lanes --- */

static const char *cell_text(const struct own_job *j, unsigned rank, unsigned lane, char out[96])
{
    static const char *const state[] = {[PLACE_LOST] = " lost", [PLACE_FINISHED] = " finished"};
    const struct part_place *p = own_job_place(j, rank, lane);
    const bool leads = j->is.lanes > 1 && lane == own_job_leader(j, rank);
    if (p->state < PLACE_RUNS || p->state > PLACE_FINISHED)
        return "-";
    snprintf(out, 96, "%s%s%s", leads ? "*" : "", p->name,
             p->state == PLACE_RUNS ? "" : state[p->state]);
    return out;
}

static unsigned lane_width(const struct own_job *j, const struct sheet *out)
{
    const unsigned fair = (out->width - RANK - 2) / (j->is.lanes > 0 ? j->is.lanes : 1);
    return fair < LANE_MOST ? fair : LANE_MOST;
}

static void put_lanes(struct sheet *out, unsigned row, const struct own_job *j)
{
    const unsigned width = lane_width(j, out);
    sheet_put_right(out, row, 0, RANK, TINT_DIM, "rank");
    for (unsigned lane = 0; lane < j->is.lanes; lane++) {
        char text[24];
        snprintf(text, sizeof text, "lane %u", lane);
        sheet_put(out, row, RANK + 2 + lane * width, width, TINT_DIM, text);
    }
}

static void put_rank(struct sheet *out, unsigned row, const struct own_job *j, unsigned rank)
{
    const unsigned width = lane_width(j, out);
    char text[96];
    snprintf(text, sizeof text, "%u", rank);
    sheet_put_right(out, row, 0, RANK, TINT_PLAIN, text);
    for (unsigned lane = 0; lane < j->is.lanes && width > 1; lane++)
        sheet_put(out, row, RANK + 2 + lane * width, width - 1,
                  own_job_place(j, rank, lane)->state == PLACE_LOST ? TINT_BAD : TINT_PLAIN,
                  cell_text(j, rank, lane, text));
}

unsigned part_job(const struct own_job *j, size_t from, uint64_t now_ms, const struct part_area *a)
{
    char line[512], span[24], size[32], where[48];
    unsigned used = 2;
    const uint64_t s = now_ms > j->is.began_ms ? (now_ms - j->is.began_ms) / 1000 : 0;
    if (a->rows < 3)
        return 0;
    snprintf(line, sizeof line, "%.63s %s for %s: %s on %s: %.255s", j->is.name, own_job_state(j),
             moment_span(s, span), size_text(j, size), where_text(j, where), j->is.program);
    sheet_put(a->sheet, a->row, 0, a->sheet->width, TINT_BOLD, line);
    put_lanes(a->sheet, a->row + 1, j);
    for (size_t rank = from; rank < j->is.ranks && used < a->rows; rank++)
        put_rank(a->sheet, a->row + used++, j, (unsigned)rank);
    return used;
}

/* --- the list above, the chosen one below --- */

struct listed {
    const struct own_job *own; /* or, of another desktop, or that waits: */
    const struct msg_local_grid_job *other;
};

static void put_other(struct sheet *out, unsigned row, const struct msg_local_grid_job *g)
{
    char span[24], size[32], where[48], what[384];
    all_jobs_size(&g->job, size, sizeof size);
    all_jobs_where(&g->job, where, sizeof where);
    snprintf(what, sizeof what, "%s of %s%s%s", g->job.user,
             g->from[0] != '\0' ? g->from : "another desktop",
             g->job.program[0] != '\0' ? ": " : "", g->job.program);
    put_columns(out, row, TINT_PLAIN,
                (const char *const[6]){g->job.name[0] != '\0' ? g->job.name : "-",
                                       grid_job_state_text(&g->job),
                                       moment_span(g->job.age_ms / 1000, span), size, where, what});
}

static bool other_shown(const struct top_view *v, const struct msg_local_grid_job *g)
{
    return part_shows(v, g->job.name) || part_shows(v, g->job.program) ||
           part_shows(v, g->job.user) || part_shows(v, g->from);
}

/* malloc'd */
static struct listed *jobs_listed(const struct top_state *s, const struct top_view *v,
                                  size_t *count)
{
    struct listed *all = calloc(s->jobs.count + s->grid.count + 1, sizeof *all);
    *count = 0;
    for (size_t i = 0; all != NULL && i < s->jobs.count; i++)
        if (part_shows(v, s->jobs.at[i].is.name) || part_shows(v, s->jobs.at[i].is.program))
            all[(*count)++].own = &s->jobs.at[i];
    for (size_t i = 0; all != NULL && i < s->grid.count; i++)
        if (top_is_other(s, &s->grid.at[i]) && other_shown(v, &s->grid.at[i]))
            all[(*count)++].other = &s->grid.at[i];
    return all;
}

static void put_chosen(const struct listed *chosen, struct top_view *v, uint64_t now_ms,
                       const struct part_area *a)
{
    const unsigned ranks = a->rows > 2 ? a->rows - 2 : 0;
    if (chosen->own == NULL) {
        sheet_put(a->sheet, a->row, 0, a->sheet->width, TINT_DIM,
                  "where its ranks are, its own desktop tells");
        return;
    }
    if (v->matrix + ranks > chosen->own->is.ranks)
        v->matrix = chosen->own->is.ranks > ranks ? chosen->own->is.ranks - ranks : 0;
    v->page = ranks > 1 ? ranks - 1 : 1;
    part_job(chosen->own, v->matrix, now_ms, a);
}

static void put_listed(const struct listed *l, struct sheet *out, unsigned row, uint64_t now_ms)
{
    if (l->own != NULL)
        put_job(out, row, l->own, now_ms);
    else
        put_other(out, row, l->other);
}

static void put_names(const struct top_state *s, size_t count, const struct part_area *a)
{
    static const char *const names[6] = {"job", "state", "since", "size", "where", "program"};
    if (count > 0)
        put_columns(a->sheet, a->row, TINT_BOLD, names);
    else
        sheet_put(a->sheet, a->row, 0, a->sheet->width, TINT_DIM,
                  s->jobs.count + s->grid.count == 0 ? "no job runs" : "no such job");
}

unsigned part_jobs(const struct top_state *s, struct top_view *v, uint64_t now_ms,
                   const struct part_area *a)
{
    size_t count;
    struct listed *all = jobs_listed(s, v, &count);
    const unsigned most = a->rows / 3, listed = count < most ? (unsigned)count : most;
    part_bound(v, count, listed);
    put_names(s, count, a);
    for (unsigned i = 0; i < listed; i++) {
        const size_t at = v->top[TAB_JOBS] + i;
        put_listed(&all[at], a->sheet, a->row + 1 + i, now_ms);
        if (at == v->at[TAB_JOBS])
            sheet_tint_row(a->sheet, a->row + 1 + i, TINT_MARKED);
    }
    if (listed > 0)
        put_chosen(&all[v->at[TAB_JOBS]], v, now_ms,
                   &(struct part_area){a->sheet, a->row + listed + 2, a->rows - listed - 2});
    free(all);
    return a->rows;
}

unsigned part_others(const struct top_state *s, const struct part_area *a)
{
    unsigned rows = 1;
    for (size_t i = 0; i < s->grid.count && rows < a->rows; i++)
        if (top_is_other(s, &s->grid.at[i]))
            put_other(a->sheet, a->row + rows++, &s->grid.at[i]);
    sheet_put(a->sheet, a->row, 0, a->sheet->width, TINT_BOLD,
              rows > 1 ? "jobs of others, and what waits" : "no jobs of others, and nothing waits");
    return rows;
}
