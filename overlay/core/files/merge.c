/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.c -- the results of several peers and lanes become one set. */
#include "merge.h"
#include <string.h>

/* --- which sources are read --- */

/* What a source is asked for, in this order: each pass fills what those before have left. */
struct pass {
    enum merge_state least; /* of the ranks that it is to add */
    bool whole;             /* all of its ranks have finished */
};

static bool source_fits(const struct merge_source *s, const struct pass *p)
{
    for (size_t k = 0; k < s->rank_count && p->whole; k++)
        if (s->states[k] != MERGE_FINISHED)
            return false;
    return s->reached;
}

static size_t lane_has(const struct merge_source *sources, size_t count, unsigned lane,
                       const struct pass *p)
{
    size_t has = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0;
             sources[i].lane == lane && source_fits(&sources[i], p) && k < sources[i].rank_count;
             k++)
            has += sources[i].states[k] >= p->least;
    return has;
}

/* The lane that has the most of those that were not asked yet; false: all were. */
static bool lane_next(const struct merge_source *sources, size_t count, uint64_t asked,
                      const struct pass *p, unsigned *lane)
{
    bool found = false;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned l = sources[i].lane;
        const size_t has = lane_has(sources, count, l, p);
        if (l >= 64 || (asked >> l & 1) != 0 ||
            (found && (has < most || (has == most && l >= *lane))))
            continue;
        found = true;
        most = has;
        *lane = l;
    }
    return found;
}

static bool source_adds(const struct merge_source *s, const uint8_t *covered,
                        enum merge_state least, unsigned ranks)
{
    for (size_t k = 0; k < s->rank_count; k++)
        if (s->ranks[k] < ranks && covered[s->ranks[k]] == 0 && s->states[k] >= least)
            return true;
    return false;
}

static void source_covers(const struct merge_source *s, uint8_t *covered, enum merge_state least,
                          unsigned ranks)
{
    for (size_t k = 0; k < s->rank_count; k++)
        if (s->ranks[k] < ranks && s->states[k] >= least)
            covered[s->ranks[k]] = 1;
}

static unsigned lane_order(const struct merge_source *sources, size_t count, unsigned lane)
{
    for (size_t i = 0; i < count; i++)
        if (sources[i].lane == lane && sources[i].order != MERGE_UNUSED)
            return sources[i].order;
    return MERGE_UNUSED;
}

/* All sources of the lane that add something, and only then what they cover: ranks of one lane are
 * on several peers, each with names of its own. */
static void lane_take(struct merge_source *sources, size_t count, unsigned lane, uint8_t *covered,
                      const struct pass *p, unsigned ranks, unsigned *next)
{
    unsigned order = lane_order(sources, count, lane);
    for (size_t i = 0; i < count; i++) {
        struct merge_source *s = &sources[i];
        if (s->lane != lane || s->order != MERGE_UNUSED || !source_fits(s, p) ||
            !source_adds(s, covered, p->least, ranks))
            continue;
        if (order == MERGE_UNUSED)
            order = (*next)++;
        s->order = order;
    }
    for (size_t i = 0; i < count; i++)
        if (sources[i].lane == lane && sources[i].order != MERGE_UNUSED)
            source_covers(&sources[i], covered, p->least, ranks);
}

/* Those that were chosen and are still there go first, in the order that they had. */
static unsigned sources_keep(struct merge_source *sources, size_t count, uint8_t *covered,
                             unsigned ranks)
{
    unsigned next = 1;
    memset(covered, 0, ranks);
    for (size_t i = 0; i < count; i++) {
        struct merge_source *s = &sources[i];
        if (!s->reached)
            s->order = MERGE_UNUSED;
        if (s->order == MERGE_UNUSED)
            continue;
        source_covers(s, covered, MERGE_FINISHED, ranks);
        if (s->order >= next)
            next = s->order + 1;
    }
    return next;
}

