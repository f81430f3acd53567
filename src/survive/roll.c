/* SPDX-License-Identifier: BSD-3-Clause */
/* roll.c -- a list of names to tick off, in rounds. */
#include "roll.h"
#include <stdlib.h>

enum standing { AWAITED, REPORTED, EXCUSED };

struct name {
    unsigned daemon;
    enum standing standing;
};

struct roll {
    uint32_t round;
    bool begun; /* somebody has reported in this round */
    size_t count;
    struct name name[];
};

struct roll *roll_new(const unsigned *daemons, size_t count)
{
    struct roll *r = calloc(1, sizeof *r + count * sizeof r->name[0]);
    if (r == NULL)
        return NULL;
    r->count = count;
    for (size_t i = 0; i < count; i++)
        r->name[i].daemon = daemons[i];
    return r;
}

void roll_free(struct roll *r)
{
    free(r);
}

static struct name *find(struct roll *r, unsigned daemon)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->name[i].daemon == daemon)
            return &r->name[i];
    return NULL;
}

enum roll_answer roll_report(struct roll *r, unsigned daemon, uint32_t round)
{
    struct name *n = find(r, daemon);
    if (n == NULL)
        return ROLL_STRANGER;
    if (round != r->round)
        return round < r->round ? ROLL_LATE : ROLL_EARLY;
    if (n->standing == REPORTED)
        return ROLL_TWICE;
    n->standing = REPORTED; /* also of one who was excused: what it brings is welcome */
    r->begun = true;
    return ROLL_TAKEN;
}

void roll_excuse(struct roll *r, unsigned daemon)
{
    struct name *n = find(r, daemon);
    if (n != NULL && n->standing == AWAITED)
        n->standing = EXCUSED;
}

bool roll_missing(const struct roll *r, size_t *at, unsigned *daemon)
{
    while (*at < r->count) {
        const struct name *n = &r->name[(*at)++];
        if (n->standing == AWAITED) {
            *daemon = n->daemon;
            return true;
        }
    }
    return false;
}

bool roll_complete(const struct roll *r)
{
    size_t at = 0;
    unsigned daemon;
    return r->begun && !roll_missing(r, &at, &daemon);
}

void roll_next(struct roll *r)
{
    r->round++;
    r->begun = false;
    for (size_t i = 0; i < r->count; i++)
        if (r->name[i].standing == REPORTED)
            r->name[i].standing = AWAITED;
}

uint32_t roll_round(const struct roll *r)
{
    return r->round;
}
