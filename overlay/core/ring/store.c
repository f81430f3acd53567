/* SPDX-License-Identifier: BSD-3-Clause */
/* store.c -- records packed end to end. There are tens of them, so a linear search is fast enough.
 */
#include "store.h"
#include <assert.h>
#include <string.h>

static size_t entry_size(size_t length)
{
    size_t align = _Alignof(struct store_entry);
    return (sizeof(struct store_entry) + length + align - 1) / align * align;
}

static struct store_entry *entry_at(const struct store *s, size_t at)
{
    return at < s->used ? (struct store_entry *)(s->bytes + at) : NULL;
}

static size_t store_offset(const struct store *s, const struct store_entry *e)
{
    return (size_t)((const uint8_t *)e - s->bytes);
}

void store_init(struct store *s, void *memory, size_t size)
{
    *s = (struct store){.bytes = memory, .size = size};
}

struct store_entry *store_next(const struct store *s, struct store_entry *e)
{
    return entry_at(s, e == NULL ? 0 : store_offset(s, e) + entry_size(e->length));
}

struct store_entry *store_find(const struct store *s, const struct id *key, const struct id *name)
{
    struct store_entry *e = NULL;
    while ((e = store_next(s, e)) != NULL)
        if (id_equal(&e->key, key) && id_equal(&e->name, name))
            break;
    return e;
}

const uint8_t *store_value(const struct store_entry *e)
{
    return (const uint8_t *)(e + 1);
}

struct store_entry *store_drop(struct store *s, struct store_entry *e)
{
    size_t at = store_offset(s, e), size = entry_size(e->length);
    assert(at + size <= s->used);
    memmove(s->bytes + at, s->bytes + at + size, s->used - at - size);
    s->used -= size;
    return entry_at(s, at);
}

struct store_entry *store_put(struct store *s, const struct store_entry *e, const uint8_t *value)
{
    struct store_entry *old = store_find(s, &e->key, &e->name);
    size_t size = entry_size(e->length), freed = old != NULL ? entry_size(old->length) : 0;
    if (s->size - s->used + freed < size)
        return NULL;
    if (old != NULL)
        store_drop(s, old);
    struct store_entry *new = (struct store_entry *)(s->bytes + s->used);
    s->used += size;
    *new = *e;
    if (e->length > 0)
        memmove(new + 1, value, e->length);
    return new;
}
