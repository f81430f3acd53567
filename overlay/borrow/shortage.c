/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage.c -- the line that says why too few slots were found. */
#include "shortage.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { TOLD_MAX = 6, END_ROOM = 120 };

static const char *plural(unsigned n)
{
    return n == 1 ? "" : "s";
}

void shortage_begin(struct shortage *s, char *out, size_t size, unsigned asked, unsigned found,
                    unsigned peers)
{
    assert(size > 2 * END_ROOM);
    *s = (struct shortage){.out = out, .size = size};
    s->at = (size_t)snprintf(out, size, "asked for %u slot%s, found %u on %u peer%s", asked,
                             plural(asked), found, peers, plural(peers));
}

void shortage_peer(struct shortage *s, const char *name, const char *why)
{
    size_t need = strlen(name) + strlen(why) + 3;
    if (s->told == TOLD_MAX || s->at + need + END_ROOM > s->size) {
        s->untold++;
        return;
    }
    s->at += (size_t)snprintf(s->out + s->at, s->size - s->at, "%s %s %s",
                              s->told++ == 0 ? ":" : ",", name, why);
}

void shortage_end(struct shortage *s, unsigned silent, bool none_fits)
{
    if (s->untold > 0)
        s->at += (size_t)snprintf(s->out + s->at, s->size - s->at, " and %u more", s->untold);
    if (silent > 0)
        s->at += (size_t)snprintf(s->out + s->at, s->size - s->at, "%s %u peer%s did not answer",
                                  s->told == 0 ? ":" : ",", silent, plural(silent));
    snprintf(s->out + s->at, s->size - s->at, "; %s",
             none_fits ? "ask for less" : "start fewer processes or wait");
}
