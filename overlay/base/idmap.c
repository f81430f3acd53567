/* SPDX-License-Identifier: BSD-3-Clause */
/* idmap.c -- open addressing with linear probing. Ids are hashes, so their first bytes serve as the
 * hash; an attacker cannot choose them, as each id costs a certificate. */
#include "idmap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct idmap_slot {
    struct id id;
    void *value; /* NULL: free */
};

static size_t idmap_home(const struct idmap *m, const struct id *id)
{
    uint64_t h;
    memcpy(&h, id->b, sizeof h);
    return h & (m->size - 1);
}

/* The slot of id, or the free one where it would go. */
static struct idmap_slot *idmap_find(const struct idmap *m, const struct id *id)
{
    size_t i = idmap_home(m, id);
    while (m->slots[i].value != NULL && !id_equal(&m->slots[i].id, id))
        i = (i + 1) & (m->size - 1);
    return &m->slots[i];
}

static int idmap_grow(struct idmap *m)
{
    struct idmap bigger = {.size = m->size == 0 ? 16 : 2 * m->size, .used = m->used};
    bigger.slots = calloc(bigger.size, sizeof *bigger.slots);
    if (bigger.slots == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < m->size; i++)
        if (m->slots[i].value != NULL)
            *idmap_find(&bigger, &m->slots[i].id) = m->slots[i];
    free(m->slots);
    *m = bigger;
    return 0;
}

void *idmap_get(const struct idmap *m, const struct id *id)
{
    return m->size == 0 ? NULL : idmap_find(m, id)->value;
}

int idmap_put(struct idmap *m, const struct id *id, void *value)
{
    if (4 * (m->used + 1) > 3 * m->size && idmap_grow(m) < 0)
        return -ENOMEM;
    struct idmap_slot *s = idmap_find(m, id);
    if (s->value == NULL)
        m->used++;
    *s = (struct idmap_slot){.id = *id, .value = value};
    return 0;
}

void *idmap_remove(struct idmap *m, const struct id *id)
{
    struct idmap_slot *s = m->size == 0 ? NULL : idmap_find(m, id);
    if (s == NULL || s->value == NULL)
        return NULL;
    void *value = s->value;
    s->value = NULL;
    m->used--;
    /* Entries behind the hole, up to the next free slot, may belong into it: they are inserted
     * again. */
    for (size_t i = (size_t)(s - m->slots);;) {
        i = (i + 1) & (m->size - 1);
        if (m->slots[i].value == NULL)
            return value;
        struct idmap_slot moved = m->slots[i];
        m->slots[i].value = NULL;
        *idmap_find(m, &moved.id) = moved;
    }
}

void *idmap_next(const struct idmap *m, size_t *at)
{
    while (*at < m->size) {
        void *value = m->slots[(*at)++].value;
        if (value != NULL)
            return value;
    }
    return NULL;
}

void idmap_clear(struct idmap *m)
{
    free(m->slots);
    *m = (struct idmap){0};
}
