/* SPDX-License-Identifier: BSD-3-Clause */
/* level.c -- reads the levels that a person typed, and answers how many copies a rank has. */
#include "level.h"
#include <errno.h>

enum { RANK_MOST = 1000000 };

/* What is left to read, and from where it is counted. */
struct cursor {
    const char *text, *at;
};

static int level_refuse(const struct cursor *c, const char *why, struct err *e)
{
    return err_set(
        e, EINVAL,
        "errmgr_replica_level '%s': %s (column %d); write 2, or 0:3,1-:2 for levels by rank",
        c->text, why, (int)(c->at - c->text) + 1);
}

static bool cursor_take(struct cursor *c, char want)
{
    if (*c->at != want)
        return false;
    c->at++;
    return true;
}

/* A number of at most `most`; false leaves the cursor at what is wrong. */
static bool cursor_take_number(struct cursor *c, unsigned most, unsigned *out)
{
    const char *p = c->at;
    unsigned n = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (unsigned)(*p - '0');
        if (n > most)
            return false;
    }
    if (p == c->at)
        return false;
    c->at = p;
    *out = n;
    return true;
}

static int cursor_take_copies(struct cursor *c, unsigned *copies, struct err *e)
{
    struct cursor before = *c;
    if (!cursor_take_number(c, LEVEL_MOST, copies) || *copies == 0)
        return level_refuse(&before, "a level is a number from 1 to 8", e);
    return 0;
}

/* RANK, RANK-RANK or RANK-, then a colon and the level. */
static int cursor_take_range(struct cursor *c, struct level_range *r, struct err *e)
{
    if (!cursor_take_number(c, RANK_MOST, &r->first))
        return level_refuse(c, "a rank is expected", e);
    r->last = r->first;
    if (cursor_take(c, '-')) {
        struct cursor before = *c;
        if (*c->at == ':')
            r->last = LEVEL_OPEN;
        else if (!cursor_take_number(c, RANK_MOST, &r->last))
            return level_refuse(c, "a rank or ':' is expected", e);
        else if (r->last < r->first)
            return level_refuse(&before, "the range ends before it begins", e);
    }
    if (!cursor_take(c, ':'))
        return level_refuse(c, "':' and a level are expected", e);
    return cursor_take_copies(c, &r->copies, e);
}

static int level_parse_ranges(struct level *l, struct cursor *c, struct err *e)
{
    do {
        struct cursor before = *c;
        if (l->count == LEVEL_RANGES)
            return level_refuse(c, "more than 64 ranges", e);
        struct level_range *r = &l->range[l->count];
        int code = cursor_take_range(c, r, e);
        if (code != 0)
            return code;
        if (l->count > 0 && r->first <= r[-1].last)
            return level_refuse(&before, "ranks must rise, and none may come twice", e);
        l->count++;
    } while (cursor_take(c, ','));
    return *c->at == '\0' ? 0 : level_refuse(c, "',' or the end is expected", e);
}

int level_parse(struct level *l, const char *text, struct err *e)
{
    struct cursor c = {text, text};
    *l = (struct level){.count = 0};
    for (const char *p = text; *p != '\0'; p++)
        if (*p == ':')
            return level_parse_ranges(l, &c, e);
    l->count = 1;
    l->range[0] = (struct level_range){.first = 0, .last = LEVEL_OPEN};
    int code = cursor_take_copies(&c, &l->range[0].copies, e);
    if (code != 0)
        return code;
    return *c.at == '\0' ? 0 : level_refuse(&c, "the end is expected", e);
}

unsigned level_of(const struct level *l, unsigned rank)
{
    for (unsigned i = 0; i < l->count; i++)
        if (rank >= l->range[i].first && rank <= l->range[i].last)
            return l->range[i].copies;
    return 1;
}

unsigned level_lanes(const struct level *l, unsigned ranks)
{
    unsigned most = 1;
    for (unsigned i = 0; i < l->count; i++)
        if (l->range[i].first < ranks && l->range[i].copies > most)
            most = l->range[i].copies;
    return most;
}

unsigned level_processes(const struct level *l, unsigned ranks)
{
    unsigned sum = 0;
    for (unsigned rank = 0; rank < ranks; rank++)
        sum += level_of(l, rank);
    return sum;
}

/* Copies that there are of ranks below `ranks` in this lane. */
static unsigned level_in_lane(const struct level *l, unsigned ranks, unsigned lane)
{
    unsigned n = 0;
    for (unsigned rank = 0; rank < ranks; rank++)
        n += level_of(l, rank) > lane;
    return n;
}

static bool level_is_even(const struct level *l)
{
    return l->count == 1 && l->range[0].first == 0 && l->range[0].last == LEVEL_OPEN;
}

bool level_place(const struct level *l, unsigned ranks, unsigned process, unsigned *rank,
                 unsigned *lane)
{
    if (level_is_even(l)) { /* the usual one, asked for each piece of output */
        *rank = process % ranks;
        *lane = process / ranks;
        return *lane < l->range[0].copies;
    }
    for (*lane = 0; *lane < level_lanes(l, ranks); ++*lane) {
        const unsigned here = level_in_lane(l, ranks, *lane);
        if (process >= here) {
            process -= here;
            continue;
        }
        for (*rank = 0;; ++*rank)
            if (level_of(l, *rank) > *lane && process-- == 0)
                return true;
    }
    return false;
}

bool level_process(const struct level *l, unsigned ranks, unsigned rank, unsigned lane,
                   unsigned *process)
{
    *process = level_in_lane(l, rank, lane);
    for (unsigned below = 0; below < lane; below++)
        *process += level_in_lane(l, ranks, below);
    return rank < ranks && level_of(l, rank) > lane;
}

unsigned level_ranks(const struct level *l, unsigned processes)
{
    unsigned ranks = 1, sum = level_of(l, 0);
    while (sum < processes)
        sum += level_of(l, ranks++);
    return ranks;
}

bool level_replicates(const struct level *l)
{
    return level_lanes(l, LEVEL_OPEN) > 1;
}
