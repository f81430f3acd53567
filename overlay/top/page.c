/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c -- the frame: what stands above and below, and which part is in between. */
#include "page.h"
#include "part.h"
#include "overlay/core/lease/lending_state.h"
#include "overlay/tools/moment.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    HEAD_ROWS = 3,
    WIDTH_LEAST = 40,
    HEIGHT_LEAST = 8,
    HEIGHT_FOR_NEWS = 18, /* from this on, the last events stand below every part */
    NEWS_ROWS = 4,
    ALL_EVENTS = 20,
};

static void head_desktop(const struct top_state *s, const struct top_view *v, uint64_t now_ms,
                         struct sheet *out)
{
    const struct part_ad *ad = &s->self.ad;
    const time_t t = (time_t)(now_ms / 1000);
    struct tm tm = {0};
    char line[512], clock[32];
    snprintf(line, sizeof line, "%.63s %.127s; %u of %u slots free, %u cores, load %.2f", ad->name,
             s->terms.state, ad->slots_free, ad->slots, ad->cores, ad->load / 1000.0);
    sheet_put(out, 0, 0, out->width, TINT_BOLD, line);
    localtime_r(&t, &tm);
    strftime(clock, sizeof clock, v->paused ? "  paused" : "  %H:%M:%S", &tm);
    sheet_put_right(out, 0, out->width - 10, 10, v->paused ? TINT_MARKED : TINT_PLAIN, clock);
}

static void head_grid(const struct top_state *s, uint64_t now_ms, struct sheet *out)
{
    unsigned here = 0, away = 0, slots = 0, slots_free = 0;
    char line[512], span[24];
    for (size_t i = 0; i < s->peer_count; i++) {
        const struct top_peer *p = &s->peers[i];
        const bool is_here = p->presence == PRESENCE_HERE;
        here += is_here;
        away += !is_here && !p->revoked;
        slots += is_here ? p->slots : 0;
        slots_free += is_here ? p->slots_free : 0;
    }
    if (s->gone_ms != 0) {
        snprintf(line, sizeof line, "no p2pd for %s, trying again: %.255s",
                 moment_span((now_ms - s->gone_ms) / 1000, span), s->gone_why);
        sheet_put(out, 1, 0, out->width, TINT_BAD, line);
        return;
    }
    snprintf(line, sizeof line,
             "the grid: %u peer%s, %u away; %u of %u slots free; %zu job%s of yours", here,
             here == 1 ? "" : "s", away, slots_free, slots, s->jobs.count,
             s->jobs.count == 1 ? "" : "s");
    sheet_put(out, 1, 0, out->width, TINT_PLAIN, line);
}

static void head_tabs(const struct top_view *v, struct sheet *out)
{
    static const char *const names[TABS] = {" 1 peers ", " 2 jobs ", " 3 events ", " 4 desktop ",
                                            " 5 history "};
    unsigned column = 0;
    for (int i = 0; i < TABS; i++) {
        const unsigned width = (unsigned)strlen(names[i]);
        sheet_put(out, 2, column, width, i == (int)v->tab ? TINT_MARKED : TINT_PLAIN, names[i]);
        column += width + 1;
    }
    if (v->filter[0] != '\0' && !v->typing) {
        char line[VIEW_FILTER + 16];
        snprintf(line, sizeof line, "only: %s", v->filter);
        sheet_put(out, 2, column + 1, out->width, TINT_BOLD, line);
    }
}

static void foot(const struct top_view *v, struct sheet *out)
{
    char line[VIEW_FILTER + 64];
    if (v->typing)
        snprintf(line, sizeof line, "only rows with: %s_  (Enter keeps it, Esc shows all)",
                 v->filter);
    sheet_put(out, out->height - 1, 0, out->width, v->typing ? TINT_BOLD : TINT_DIM,
              v->typing ? line
                        : "tab part  arrows move  s sort  r reverse  / filter  p pause  h help  "
                          "q quit");
}

