/* SPDX-License-Identifier: BSD-3-Clause */
/* participants.c -- a list of names to tick off, in rounds. */
#include "participants.h"
#include <stdlib.h>

enum standing { AWAITED, REPORTED, EXCUSED };

struct name {
    unsigned daemon;
    enum standing standing;
};

struct participants {
    uint32_t round;
    bool begun; /* somebody has reported in this round */
    size_t count;
    struct name name[];
};

struct participants *participants_new(const unsigned *daemons, size_t count)
{
    struct participants *r = calloc(1, sizeof *r + count * sizeof r->name[0]);
    if (r == NULL)
        return NULL;
    r->count = count;
    for (size_t i = 0; i < count; i++)
        r->name[i].daemon = daemons[i];
    return r;
}

void participants_free(struct participants *r)
{
    free(r);
}

static struct name *participant_find(struct participants *r, unsigned daemon)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->name[i].daemon == daemon)
            return &r->name[i];
    return NULL;
}

enum report_answer participants_report(struct participants *r, unsigned daemon, uint32_t round)
{
    struct name *n = participant_find(r, daemon);
    if (n == NULL)
        return REPORT_UNKNOWN;
    if (round != r->round)
        return round < r->round ? REPORT_LATE : REPORT_EARLY;
    if (n->standing == REPORTED)
        return REPORT_TWICE;
    n->standing = REPORTED; /* also of one that was excused: its report still counts */
    r->begun = true;
    return REPORT_TAKEN;
}

void participants_excuse(struct participants *r, unsigned daemon)
{
    struct name *n = participant_find(r, daemon);
    if (n != NULL && n->standing == AWAITED)
        n->standing = EXCUSED;
}

bool participants_missing(const struct participants *r, size_t *at, unsigned *daemon)
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

bool participants_complete(const struct participants *r)
{
    size_t at = 0;
    unsigned daemon;
    return r->begun && !participants_missing(r, &at, &daemon);
}

void participants_next(struct participants *r)
{
    r->round++;
    r->begun = false;
    for (size_t i = 0; i < r->count; i++)
        if (r->name[i].standing == REPORTED)
            r->name[i].standing = AWAITED;
}

uint32_t participants_round(const struct participants *r)
{
    return r->round;
}
