/* SPDX-License-Identifier: BSD-3-Clause */
/* decide.c -- keeps, counts and hands out decisions. */
#include "decide.h"
#include "header.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_LEAST = 16, RUN_MS = 2 };

static void make_room(struct fifo *f, size_t bytes)
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
    f->base = realloc(f->base, f->size);
    if (!f->base)
        abort(); /* as everything else in an MPI process without memory */
}

static void append(struct fifo *f, uint8_t kind, const void *value, uint32_t size)
{
    uint32_t bytes = kind & DECIDE_RUN ? 0 : size;
    make_room(f, DECIDE_HEADER + (size_t)bytes);
    uint8_t *p = f->base + f->tail;
    p[0] = kind;
    header_put_u32(p + 1, size);
    if (bytes)
        memcpy(p + DECIDE_HEADER, value, bytes);
    f->tail += DECIDE_HEADER + bytes;
}

void decide_clear(struct decide *d)
{
    free(d->kept.base);
    free(d->due.base);
}

size_t decide_read(struct decide_record *r, const uint8_t *bytes, size_t length)
{
    if (length < DECIDE_HEADER)
        return 0;
    r->kind = bytes[0];
    r->size = header_get_u32(bytes + 1);
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
    append(&d->kept, d->run_kind | DECIDE_RUN, NULL, d->run);
    d->known++;
    d->run = 0;
}

void decide_add(struct decide *d, uint8_t kind, const void *value, uint32_t size)
{
    decide_close_run(d);
    append(&d->kept, kind, value, size);
    d->known++;
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
    size_t at = d->kept.head + d->told_at, length = d->kept.tail - at;
    *bytes = d->kept.base + at;
    *first = d->told;
    d->told = d->known;
    d->told_at += length;
    return length;
}

size_t decide_from(const struct decide *d, uint64_t number, const uint8_t **bytes)
{
    struct decide_record r;
    size_t at = d->kept.head;
    for (uint64_t i = d->first; i < number && at < d->kept.tail; i++)
        at += decide_read(&r, d->kept.base + at, d->kept.tail - at);
    *bytes = d->kept.base + at;
    return d->kept.tail - at;
}

void decide_forget(struct decide *d, uint64_t number)
{
    struct decide_record r;
    while (d->first < number && d->kept.head < d->kept.tail) {
        size_t length = decide_read(&r, d->kept.base + d->kept.head, d->kept.tail - d->kept.head);
        d->kept.head += length;
        d->first++;
        d->told_at = d->told_at > length ? d->told_at - length : 0;
    }
    if (d->told < d->first)
        d->told = d->first;
}

void decide_learn(struct decide *d, const struct decide_record *r)
{
    append(&d->kept, r->kind, r->value, r->size);
    d->known++;
    decide_tell(d, &(const uint8_t *){NULL}, &(uint64_t){0}); /* its maker tells the others */
    if (r->kind != DECIDE_MATCH)
        append(&d->due, r->kind, r->value, r->size);
}

static void take_one_of_run(struct fifo *f, uint32_t left)
{
    if (left == 0)
        f->head += DECIDE_HEADER;
    else
        header_put_u32(f->base + f->head + 1, left);
}

int decide_take(struct decide *d, uint8_t kind, void *value, size_t max, bool peek, uint8_t *found)
{
    struct decide_record r;
    struct fifo *f = &d->due;
    if (f->head == f->tail)
        return -EAGAIN;
    size_t length = decide_read(&r, f->base + f->head, f->tail - f->head);
    assert(length > 0);
    *found = r.kind & ~DECIDE_RUN;
    if (*found != kind)
        return -EPROTO;
    if (r.kind & DECIDE_RUN) {
        if (!peek)
            take_one_of_run(f, r.size - 1);
        return 0;
    }
    if (r.size > max)
        return -EMSGSIZE;
    memcpy(value, r.value, r.size);
    if (!peek)
        f->head += length;
    return (int)r.size;
}
