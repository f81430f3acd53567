/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c -- which objects of a list are here: what comes, what other trees have, and what was left
 * by an earlier time and is looked at again. */
#include "store_state.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TREE_NAME_COST = 16 * 1024 }; /* a name for a file is as much work as so many bytes */

const struct list *tree_list(const struct tree *t)
{
    return t->list;
}

const struct hash *tree_hash(const struct tree *t)
{
    return &t->hash;
}

size_t tree_list_size(const struct tree *t)
{
    return t->list_size;
}

bool tree_is_whole(const struct tree *t)
{
    return t->whole;
}

uint64_t tree_have(const struct tree *t)
{
    return t->have_bytes;
}

bool tree_has(const struct tree *t, size_t object)
{
    return t->have[object / 8] >> (object % 8) & 1;
}

const uint8_t *tree_bits(const struct tree *t, uint32_t *length)
{
    *length = (uint32_t)((t->list->object_count + 7) / 8);
    return t->have;
}

const char *tree_path(const struct tree *t)
{
    return t->path;
}

/* --- in memory --- */

void tree_free(struct tree *t)
{
    if (t == NULL)
        return;
    list_free(t->list);
    free(t->objects);
    free(t->next_same);
    free(t->have);
    free(t->named);
    free(t);
}

static int tree_allocate(struct tree *t)
{
    const struct list *l = t->list;
    t->objects = malloc((l->object_count + 1) * sizeof *t->objects);
    t->next_same = malloc((l->chunk_count + 1) * sizeof *t->next_same);
    t->have = calloc(l->object_count / 8 + 1, 1);
    t->named = calloc(l->count + 1, 1);
    uint32_t *last = malloc((l->object_count + 1) * sizeof *last);
    if (t->objects == NULL || t->next_same == NULL || t->have == NULL || t->named == NULL ||
        last == NULL) {
        free(last);
        return -ENOMEM;
    }
    for (size_t i = 0; i < l->object_count; i++) {
        t->objects[i] = (struct tree_object){t, i};
        last[i] = UINT32_MAX;
    }
    for (size_t i = l->chunk_count; i-- > 0;) {
        const uint32_t object = l->object_of[i];
        t->next_same[i] = last[object] != UINT32_MAX ? last[object] : (uint32_t)i;
        last[object] = (uint32_t)i;
    }
    free(last);
    return 0;
}

struct tree *tree_new(struct store *s, const uint8_t *list, size_t length, struct err *e)
{
    struct tree *t = calloc(1, sizeof *t);
    if (t == NULL) {
        err_set(e, ENOMEM, "no memory for a list of files");
        return NULL;
    }
    t->store = s;
    t->list_size = length;
    list_hash(&t->hash, list, length);
    if (list_decode(&t->list, list, length, e) != 0) {
        free(t);
        return NULL;
    }
    if (tree_allocate(t) == 0)
        return t;
    err_set(e, ENOMEM, "no memory for a list of files");
    tree_free(t);
    return NULL;
}

void tree_mark(struct tree *t, size_t object)
{
    const struct list *l = t->list;
    if (tree_has(t, object))
        return;
    t->have[object / 8] |= (uint8_t)(1u << object % 8);
    t->have_count++;
    for (size_t c = l->objects[object].chunk;; c = t->next_same[c]) {
        t->have_bytes += l->objects[object].size;
        if (t->next_same[c] == c)
            break;
    }
}

static int tree_trouble(const struct tree *t, int rc, struct err *e)
{
    return err_set(e, -rc, "the job's files cannot be kept in %s: %s", t->store->folder,
                   strerror(-rc));
}

static int tree_end(struct tree *t, struct err *e)
{
    if (t->whole || t->have_count < t->list->object_count)
        return 0;
    const int rc = tree_finish(t);
    if (rc != 0)
        return tree_trouble(t, rc, e);
    t->whole = true;
    t->own = tree_measure(t);
    return 0;
}

/* --- what comes --- */

static int write_all(struct tree *t, size_t object, const uint8_t *bytes, size_t length)
{
    int rc = 0;
    for (size_t c = t->list->objects[object].chunk; rc == 0; c = t->next_same[c]) {
        const bool named = t->named[t->list->entry_of[c]];
        rc = named ? 0 : tree_write(t, c, bytes, length);
        t->own += named ? 0 : length;
        if (t->next_same[c] == c)
            break;
    }
    return rc;
}