static void help(struct sheet *out)
{
    static const char *const lines[] = {
        "tab, right, left, 1-5   peers, jobs, events, desktop, history",
        "up, down, Home, End     move; among jobs: choose the one whose ranks are shown",
        "Page up, Page down      a page; among jobs: the ranks of the chosen one",
        "s                       sort peers by the next column (the one with a mark)",
        "r                       the other way round",
        "/                       show only rows that have what is typed; Esc: all",
        "p, space                stop asking, and go on",
        "q                       leave",
        "",
        "jobs: a row for each rank, a column for each lane (a copy of the job);",
        "      * leads: what it prints is shown",
    };
    const unsigned count = sizeof lines / sizeof lines[0];
    for (unsigned i = 0; i < count && HEAD_ROWS + 1 + i + 1 < out->height; i++)
        sheet_put(out, HEAD_ROWS + 1 + i, 2, out->width, TINT_PLAIN, lines[i]);
    sheet_put(out, out->height - 1, 0, out->width, TINT_DIM, "any key goes back");
}

static void draw_part(const struct top_state *s, struct top_view *v, uint64_t now_ms,
                      const struct part_area *area)
{
    switch (v->tab) {
    case TAB_PEERS:
        part_peers(s, v, now_ms, area);
        break;
    case TAB_JOBS:
        part_jobs(s, v, now_ms, area);
        break;
    case TAB_EVENTS:
        part_events(s, v, area);
        break;
    case TAB_DESKTOP:
        part_desktop(s, v, area);
        break;
    case TAB_HISTORY:
        part_history(s, v, now_ms, area);
        break;
    case TABS:
        break;
    }
}

void page_draw(const struct top_state *s, struct top_view *v, uint64_t now_ms, struct sheet *out)
{
    if (out->width < WIDTH_LEAST || out->height < HEIGHT_LEAST) {
        sheet_put(out, 0, 0, out->width, TINT_PLAIN, "too small: 40 x 8 at least");
        return;
    }
    head_desktop(s, v, now_ms, out);
    head_grid(s, now_ms, out);
    head_tabs(v, out);
    if (v->help) {
        help(out);
        return;
    }
    const bool news = v->tab != TAB_EVENTS && out->height >= HEIGHT_FOR_NEWS;
    const unsigned below = 1 + (news ? NEWS_ROWS : 0);
    draw_part(s, v, now_ms, &(struct part_area){out, HEAD_ROWS, out->height - HEAD_ROWS - below});
    if (news)
        part_news(s, &(struct part_area){out, out->height - below, NEWS_ROWS});
    foot(v, out);
}

/* --- everything --- */

static unsigned rows_of_jobs(const struct top_state *s)
{
    unsigned rows = 0;
    for (size_t i = 0; i < s->jobs.count; i++)
        rows += s->jobs.at[i].is.ranks + 4;
    return rows;
}

struct sheet *page_all(const struct top_state *s, unsigned width, bool ascii, uint64_t now_ms)
{
    const unsigned peers = (unsigned)s->peer_count + 2;
    const size_t rest =
        s->grid.count + s->lent_count + s->transfer_count + ALL_EVENTS + 24 + s->history_count + 2;
    struct top_view v;
    struct sheet *out = sheet_new(width, peers + rows_of_jobs(s) + (unsigned)rest, ascii);
    if (out == NULL)
        return NULL;
    top_view_init(&v);
    head_desktop(s, &v, now_ms, out);
    head_grid(s, now_ms, out);
    unsigned row = 3;
    row += part_peers(s, &v, now_ms, &(struct part_area){out, row, peers}) + 1;
    for (size_t i = 0; i < s->jobs.count; i++)
        row += part_job(&s->jobs.at[i], 0, now_ms,
                        &(struct part_area){out, row, s->jobs.at[i].is.ranks + 3}) +
               1;
    row += part_others(s, &(struct part_area){out, row, (unsigned)s->grid.count + 1}) + 1;
    row += part_desktop(
               s, &v,
               &(struct part_area){out, row, (unsigned)(s->lent_count + s->transfer_count) + 8}) +
           1;
    sheet_put(out, row++, 0, out->width, TINT_BOLD, "history");
    row +=
        part_history(s, &v, now_ms, &(struct part_area){out, row, (unsigned)s->history_count + 1}) +
        1;
    if (s->event_count > 0)
        part_news(s, &(struct part_area){out, row, ALL_EVENTS});
    return out;
}
