/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage.c -- the line that says why too few slots were found. */
#include "shortage.h"
#include <assert.h>
#include <string.h>

enum { TOLD_MAX = 6, END_ROOM = 180 };

/* "3 slots" */
static void add_count(struct phrase *p, unsigned n, const char *of)
{
    phrase_add_number(p, n);
    phrase_add(p, " ");
    phrase_add(p, of);
    phrase_add(p, n == 1 ? "" : "s");
}

void shortage_begin(struct shortage *s, char *out, size_t size, unsigned asked, unsigned found,
                    unsigned peers)
{
    assert(size > 2 * END_ROOM);
    *s = (struct shortage){.told = 0};
    phrase_begin(&s->line, out, size);
    phrase_add(&s->line, "asked for ");
    add_count(&s->line, asked, "slot");
    phrase_add(&s->line, ", found ");
    phrase_add_number(&s->line, found);
    phrase_add(&s->line, " on ");
    add_count(&s->line, peers, "peer");
}

void shortage_unsettled(struct shortage *s)
{
    phrase_add(&s->line, " while peers come and go");
}

void shortage_peer(struct shortage *s, const char *name, const char *why)
{
    size_t need = strlen(name) + strlen(why) + 3;
    if (s->told == TOLD_MAX || s->line.at + need + END_ROOM > s->line.size) {
        s->untold++;
        return;
    }
    phrase_add(&s->line, s->told++ == 0 ? ": " : ", ");
    phrase_add(&s->line, name);
    phrase_add(&s->line, " ");
    phrase_add(&s->line, why);
}

void shortage_end(struct shortage *s, unsigned silent, bool none_fits, const char *nobody)
{
    if (s->untold > 0) {
        phrase_add(&s->line, " and ");
        phrase_add_number(&s->line, s->untold);
        phrase_add(&s->line, " more");
    }
    if (silent > 0) {
        phrase_add(&s->line, s->told == 0 ? ": " : ", ");
        add_count(&s->line, silent, "peer");
        phrase_add(&s->line, " did not answer");
    }
    phrase_add(&s->line, "; ");
    if (nobody != NULL) {
        phrase_add(&s->line, "no peer that answered is called ");
        phrase_add(&s->line, nobody);
        return;
    }
    phrase_add(&s->line, none_fits ? "ask for less" : "start fewer processes or wait");
}