static bool is_object(const struct tree *t, size_t object, const uint8_t *bytes, size_t length)
{
    struct hash h;
    list_hash(&h, bytes, length);
    return length == t->list->objects[object].size &&
           hash_equal(&h, &t->list->objects[object].hash);
}

int tree_put(struct tree *t, size_t object, const uint8_t *bytes, size_t length, struct err *e)
{
    if (tree_has(t, object))
        return 0;
    if (!is_object(t, object, bytes, length))
        return err_set(e, EBADMSG, "what came is not what the list says");
    const int rc = write_all(t, object, bytes, length);
    if (rc != 0)
        return tree_trouble(t, rc, e);
    tree_mark(t, object);
    return tree_end(t, e);
}

int tree_get(const struct tree *t, size_t object, uint8_t *out)
{
    return tree_has(t, object) ? tree_read(t, t->list->objects[object].chunk, out) : -ENOENT;
}

/* --- what is here already --- */

const struct list_entry *tree_twin(const struct tree *t, const struct list_entry *one,
                                   struct tree **in)
{
    const struct tree_object *p =
        one->chunk_count > 0 ? store_object(t->store, list_hashes(t->list, one)) : NULL;
    if (p == NULL || p->tree == t || !p->tree->whole || p->tree->unsure)
        return NULL;
    enum { LOOKS = 16 };
    const struct list *l = p->tree->list;
    *in = p->tree;
    for (size_t c = l->objects[p->object].chunk, n = 0; n < LOOKS; n++) {
        const struct list_entry *twin = &l->entries[l->entry_of[c]];
        if (twin->mode == one->mode && twin->mtime == one->mtime &&
            list_same(l, twin, t->list, one))
            return twin;
        if (p->tree->next_same[c] == c)
            break;
        c = p->tree->next_same[c];
    }
    return NULL;
}

/* Another name for a whole file. */
static bool adopt_file(struct tree *t, const struct list_entry *one)
{
    struct tree *from;
    const struct list_entry *twin = tree_twin(t, one, &from);
    if (twin == NULL || !tree_has_file(from, twin) || tree_link(t, one, from, twin) != 0)
        return false;
    t->named[one - t->list->entries] = 1;
    for (size_t i = 0; i < one->chunk_count; i++) {
        const uint32_t object = t->list->object_of[one->first_chunk + i];
        if (t->next_same[t->list->objects[object].chunk] == t->list->objects[object].chunk)
            tree_mark(t, object);
    }
    return true;
}

/* From the same tree, where it was left; from another one otherwise. */
static bool find_object(struct tree *t, size_t object)
{
    uint8_t *chunk = t->store->chunk;
    const struct tree_object *p = store_object(t->store, &t->list->objects[object].hash);
    int n = tree_read(t, t->list->objects[object].chunk, chunk);
    if (n >= 0 && is_object(t, object, chunk, (size_t)n))
        return true;
    n = p != NULL && p->tree != t
            ? tree_read(p->tree, p->tree->list->objects[p->object].chunk, chunk)
            : -ENOENT;
    return n >= 0 && is_object(t, object, chunk, (size_t)n);
}

static int adopt_object(struct tree *t, size_t object, struct err *e)
{
    if (tree_has(t, object) || !find_object(t, object))
        return 0;
    const int rc = write_all(t, object, t->store->chunk, t->list->objects[object].size);
    if (rc != 0)
        return tree_trouble(t, rc, e);
    tree_mark(t, object);
    return 0;
}

int tree_adopt(struct tree *t, size_t bytes, struct err *e)
{
    const struct list *l = t->list;
    size_t done = 0;
    int rc = 0;
    while (!t->whole && done < bytes && t->linked < l->count) {
        adopt_file(t, &l->entries[t->linked++]);
        done += TREE_NAME_COST;
    }
    while (!t->whole && rc == 0 && done < bytes && t->adopted < l->object_count) {
        done += tree_has(t, t->adopted) ? 64 : l->objects[t->adopted].size + TREE_NAME_COST;
        rc = adopt_object(t, t->adopted++, e);
    }
    if (rc == 0)
        rc = tree_end(t, e);
    return rc != 0 ? rc : !t->whole && t->adopted < l->object_count;
}
