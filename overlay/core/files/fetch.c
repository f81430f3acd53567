/* SPDX-License-Identifier: BSD-3-Clause */
/* fetch.c -- what is on its way, from whom, and since when nothing was heard. */
#include "fetch.h"
#include <string.h>

static void act(struct fetch_out *out, enum fetch_action_kind kind, uint32_t object,
                const struct part_peer *peer, bool wrong)
{
    struct fetch_action *a = &out->action[out->count++];
    *a = (struct fetch_action){.kind = kind, .object = object, .wrong = wrong};
    if (peer != NULL)
        a->peer = *peer;
}

void fetch_init(struct fetch *f, uint64_t now_ms, struct fetch_out *out)
{
    memset(f, 0, sizeof *f);
    f->heard_ms = f->joined_ms = now_ms;
    out->count = 0;
    act(out, FETCH_JOIN, 0, NULL, false);
}

static int find(const struct fetch *f, const struct id *giver, uint32_t object)
{
    for (int i = 0; i < FETCH_COMING; i++)
        if (f->coming[i].used && f->coming[i].object == object &&
            (giver == NULL || id_equal(&f->coming[i].giver.id, giver)))
            return i;
    return -1;
}

static void fail(struct fetch *f, int place, bool wrong, struct fetch_out *out)
{
    struct fetch_coming *c = &f->coming[place];
    c->used = false;
    act(out, FETCH_FAILED, c->object, &c->giver, wrong);
}

void fetch_get(struct fetch *f, uint32_t object, const struct part_peer *giver, bool has,
               uint64_t now_ms, struct fetch_out *out)
{
    out->count = 0;
    f->heard_ms = now_ms;
    if (has || find(f, NULL, object) >= 0)
        return;
    for (int i = 0; i < FETCH_COMING; i++)
        if (!f->coming[i].used) {
            f->coming[i] = (struct fetch_coming){
                .object = object, .giver = *giver, .heard_ms = now_ms, .used = true};
            act(out, FETCH_ASK, object, giver, false);
            return;
        }
    act(out, FETCH_FAILED, object, giver, false); /* more than was agreed on */
}

int fetch_data(struct fetch *f, const struct id *giver, uint32_t object, uint32_t offset,
               uint32_t length, uint32_t size, uint64_t now_ms)
{
    const int i = find(f, giver, object);
    if (i < 0 || f->coming[i].bytes != offset || offset > size || length == 0 ||
        length > size - offset || (offset > 0 && f->coming[i].size != size))
        return -1;
    f->coming[i].size = size;
    f->coming[i].bytes += length;
    f->coming[i].heard_ms = f->heard_ms = now_ms;
    return i;
}

bool fetch_is_whole(const struct fetch *f, int place)
{
    return f->coming[place].bytes == f->coming[place].size;
}

void fetch_done(struct fetch *f, int place, bool right, struct fetch_out *out)
{
    out->count = 0;
    if (right)
        f->coming[place].used = false;
    else
        fail(f, place, true, out);
}

void fetch_refused(struct fetch *f, const struct id *giver, uint32_t object, struct fetch_out *out)
{
    const int i = find(f, giver, object);
    out->count = 0;
    if (i >= 0)
        fail(f, i, false, out);
}

void fetch_gone(struct fetch *f, const struct id *giver, struct fetch_out *out)
{
    out->count = 0;
    for (int i = 0; i < FETCH_COMING; i++)
        if (f->coming[i].used && id_equal(&f->coming[i].giver.id, giver))
            fail(f, i, false, out);
}

static bool is_idle(const struct fetch *f)
{
    for (int i = 0; i < FETCH_COMING; i++)
        if (f->coming[i].used)
            return false;
    return true;
}

void fetch_tick(struct fetch *f, uint64_t now_ms, struct fetch_out *out)
{
    out->count = 0;
    for (int i = 0; i < FETCH_COMING; i++)
        if (f->coming[i].used && now_ms - f->coming[i].heard_ms >= FETCH_GIVER_MS)
            fail(f, i, false, out);
    if (!f->over && now_ms - f->heard_ms >= FETCH_OFFERER_MS) {
        f->over = true;
        act(out, FETCH_OVER, 0, NULL, false);
    } else if (is_idle(f) && now_ms - f->heard_ms >= FETCH_REJOIN_MS &&
               now_ms - f->joined_ms >= FETCH_REJOIN_MS) {
        f->joined_ms = now_ms;
        act(out, FETCH_JOIN, 0, NULL, false);
    }
}
