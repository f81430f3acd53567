/* SPDX-License-Identifier: BSD-3-Clause */
/* list_end.c -- puts a list in order: folders before what is in them, equal chunks found. */
#include "list_state.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- order --- */

static size_t parent_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) : 0;
}

/* Is what stands at `path` the folder or file that `other` is in? */
static bool holds(const char *path, const char *other)
{
    const size_t length = strlen(path);
    return strncmp(path, other, length) == 0 && other[length] == '/';
}

/* The folders that are open: each holds the next one, and the last one what comes next. */
struct folders {
    const struct list_entry *at[LIST_DEPTH + 1];
    size_t count;
};

static int check_parent(struct folders *f, const struct list_entry *one, struct err *e)
{
    while (f->count > 0 && !holds(f->at[f->count - 1]->path, one->path))
        f->count--;
    const struct list_entry *in = f->count > 0 ? f->at[f->count - 1] : NULL;
    const size_t length = list_is_outside(one) ? 0 : parent_length(one->path);
    if (in != NULL && in->kind != LIST_FOLDER)
        return err_set(e, ENOTDIR, "%.200s is in what is no folder", one->path);
    if (!list_is_outside(one) && (in != NULL ? strlen(in->path) : 0) != length)
        return err_set(e, ENOENT, "%.200s is in a folder that is not listed", one->path);
    f->at[f->count++] = one;
    return 0;
}

int list_check(const struct list *l, struct err *e)
{
    struct folders f = {.count = 0};
    int rc = 0;
    for (size_t i = 0; i < l->count && rc == 0; i++) {
        const struct list_entry *one = &l->entries[i];
        const int order = i > 0 ? list_compare(l->entries[i - 1].path, one->path) : -1;
        if (order == 0)
            return err_set(e, EEXIST, "%.200s is there twice", one->path);
        if (order > 0)
            return err_set(e, EINVAL, "%.200s is not in its place", one->path);
        rc = check_parent(&f, one, e);
    }
    return rc;
}

static int compare_entries(const void *a, const void *b)
{
    const struct list_entry *x = a, *y = b;
    return list_compare(x->path, y->path);
}

static int add_parents(struct list *l, struct err *e)
{
    const size_t count = l->count; /* those that are sorted */
    char path[LIST_PATH + 1];
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (list_is_outside(&l->entries[i]))
            continue;
        strcpy(path, l->entries[i].path);
        for (size_t n; rc == 0 && (n = parent_length(path)) > 0;) {
            path[n] = '\0';
            const bool follows = i > 0 && (holds(path, l->entries[i - 1].path) ||
                                           strcmp(path, l->entries[i - 1].path) == 0);
            if (follows) /* its folders were looked at */
                break;
            rc = list_add_folder(l, path, 0755, 0, e);
        }
    }
    return rc;
}

int list_end(struct list *l, struct err *e)
{
    if (l->count > 0)
        qsort(l->entries, l->count, sizeof l->entries[0], compare_entries);
    int rc = add_parents(l, e);
    if (l->count > 0)
        qsort(l->entries, l->count, sizeof l->entries[0], compare_entries);
    if (rc == 0)
        rc = list_check(l, e);
    return rc == 0 ? list_number(l, e) : rc;
}

/* --- chunks --- */

/* Files follow each other in the order of their entries, so that all who read the list number its
 * objects alike. */
static int renumber_chunks(struct list *l)
{
    struct hash *chunks = malloc((l->chunk_count + 1) * sizeof *chunks);
    l->entry_of = malloc((l->chunk_count + 1) * sizeof *l->entry_of);
    size_t at = 0;
    if (chunks == NULL || l->entry_of == NULL) {
        free(chunks);
        return -ENOMEM;
    }
    for (size_t i = 0; i < l->count; i++) {
        struct list_entry *one = &l->entries[i];
        for (size_t k = 0; k < one->chunk_count; k++) {
            chunks[at + k] = l->chunks[one->first_chunk + k];
            l->entry_of[at + k] = (uint32_t)i;
        }
        one->first_chunk = at;
        at += one->chunk_count;
    }
    free(l->chunks);
    l->chunks = chunks;
    l->chunk_capacity = l->chunk_count;
    return 0;
}

struct sorted {
    const struct hash *hash;
    uint32_t chunk;
};

static int compare_chunks(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    const int order = memcmp(x->hash->b, y->hash->b, HASH_BYTES);
    return order != 0 ? order : x->chunk < y->chunk ? -1 : 1;
}

static uint32_t size_of_chunk(const struct list *l, size_t chunk)
{
    const struct list_entry *one = &l->entries[l->entry_of[chunk]];
    return list_chunk_size(one->size, chunk - one->first_chunk);
}

/* object_of[] names for each chunk the first one that has the same hash, at first. */
static int find_same(struct list *l, struct err *e)
{
    struct sorted *sorted = malloc((l->chunk_count + 1) * sizeof *sorted);
    int rc = sorted != NULL ? 0 : err_set(e, ENOMEM, "no memory for a list of files");
    for (uint32_t i = 0; rc == 0 && i < l->chunk_count; i++)
        sorted[i] = (struct sorted){&l->chunks[i], i};
    if (rc == 0 && l->chunk_count > 0)
        qsort(sorted, l->chunk_count, sizeof *sorted, compare_chunks);
    for (size_t i = 0; rc == 0 && i < l->chunk_count; i++) {
        const bool again = i > 0 && hash_equal(sorted[i].hash, sorted[i - 1].hash);
        l->object_of[sorted[i].chunk] = again ? l->object_of[sorted[i - 1].chunk] : sorted[i].chunk;
        if (again && size_of_chunk(l, sorted[i].chunk) != size_of_chunk(l, sorted[i - 1].chunk))
            rc = err_set(e, EINVAL, "one hash for bytes of two lengths");
    }
    free(sorted);
    return rc;
}

int list_number(struct list *l, struct err *e)
{
    if (renumber_chunks(l) != 0)
        return err_set(e, ENOMEM, "no memory for a list of files");
    l->object_of = malloc((l->chunk_count + 1) * sizeof *l->object_of);
    l->objects = malloc((l->chunk_count + 1) * sizeof *l->objects);
    if (l->object_of == NULL || l->objects == NULL)
        return err_set(e, ENOMEM, "no memory for a list of files");
    int rc = find_same(l, e);
    for (uint32_t i = 0; rc == 0 && i < l->chunk_count; i++) {
        const bool first = l->object_of[i] == i;
        if (first)
            l->objects[l->object_count] =
                (struct list_object){l->chunks[i], size_of_chunk(l, i), i};
        l->object_of[i] = first ? (uint32_t)l->object_count++ : l->object_of[l->object_of[i]];
    }
    return rc;
}
