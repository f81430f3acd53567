/* SPDX-License-Identifier: BSD-3-Clause */
/* inquiry.c -- the questions about one guest's connection, and their answers. */
#include "inquiry.h"
#include <string.h>

static bool inquiry_is_same(const struct inquiry_call *a, const struct inquiry_call *b)
{
    return a->port == b->port && memcmp(a->ip, b->ip, sizeof a->ip) == 0 &&
           id_equal(&a->submitter, &b->submitter);
}

bool inquiry_is_open(const struct inquiry *q, const struct inquiry_call *call)
{
    for (size_t i = 0; i < q->count; i++)
        if (inquiry_is_same(&q->at[i].call, call))
            return true;
    return false;
}

bool inquiry_add(struct inquiry *q, const struct inquiry_call *call, const struct id *peer,
                 uint64_t now_ms)
{
    if (q->count == INQUIRY_MOST)
        return false;
    q->at[q->count++] = (struct inquiry_row){.call = *call,
                                             .peer = *peer,
                                             .token = ++q->token,
                                             .until_ms = now_ms + INQUIRY_PATIENCE_MS,
                                             .again_ms = now_ms,
                                             .pause_ms = INQUIRY_PAUSE_MS};
    return true;
}

static void inquiry_remove(struct inquiry *q, const struct inquiry_call *call)
{
    for (size_t i = 0; i < q->count;)
        if (inquiry_is_same(&q->at[i].call, call))
            q->at[i] = q->at[--q->count];
        else
            i++;
}

static void inquiry_put_off(struct inquiry_row *row, uint64_t now_ms)
{
    row->again_ms = now_ms + row->pause_ms;
    if (row->pause_ms < INQUIRY_PAUSE_MOST_MS)
        row->pause_ms *= 2;
}

static struct inquiry_row *inquiry_find(struct inquiry *q, const struct id *peer, uint32_t token)
{
    for (size_t i = 0; i < q->count; i++)
        if (q->at[i].token == token && id_equal(&q->at[i].peer, peer))
            return &q->at[i];
    return NULL;
}

enum inquiry_step inquiry_hear(struct inquiry *q, const struct id *peer, uint32_t token,
                               enum inquiry_answer answer, uint64_t now_ms,
                               struct inquiry_call *call, bool *yes)
{
    struct inquiry_row *row = inquiry_find(q, peer, token);
    if (row == NULL)
        return INQUIRY_NOTHING;
    if (answer == INQUIRY_LATER) {
        inquiry_put_off(row, now_ms);
        return INQUIRY_NOTHING;
    }
    *call = row->call;
    *yes = answer == INQUIRY_YES;
    *row = q->at[--q->count];
    if (!*yes && inquiry_is_open(q, call))
        return INQUIRY_NOTHING;
    inquiry_remove(q, call);
    return INQUIRY_SETTLED;
}

void inquiry_gone(struct inquiry *q, const struct id *peer, uint64_t now_ms)
{
    for (size_t i = 0; i < q->count; i++)
        if (id_equal(&q->at[i].peer, peer))
            inquiry_put_off(&q->at[i], now_ms);
}

enum inquiry_step inquiry_due(struct inquiry *q, uint64_t now_ms, struct inquiry_row *row)
{
    for (size_t i = 0; i < q->count; i++) {
        *row = q->at[i];
        if (now_ms >= row->until_ms) {
            inquiry_remove(q, &row->call);
            return INQUIRY_SETTLED;
        }
        if (now_ms >= row->again_ms) {
            q->at[i].again_ms = UINT64_MAX;
            return INQUIRY_ASK;
        }
    }
    return INQUIRY_NOTHING;
}

uint64_t inquiry_deadline(const struct inquiry *q)
{
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < q->count; i++) {
        const struct inquiry_row *row = &q->at[i];
        const uint64_t next = row->again_ms < row->until_ms ? row->again_ms : row->until_ms;
        due = next < due ? next : due;
    }
    return due;
}
