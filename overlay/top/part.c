/* SPDX-License-Identifier: BSD-3-Clause */
/* part.c -- what the parts of a page share; events and the own desktop. */
#include "part.h"
#include "overlay/client/words.h"
#include "overlay/tools/moment.h"
#include "overlay/tools/tool.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

bool part_shows(const struct top_view *v, const char *text)
{
    return v->filter[0] == '\0' || strcasestr(text, v->filter) != NULL;
}

void part_bound(struct top_view *v, size_t count, unsigned shown)
{
    size_t *at = &v->at[v->tab], *top = &v->top[v->tab];
    v->page = shown > 1 ? shown - 1 : 1;
    if (*at >= count)
        *at = count > 0 ? count - 1 : 0;
    if (*at < *top)
        *top = *at;
    if (shown > 0 && *at >= *top + shown)
        *top = *at - shown + 1;
    if (*top > 0 && *top + shown > count)
        *top = count > shown ? count - shown : 0;
}

/* --- events --- */

static void event_put(const struct top_event *e, struct sheet *out, unsigned row)
{
    const time_t t = (time_t)(e->time_ms / 1000);
    struct tm tm = {0};
    char when[32];
    localtime_r(&t, &tm);
    strftime(when, sizeof when, "%H:%M:%S", &tm);
    sheet_put(out, row, 0, 10, TINT_DIM, when);
    sheet_put(out, row, 10, out->width, e->bad ? TINT_BAD : TINT_PLAIN, e->text);
}

/* The last one first, so that what happens is seen at once. */
unsigned part_events(const struct top_state *s, struct top_view *v, const struct part_area *a)
{
    const struct top_event *shown[TOP_EVENTS];
    size_t count = 0;
    unsigned rows = 0;
    for (size_t i = s->event_count; i > 0; i--)
        if (part_shows(v, s->events[i - 1].text))
            shown[count++] = &s->events[i - 1];
    part_bound(v, count, a->rows);
    for (size_t i = v->top[v->tab]; i < count && rows < a->rows; i++, rows++) {
        event_put(shown[i], a->sheet, a->row + rows);
        if (i == v->at[v->tab])
            sheet_tint_row(a->sheet, a->row + rows, TINT_MARKED);
    }
    if (count == 0 && a->rows > 0)
        sheet_put(a->sheet, a->row, 0, a->sheet->width, TINT_DIM, "nothing has happened");
    return rows;
}

unsigned part_news(const struct top_state *s, const struct part_area *a)
{
    const unsigned most = a->rows > 0 ? a->rows - 1 : 0;
    const size_t count = s->event_count < most ? s->event_count : most;
    sheet_put(a->sheet, a->row, 0, a->sheet->width, TINT_BOLD, "events");
    for (unsigned i = 0; i < count; i++)
        event_put(&s->events[s->event_count - count + i], a->sheet, a->row + 1 + i);
    return 1 + (unsigned)count;
}

/* --- the own desktop --- */

static unsigned lent_put(const struct msg_local_granted *l, const struct part_area *a,
                         unsigned rows)
{
    char line[640], span[24];
    snprintf(line, sizeof line, "%.31s of %.63s %s %.255s on %u slot%s for %s", l->user,
             l->from[0] != '\0' ? l->from : "another desktop", l->pid != 0 ? "runs" : "holds",
             l->pid == 0             ? "nothing yet"
             : l->program[0] != '\0' ? l->program
                                     : "a program of the system",
             l->slots, l->slots == 1 ? "" : "s", moment_span(l->age_ms / 1000, span));
    sheet_put(a->sheet, a->row + rows, 2, a->sheet->width, TINT_PLAIN, line);
    return 1;
}

static void transfer_put(const struct msg_local_transfer *t, const struct part_area *a,
                         unsigned row)
{
    char line[400], have[24], all[24];
    snprintf(line, sizeof line, "files %s %u peer%s, %s of %s: %s", t->gives ? "to" : "from",
             t->peers, t->peers == 1 ? "" : "s", tool_size(t->have, have), tool_size(t->all, all),
             t->about[0] != '\0' ? t->about : "of a job of yours");
    sheet_put(a->sheet, a->row + row, 2, a->sheet->width, TINT_PLAIN, line);
}

static unsigned desktop_lines(const struct top_state *s, char lines[5][256])
{
    const struct part_ad *ad = &s->self.ad;
    char memory[24], disk[24], until[24], more[48] = "";
    if (s->terms.until != 0)
        snprintf(more, sizeof more, " until %s",
                 moment_text(s->terms.until, moment_now_ms() / 1000, until));
    snprintf(lines[0], 256, "%.63s %.127s%s", ad->name, s->terms.state, more);
    snprintf(lines[1], 256, "  p2pd %.31s, pid %u", s->self.version, s->self.pid);
    snprintf(lines[2], 256,
             "  machine %s %s, %u cores, %s of memory, %s of disk, load %.2f, Open MPI %s", ad->os,
             ad->arch, ad->cores, tool_size(ad->memory, memory), tool_size(ad->disk, disk),
             ad->load / 1000.0, ad->ompi[0] != '\0' ? ad->ompi : "missing");
    snprintf(lines[3], 256, "  slots %u of %u free", ad->slots_free, ad->slots);
    snprintf(lines[4], 256,
             s->lent_count == 0 ? "nothing of others runs here" : "what others run here");
    return 5;
}

