/* SPDX-License-Identifier: BSD-3-Clause */
/* part_peers.c -- the table of peers. */
#include "part.h"
#include "overlay/core/lease/lending_state.h"
#include "overlay/tools/moment.h"
#include "overlay/tools/tool.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At 80 columns; the name gets what is there beyond them. */
enum { NAME = 17, STATE = 15, MACHINE = 19, LOAD = 7, SLOTS = 11, DISTANCE = 10 };
_Static_assert(NAME + STATE + MACHINE + LOAD + SLOTS + DISTANCE < 80, "fits on a terminal");

struct row {
    const struct top_peer *peer;
    char state[40], machine[48], load[16], slots[16], distance[24];
    enum tint tint;
};

static const char *lends_text(enum lending_state state)
{
    switch (state) {
    case LENDING_OPEN:
        return "lends";
    case LENDING_PAUSED:
        return "paused";
    case LENDING_LEAVING:
        return "leaves";
    case LENDING_HOURS:
        return "not now";
    case LENDING_IN_USE:
        return "in use";
    }
    return "lends nothing";
}

static void row_state(struct row *r, uint64_t now_ms)
{
    const struct top_peer *p = r->peer;
    const uint64_t span_s = now_ms > p->seen_ms ? (now_ms - p->seen_ms) / 1000 : 0;
    char span[24] = "";
    if (p->seen_ms != 0)
        moment_span(span_s, span);
    r->tint = p->presence == PRESENCE_HERE ? TINT_PLAIN : TINT_DIM;
    if (p->presence == PRESENCE_HERE && p->until != 0)
        snprintf(r->state, sizeof r->state, "back at %s",
                 moment_text(p->until, now_ms / 1000, span));
    else if (p->presence == PRESENCE_HERE)
        snprintf(r->state, sizeof r->state, "%s", lends_text((enum lending_state)p->closed));
    else if (p->revoked)
        snprintf(r->state, sizeof r->state, "revoked");
    else
        snprintf(r->state, sizeof r->state, "%s %s", p->presence == PRESENCE_LOST ? "lost" : "away",
                 span);
    if (p->presence == PRESENCE_LOST)
        r->tint = TINT_BAD;
}

static void row_fill(struct row *r, const struct top_peer *p, uint64_t now_ms)
{
    char memory[24];
    *r = (struct row){.peer = p};
    row_state(r, now_ms);
    if (p->cores == 0) /* a member that was never met */
        return;
    snprintf(r->machine, sizeof r->machine, "%s %ux %s", p->arch, p->cores,
             tool_size(p->memory, memory));
    if (p->presence != PRESENCE_HERE)
        return;
    snprintf(r->load, sizeof r->load, "%.2f", p->load / 1000.0);
    snprintf(r->slots, sizeof r->slots, "%u of %u",
             p->slots > p->slots_free ? p->slots - p->slots_free : 0, p->slots);
    if (p->rtt_us == 0)
        snprintf(r->distance, sizeof r->distance, "here");
    else
        tool_round_trip(p->rtt_us, r->distance);
}

/* --- order --- */

static int by_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare(const struct top_peer *a, const struct top_peer *b, enum top_column column)
{
    switch (column) {
    case BY_STATE:
        return by_number(a->presence * 8 + a->closed, b->presence * 8 + b->closed);
    case BY_MACHINE:
        return by_number(b->cores, a->cores);
    case BY_LOAD:
        return by_number(b->load, a->load);
    case BY_SLOTS:
        return by_number(b->slots_free, a->slots_free);
    case BY_DISTANCE:
        return by_number(a->presence != PRESENCE_HERE, b->presence != PRESENCE_HERE) * 2 +
               by_number(a->rtt_us, b->rtt_us);
    case BY_NAME:
    case COLUMNS:
        break;
    }
    return 0;
}

static int by_view(const void *x, const void *y, void *ctx)
{
    const struct top_view *v = ctx;
    const struct top_peer *a = ((const struct row *)x)->peer, *b = ((const struct row *)y)->peer;
    const int order = compare(a, b, v->column);
    const int named = order != 0 ? order : strverscmp(a->name, b->name);
    return v->reverse ? -named : named;
}

static bool row_shown(const struct row *r, const struct top_view *v)
{
    return part_shows(v, r->peer->name) || part_shows(v, r->state) || part_shows(v, r->machine) ||
           part_shows(v, r->peer->site);
}

/* malloc'd */
static struct row *rows_of(const struct top_state *s, const struct top_view *v, uint64_t now_ms,
                           size_t *count)
{
    struct row *rows = calloc(s->peer_count + 1, sizeof *rows);
    *count = 0;
    for (size_t i = 0; rows != NULL && i < s->peer_count; i++) {
        row_fill(&rows[*count], &s->peers[i], now_ms);
        *count += row_shown(&rows[*count], v);
    }
    if (rows != NULL)
        qsort_r(rows, *count, sizeof rows[0], by_view, (void *)v);
    return rows;
}

/* --- drawing --- */

static void put_cells(struct sheet *out, unsigned row, const char *const cell[COLUMNS],
                      enum tint tint)
{
    const unsigned wide = out->width > 80 ? (out->width - 80) / 2 : 0;
    const unsigned width[COLUMNS] = {NAME + wide, STATE, MACHINE + wide, LOAD, SLOTS, DISTANCE};
    unsigned column = 0;
    for (int i = 0; i < COLUMNS; column += width[i++])
        if (i >= BY_LOAD)
            sheet_put_right(out, row, column, width[i], tint, cell[i]);
        else
            sheet_put(out, row, column, width[i] - 1, tint, cell[i]);
}

static void put_heading(struct sheet *out, unsigned row, const struct top_view *v)
{
    static const char *const names[COLUMNS] = {"name", "state", "machine",
                                               "load", "lent",  "distance"};
    char marked[COLUMNS][32];
    const char *cell[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        const char *mark = i != (int)v->column ? ""
                           : out->ascii        ? (v->reverse ? "^" : "v")
                                               : (v->reverse ? "\u25b2" : "\u25bc");
        snprintf(marked[i], sizeof marked[i], "%s%s", names[i], mark);
        cell[i] = marked[i];
    }
    put_cells(out, row, cell, TINT_BOLD);
}

static void put_row(struct sheet *out, unsigned row, const struct row *r)
{
    const char *const cell[COLUMNS] = {r->peer->name, r->state, r->machine,
                                       r->load,       r->slots, r->distance};
    put_cells(out, row, cell, r->tint);
}

unsigned part_peers(const struct top_state *s, struct top_view *v, uint64_t now_ms,
                    const struct part_area *a)
{
    size_t count;
    struct row *rows = rows_of(s, v, now_ms, &count);
    unsigned used = 1;
    part_bound(v, count, a->rows > 0 ? a->rows - 1 : 0);
    put_heading(a->sheet, a->row, v);
    for (size_t i = v->top[TAB_PEERS]; i < count && used < a->rows; i++, used++) {
        put_row(a->sheet, a->row + used, &rows[i]);
        if (i == v->at[TAB_PEERS] && v->page > 0 && count > a->rows - 1)
            sheet_tint_row(a->sheet, a->row + used, TINT_MARKED);
    }
    if (s->walk == 0 && used < a->rows)
        sheet_put(a->sheet, a->row + used++, 0, a->sheet->width, TINT_DIM, "asking all peers...");
    free(rows);
    return used;
}
