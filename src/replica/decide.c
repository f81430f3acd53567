/* SPDX-License-Identifier: BSD-3-Clause */
/* decide.c -- retains, counts and hands out decisions. */
#include "decide.h"
#include "header.h"
#include "memory.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_LEAST = 16, RUN_MS = 2 };

static void fifo_make_room(struct fifo *f, size_t bytes)
{
    if (f->tail + bytes <= f->size)
        return;
    if (f->head > f->size / 2) {
        memmove(f->base, f->base + f->head, f->tail - f->head);
        f->tail -= f->head;
        f->head = 0;
    }
    if (f->tail + bytes <= f->size)
        return;
    f->size = 2 * (f->tail + bytes) + 256;
    f->base = memory_resized(f->base, f->size);
}

uint8_t *fifo_extend(struct fifo *f, size_t bytes)
{
    fifo_make_room(f, bytes);
    f->tail += bytes;
    return f->base + f->tail - bytes;
}

static size_t fifo_append(struct fifo *f, uint8_t kind, const void *value, uint32_t size)
{
    const size_t bytes = kind & DECIDE_RUN ? 0 : size;
    uint8_t *p = fifo_extend(f, DECIDE_HEADER + bytes);
    p[0] = kind;
    bytes_put_u32(p + 1, size);
    if (bytes)
        memcpy(p + DECIDE_HEADER, value, bytes);
    return DECIDE_HEADER + bytes;
}

static void decide_retain(struct decide *d, uint8_t kind, const void *value, uint32_t size)
{
    d->bytes += fifo_append(&d->retained, kind, value, size);
    d->known++;
}

void decide_clear(struct decide *d)
{
    free(d->retained.base);
    free(d->due.base);
}

size_t decide_read(struct decide_record *r, const uint8_t *bytes, size_t length)
{
    if (length < DECIDE_HEADER)
        return 0;
    r->kind = bytes[0];
    r->size = bytes_get_u32(bytes + 1);
    r->value = bytes + DECIDE_HEADER;
    if (r->kind & DECIDE_RUN)
        return r->size > 0 ? DECIDE_HEADER : 0;
    if (r->size > ENGINE_DECISION_MAX || r->size > length - DECIDE_HEADER)
        return 0;
    return DECIDE_HEADER + r->size;
}

void decide_close_run(struct decide *d)
{
    if (d->run == 0)
        return;
    decide_retain(d, d->run_kind | DECIDE_RUN, NULL, d->run);
    d->run = 0;
}

void decide_add(struct decide *d, uint8_t kind, const void *value, uint32_t size)
{
    decide_close_run(d);
    decide_retain(d, kind, value, size);
}

void decide_not_yet(struct decide *d, uint8_t kind, uint64_t now_ms)
{
    if (d->run_kind != kind || d->run == UINT32_MAX)
        decide_close_run(d);
    if (d->run == 0)
        d->run_ms = now_ms;
    d->run_kind = kind;
    d->run++;
}

bool decide_is_worth_telling(const struct decide *d, uint64_t now_ms, bool rests)
{
    return d->told != d->known ||
           (d->run > 0 && (!rests || d->run >= RUN_LEAST || now_ms - d->run_ms >= RUN_MS));
}

size_t decide_tell(struct decide *d, const uint8_t **bytes, uint64_t *first)
{
    size_t at = d->retained.head + d->told_at, length = d->retained.tail - at;
    *bytes = d->retained.base + at;
    *first = d->told;
    d->told = d->known;
    d->told_at += length;
    return length;
}

size_t decide_from(const struct decide *d, uint64_t number, const uint8_t **bytes)
{
    struct decide_record r;
    size_t at = d->retained.head;
    for (uint64_t i = d->first; i < number && at < d->retained.tail; i++)
        at += decide_read(&r, d->retained.base + at, d->retained.tail - at);
    *bytes = at < d->retained.tail ? d->retained.base + at : NULL;
    return d->retained.tail - at;
}

size_t decide_since(const struct decide *d, struct decide_mark *m, const uint8_t **bytes,
                    uint64_t *first)
{
    const size_t retained = d->retained.tail - d->retained.head;
    const uint64_t since = d->bytes - m->bytes;
    const size_t length = since < retained ? (size_t)since : retained;
    *bytes = d->retained.base + d->retained.tail - length;
    *first = since < retained ? m->number : d->first;
    *m = (struct decide_mark){.number = d->known, .bytes = d->bytes};
    return length;
}

void decide_forget(struct decide *d, uint64_t number)
{
    struct decide_record r;
    while (d->first < number && d->retained.head < d->retained.tail) {
        size_t length = decide_read(&r, d->retained.base + d->retained.head,
                                    d->retained.tail - d->retained.head);
        d->retained.head += length;
        d->first++;
        d->told_at = d->told_at > length ? d->told_at - length : 0;
    }
    if (d->told < d->first)
        d->told = d->first;
}

void decide_learn(struct decide *d, const struct decide_record *r)
{
    decide_retain(d, r->kind, r->value, r->size);
    decide_tell(d, &(const uint8_t *){NULL},
                &(uint64_t){0}); /* the replica that made it tells the others */
    if (r->kind != DECIDE_MATCH)
        fifo_append(&d->due, r->kind, r->value, r->size);
}

static void run_take_one(struct fifo *f, uint32_t left)
{
    if (left == 0)
        f->head += DECIDE_HEADER;
    else
        bytes_put_u32(f->base + f->head + 1, left);
}

int decide_take(struct decide *d, uint8_t kind, void *value, size_t max, bool peek, uint8_t *found)
{
    struct decide_record r;
    struct fifo *f = &d->due;
    size_t length;
    for (;; f->head += length) {
        if (f->head == f->tail)
            return -EAGAIN;
        length = decide_read(&r, f->base + f->head, f->tail - f->head);
        assert(length > 0);
        *found = r.kind & ~DECIDE_RUN;
        if (*found == kind)
            break;
        if (!decide_is_look(*found))
            return decide_is_look(kind) ? -ENOENT : -EPROTO;
    }
    if (r.kind & DECIDE_RUN) {
        if (!peek)
            run_take_one(f, r.size - 1);
        return 0;
    }
    if (r.size > max)
        return -EMSGSIZE;
    memcpy(value, r.value, r.size);
    if (!peek)
        f->head += length;
    return (int)r.size;
}

uint64_t decide_used(const struct decide *d)
{
    return d->bytes - (d->due.tail - d->due.head);
}