unsigned part_desktop(const struct top_state *s, struct top_view *v, const struct part_area *a)
{
    char lines[5][256];
    const unsigned count = desktop_lines(s, lines);
    unsigned rows = 0;
    for (; rows < count && rows < a->rows; rows++)
        sheet_put(a->sheet, a->row + rows, 0, a->sheet->width,
                  lines[rows][0] == ' ' ? TINT_PLAIN : TINT_BOLD, lines[rows]);
    part_bound(v, s->lent_count, a->rows - rows);
    for (size_t i = v->tab == TAB_DESKTOP ? v->top[v->tab] : 0; i < s->lent_count && rows < a->rows;
         i++)
        if (part_shows(v, s->lent[i].program) || part_shows(v, s->lent[i].user))
            rows += lent_put(&s->lent[i], a, rows);
    for (size_t i = 0; i < s->transfer_count && rows < a->rows; i++)
        transfer_put(&s->transfers[i], a, rows++);
    return rows;
}

/* --- what was --- */

static void past_texts(const struct msg_local_past *p, char size[48], char what[400], char end[320])
{
    const bool own = p->what == PAST_JOB;
    char lost[32] = "", status[24] = "";
    if (own && p->lanes > 1)
        snprintf(size, 48, "%u ranks x %u", p->slots, (unsigned)p->lanes);
    else
        snprintf(size, 48, "%u %s%s", p->slots, own ? "rank" : "slot", p->slots == 1 ? "" : "s");
    if (own)
        snprintf(what, 400, "%s: %s", p->name, p->program);
    else
        snprintf(what, 400, "%s of %s: %s", p->user, p->name,
                 p->program[0] != '\0' ? p->program : "a program of the system");
    if (p->lost > 0)
        snprintf(lost, sizeof lost, ", %u lost", p->lost);
    if (own && p->status != 0)
        snprintf(status, sizeof status, ", status %u", p->status);
    snprintf(end, 320, "%s%s%s", p->text, lost, status);
}

unsigned part_history(const struct top_state *s, struct top_view *v, uint64_t now_ms,
                      const struct part_area *a)
{
    enum { WHEN = 13, TOOK = 11, SIZE = 14, END = 20 };
    const unsigned width = a->sheet->width,
                   wide = width > WHEN + TOOK + SIZE + END ? width - WHEN - TOOK - SIZE - END : 1;
    unsigned rows = 0;
    size_t count = 0;
    const struct msg_local_past *shown[TOP_HISTORY];
    char when[24], took[24], size[48], what[400], end[320];
    for (size_t i = 0; i < s->history_count; i++) {
        past_texts(&s->history[i], size, what, end);
        if (part_shows(v, what) || part_shows(v, end))
            shown[count++] = &s->history[i];
    }
    part_bound(v, count, a->rows);
    for (size_t i = v->tab == TAB_HISTORY ? v->top[v->tab] : 0; i < count && rows < a->rows;
         i++, rows++) {
        const struct msg_local_past *p = shown[i];
        const bool bad = p->lost > 0 || (p->what == PAST_JOB && p->status != 0);
        const enum tint tint = bad ? TINT_BAD : TINT_PLAIN;
        past_texts(p, size, what, end);
        sheet_put(a->sheet, a->row + rows, 0, WHEN - 1, TINT_DIM,
                  moment_text(p->began_ms / 1000, now_ms / 1000, when));
        sheet_put_right(a->sheet, a->row + rows, WHEN, TOOK - 2, TINT_PLAIN,
                        moment_span(p->took_ms / 1000, took));
        sheet_put(a->sheet, a->row + rows, WHEN + TOOK, SIZE - 1, TINT_PLAIN, size);
        sheet_put(a->sheet, a->row + rows, WHEN + TOOK + SIZE, wide - 1, TINT_PLAIN, what);
        sheet_put(a->sheet, a->row + rows, WHEN + TOOK + SIZE + wide, END, tint, end);
        if (v->tab == TAB_HISTORY && i == v->at[v->tab])
            sheet_tint_row(a->sheet, a->row + rows, TINT_MARKED);
    }
    if (count == 0 && a->rows > 0)
        sheet_put(a->sheet, a->row + rows++, 0, width, TINT_DIM, "nothing has run yet");
    return rows;
}