size_t merge_choose(struct merge_source *sources, size_t count, uint8_t *covered, unsigned ranks)
{
    static const struct pass passes[] = {
        {MERGE_FINISHED, true},
        {MERGE_FINISHED, false},
        {MERGE_STARTED, false},
        {MERGE_NOT_STARTED, false}, /* so that nothing is said to be lost that never was */
    };
    unsigned lane = 0, next = sources_keep(sources, count, covered, ranks);
    size_t lacking = 0;
    for (size_t p = 0; p < sizeof passes / sizeof passes[0]; p++) {
        uint64_t asked = 0;
        while (lane_next(sources, count, asked, &passes[p], &lane)) {
            lane_take(sources, count, lane, covered, &passes[p], ranks, &next);
            asked |= (uint64_t)1 << lane;
        }
    }
    for (unsigned r = 0; r < ranks; r++)
        lacking += covered[r] == 0;
    return lacking;
}

/* --- which names are taken --- */

static unsigned lowest_rank(const struct merge_name *n)
{
    return n->from->rank_count > 0 ? n->from->ranks[0] : 0;
}

/* What the job has made goes before what it has removed elsewhere. */
int merge_compare(const void *a, const void *b)
{
    const struct merge_name *x = a, *y = b;
    int by_path = strcmp(x->what.path, y->what.path);
    if (by_path != 0)
        return by_path;
    if ((x->what.kind == RESULT_GONE) != (y->what.kind == RESULT_GONE))
        return x->what.kind == RESULT_GONE ? 1 : -1;
    if (x->from->order != y->from->order)
        return x->from->order < y->from->order ? -1 : 1;
    return (lowest_rank(x) > lowest_rank(y)) - (lowest_rank(x) < lowest_rank(y));
}

/* The names from `at` on that are alike and of the lane that gives them. */
static size_t group_length(const struct merge_name *names, size_t count, size_t at)
{
    size_t n = 1;
    while (at + n < count && strcmp(names[at + n].what.path, names[at].what.path) == 0 &&
           names[at + n].from->order == names[at].from->order)
        n++;
    return n;
}

static size_t path_length(const struct merge_name *names, size_t count, size_t at)
{
    size_t n = 1;
    while (at + n < count && strcmp(names[at + n].what.path, names[at].what.path) == 0)
        n++;
    return n;
}

static bool is_alike(const struct result *a, const struct result *b)
{
    return a->kind == b->kind && (a->kind != RESULT_FILE || a->size == b->size) &&
           (a->kind != RESULT_LINK || strcmp(a->target, b->target) == 0);
}

size_t merge_doubt(struct merge_name *names, size_t count)
{
    size_t doubtful = 0;
    for (size_t at = 0; at < count; at += path_length(names, count, at)) {
        const size_t n = group_length(names, count, at);
        for (size_t i = at; i < at + n; i++)
            for (size_t k = at; k < at + n && !names[i].doubtful; k++)
                names[i].doubtful = i != k && names[i].what.kind == RESULT_FILE &&
                                    names[i].what.size > 0 &&
                                    is_alike(&names[i].what, &names[k].what);
        for (size_t i = at; i < at + n; i++)
            doubtful += names[i].doubtful;
    }
    return doubtful;
}

/* A file whose digest could not be had is no other's double. */
static bool is_same(const struct merge_name *a, const struct merge_name *b)
{
    if (!is_alike(&a->what, &b->what))
        return false;
    return a->what.kind != RESULT_FILE || a->what.size == 0 ||
           (a->digested && b->digested && memcmp(a->digest, b->digest, MERGE_DIGEST) == 0);
}

static enum merge_verdict verdict_of(const struct merge_name *group, size_t i)
{
    if (group[i].what.kind == RESULT_GONE)
        return i == 0 ? MERGE_TAKE : MERGE_LEAVE;
    for (size_t k = 0; k < i; k++)
        if (group[k].verdict != MERGE_LEAVE && is_same(&group[k], &group[i]))
            return MERGE_LEAVE;
    return i == 0 ? MERGE_TAKE : MERGE_BESIDE;
}

size_t merge_judge(struct merge_name *names, size_t count)
{
    size_t beside = 0;
    for (size_t at = 0, all; at < count; at += all) {
        const size_t n = group_length(names, count, at);
        all = path_length(names, count, at);
        for (size_t i = 0; i < all; i++) {
            names[at + i].verdict = i < n ? verdict_of(names + at, i) : MERGE_LEAVE;
            beside += names[at + i].verdict == MERGE_BESIDE;
        }
    }
    return beside;
}
