/* SPDX-License-Identifier: BSD-3-Clause */
/* packed.c -- keeps what pack.c has made, also that it has made nothing of an object. */
#include "packed.h"
#include "pack.h"
#include "overlay/base/hash.h"
#include <stdlib.h>
#include <string.h>

enum { OBJECTS_MOST = 64 };

struct packed_object {
    struct hash hash;
    uint8_t *bytes; /* NULL: it does not get smaller */
    size_t length;
    uint64_t used; /* when: a number that grows */
};

struct packed {
    struct packed_object all[OBJECTS_MOST];
    size_t count, bytes;
    uint64_t now;
};

struct packed *packed_new(void)
{
    return calloc(1, sizeof(struct packed));
}

static void packed_drop(struct packed *p, struct packed_object *o)
{
    p->bytes -= o->length;
    free(o->bytes);
    *o = p->all[--p->count];
}

void packed_clear(struct packed *p)
{
    while (p->count > 0)
        packed_drop(p, &p->all[0]);
}

void packed_free(struct packed *p)
{
    if (p != NULL)
        packed_clear(p);
    free(p);
}

size_t packed_bytes(const struct packed *p)
{
    return p->bytes;
}

static struct packed_object *packed_find(struct packed *p, const struct hash *object)
{
    for (size_t i = 0; i < p->count; i++)
        if (hash_equal(&p->all[i].hash, object))
            return &p->all[i];
    return NULL;
}

static struct packed_object *packed_oldest(struct packed *p)
{
    struct packed_object *oldest = &p->all[0];
    for (size_t i = 1; i < p->count; i++)
        if (p->all[i].used < oldest->used)
            oldest = &p->all[i];
    return oldest;
}

/* Without memory it is packed anew the next time. */
static void packed_keep(struct packed *p, const struct hash *object, const uint8_t *bytes,
                        size_t length)
{
    uint8_t *copy = length > 0 ? malloc(length) : NULL;
    if (length > 0 && copy == NULL)
        return;
    if (copy != NULL)
        memcpy(copy, bytes, length);
    while (p->count == OBJECTS_MOST || p->bytes + length > PACKED_MOST)
        packed_drop(p, packed_oldest(p));
    p->all[p->count++] = (struct packed_object){*object, copy, length, ++p->now};
    p->bytes += length;
}

size_t packed_make(struct packed *p, const struct hash *object, uint8_t *out, const uint8_t *bytes,
                   size_t size)
{
    struct packed_object *o = packed_find(p, object);
    if (o == NULL) {
        const size_t n = pack_make(out, bytes, size);
        packed_keep(p, object, out, n);
        return n;
    }
    if (o->length > 0)
        memcpy(out, o->bytes, o->length);
    o->used = ++p->now;
    return o->length;
}
