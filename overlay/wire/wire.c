/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.c -- primitives of the codec; the messages themselves are in message.def. */
#include "wire.h"
#include "overlay/base/text.h"
#include <string.h>

void wire_put_since(struct wire_writer *w, unsigned version)
{
    w->absent = w->absent || w->version < version;
    w->failed = w->failed || (w->absent && w->at == WIRE_HEADER);
}

void wire_get_since(struct wire_reader *r, unsigned version)
{
    r->absent = r->absent || r->version < version;
    r->failed = r->failed || (r->absent && r->at == WIRE_HEADER);
}

static uint8_t *wire_room(struct wire_writer *w, size_t n)
{
    if (w->absent)
        return NULL;
    if (w->failed || w->size - w->at < n) {
        w->failed = true;
        return NULL;
    }
    w->at += n;
    return w->base + w->at - n;
}

static const uint8_t *wire_take(struct wire_reader *r, size_t n)
{
    if (r->absent)
        return NULL;
    if (r->failed || r->size - r->at < n) {
        r->failed = true;
        return NULL;
    }
    r->at += n;
    return r->base + r->at - n;
}

static void put_number(struct wire_writer *w, uint64_t v, size_t n)
{
    uint8_t *p = wire_room(w, n);
    for (size_t i = 0; p != NULL && i < n; i++)
        p[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

static uint64_t get_number(struct wire_reader *r, size_t n)
{
    const uint8_t *p = wire_take(r, n);
    uint64_t v = 0;
    for (size_t i = 0; p != NULL && i < n; i++)
        v = v << 8 | p[i];
    return v;
}

static void put_run(struct wire_writer *w, const void *v, size_t n)
{
    uint8_t *p = wire_room(w, n);
    if (p != NULL && n > 0)
        memcpy(p, v, n);
}

static void get_run(struct wire_reader *r, void *v, size_t n)
{
    const uint8_t *p = wire_take(r, n);
    if (p != NULL)
        memcpy(v, p, n);
    else
        memset(v, 0, n);
}

void wire_put_u8(struct wire_writer *w, uint8_t v)
{
    put_number(w, v, 1);
}

void wire_put_u16(struct wire_writer *w, uint16_t v)
{
    put_number(w, v, 2);
}

void wire_put_u32(struct wire_writer *w, uint32_t v)
{
    put_number(w, v, 4);
}

void wire_put_u64(struct wire_writer *w, uint64_t v)
{
    put_number(w, v, 8);
}

void wire_put_id(struct wire_writer *w, const struct id *v)
{
    put_run(w, v->b, ID_BYTES);
}

void wire_put_hash(struct wire_writer *w, const struct hash *v)
{
    put_run(w, v->b, HASH_BYTES);
}

void wire_put_addr(struct wire_writer *w, const struct addr *v)
{
    put_run(w, v->ip, sizeof v->ip);
    wire_put_u16(w, v->port);
}

/* What others will refuse is never sent. */
static void put_shown(struct wire_writer *w, const char *v, size_t max, bool lines)
{
    size_t n = strnlen(v, max + 1);
    if (n > max) {
        w->failed = true;
        return;
    }
    wire_put_u16(w, (uint16_t)n);
    const size_t at = w->at;
    put_run(w, v, n);
    if (!w->failed && !w->absent)
        text_clean(w->base + at, n, lines);
}

void wire_put_text(struct wire_writer *w, const char *v, size_t max)
{
    put_shown(w, v, max, false);
}

void wire_put_lines(struct wire_writer *w, const char *v, size_t max)
{
    put_shown(w, v, max, true);
}

void wire_put_bytes(struct wire_writer *w, const uint8_t *v, uint32_t length, uint32_t max)
{
    if (length > max) {
        w->failed = true;
        return;
    }
    wire_put_u32(w, length);
    put_run(w, v, length);
}

uint8_t wire_get_u8(struct wire_reader *r)
{
    return (uint8_t)get_number(r, 1);
}

uint16_t wire_get_u16(struct wire_reader *r)
{
    return (uint16_t)get_number(r, 2);
}

uint32_t wire_get_u32(struct wire_reader *r)
{
    return (uint32_t)get_number(r, 4);
}

uint64_t wire_get_u64(struct wire_reader *r)
{
    return get_number(r, 8);
}

void wire_get_id(struct wire_reader *r, struct id *v)
{
    get_run(r, v->b, ID_BYTES);
}

void wire_get_hash(struct wire_reader *r, struct hash *v)
{
    get_run(r, v->b, HASH_BYTES);
}

void wire_get_addr(struct wire_reader *r, struct addr *v)
{
    get_run(r, v->ip, sizeof v->ip);
    v->port = wire_get_u16(r);
}

static void get_shown(struct wire_reader *r, char *v, size_t max, bool lines)
{
    size_t n = wire_get_u16(r);
    const uint8_t *p = n <= max ? wire_take(r, n) : NULL;
    if (p == NULL || !text_is_shown(p, n, lines)) {
        r->failed = r->failed || !r->absent;
        v[0] = '\0';
        return;
    }
    memcpy(v, p, n);
    v[n] = '\0';
}

void wire_get_text(struct wire_reader *r, char *v, size_t max)
{
    get_shown(r, v, max, false);
}

void wire_get_lines(struct wire_reader *r, char *v, size_t max)
{
    get_shown(r, v, max, true);
}

const uint8_t *wire_get_bytes(struct wire_reader *r, uint32_t *length, uint32_t max)
{
    uint32_t n = wire_get_u32(r);
    const uint8_t *p = n <= max ? wire_take(r, n) : NULL;
    if (p == NULL)
        r->failed = r->failed || !r->absent;
    *length = p != NULL ? n : 0;
    return p;
}

void wire_get_more(struct wire_reader *r, size_t max)
{
    r->failed = r->failed || r->size - r->at > max;
    r->at = r->size;
}
