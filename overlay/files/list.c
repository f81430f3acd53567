/* SPDX-License-Identifier: BSD-3-Clause */
/* list.c -- what may be in a list, and what is. */
#include "list.h"
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

void list_hash(struct hash *out, const void *bytes, size_t length)
{
    crypto_generichash(out->b, sizeof out->b, bytes, length, NULL, 0);
}

size_t list_chunks(uint64_t size)
{
    return (size_t)(size / LIST_CHUNK + (size % LIST_CHUNK != 0));
}

uint32_t list_chunk_size(uint64_t file_size, size_t i)
{
    const uint64_t left = file_size - (uint64_t)i * LIST_CHUNK;
    return left < LIST_CHUNK ? (uint32_t)left : LIST_CHUNK;
}

/* --- names --- */

static bool list_is_system(const char *path)
{
    static const char *const folders[] = {"/usr", "/lib",  "/lib32", "/lib64", "/libx32",
                                          "/bin", "/sbin", "/etc",   "/proc",  "/sys",
                                          "/dev", "/run",  "/boot",  NULL};
    for (const char *const *f = folders; *f != NULL; f++)
        if (strncmp(path, *f, strlen(*f)) == 0 &&
            (path[strlen(*f)] == '/' || path[strlen(*f)] == '\0'))
            return true;
    return false;
}

static bool list_part_is_good(const char *part, size_t length)
{
    return length > 0 && length <= LIST_NAME && !(length == 1 && part[0] == '.') &&
           !(length == 2 && part[0] == '.' && part[1] == '.');
}

bool list_path_is_good(const char *path, enum list_kind kind)
{
    unsigned parts = 0;
    const bool outside = kind == LIST_OUTSIDE || kind == LIST_OUTSIDE_LINK;
    if (strlen(path) > LIST_PATH || (path[0] == '/') != outside ||
        (outside && list_is_system(path)))
        return false;
    for (const char *part = path + (path[0] == '/');; part++) {
        const size_t length = strcspn(part, "/");
        if (!list_part_is_good(part, length) || ++parts > LIST_DEPTH)
            return false;
        part += length;
        if (*part == '\0')
            return true;
    }
}

bool list_is_link(const struct list_entry *entry)
{
    return entry->kind == LIST_LINK || entry->kind == LIST_OUTSIDE_LINK;
}

bool list_is_outside(const struct list_entry *entry)
{
    return entry->kind == LIST_OUTSIDE || entry->kind == LIST_OUTSIDE_LINK;
}

static int list_order(char c)
{
    return c == '\0' ? 0 : c == '/' ? 1 : 1 + (unsigned char)c;
}

int list_compare(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return list_order(*a) - list_order(*b);
}

/* --- making one --- */

struct list *list_new(void)
{
    return sodium_init() >= 0 ? calloc(1, sizeof(struct list)) : NULL;
}

void list_free(struct list *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; i < l->count; i++) {
        free(l->entries[i].path);
        free(l->entries[i].target);
    }
    free(l->entries);
    free(l->chunks);
    free(l->object_of);
    free(l->entry_of);
    free(l->objects);
    free(l);
}

static int list_make_room(struct list *l, size_t chunks)
{
    const size_t most = l->most == l->count ? 2 * l->most + 16 : l->most;
    const size_t need = l->chunk_count + chunks;
    const size_t chunk_capacity = l->chunk_capacity < need ? 2 * need : l->chunk_capacity;
    struct list_entry *entries = realloc(l->entries, most * sizeof *entries);
    if (entries != NULL)
        l->entries = entries;
    struct hash *hashes = realloc(l->chunks, (chunk_capacity + 1) * sizeof *hashes);
    if (hashes != NULL)
        l->chunks = hashes;
    if (entries == NULL || hashes == NULL)
        return -ENOMEM;
    l->most = most;
    l->chunk_capacity = chunk_capacity;
    return 0;
}

static int list_add(struct list *l, const struct list_entry *entry, const struct hash *chunks,
                    struct err *e)
{
    struct list_entry one = *entry;
    if (!list_path_is_good(one.path, one.kind))
        return err_set(e, EINVAL, "%.200s: no name that may travel", one.path);
    if (one.mode > 0777)
        return err_set(e, EINVAL, "%.200s: more than read, write and execute is asked for",
                       one.path);
    if (l->count == LIST_ENTRIES || one.chunk_count > LIST_CHUNKS - l->chunk_count)
        return err_set(e, E2BIG, "more than %d files, or more than %d GiB", LIST_ENTRIES,
                       LIST_CHUNKS / 1024);
    one.path = strdup(entry->path);
    one.target = entry->target != NULL ? strdup(entry->target) : NULL;
    if (one.path == NULL || (entry->target != NULL && one.target == NULL) ||
        list_make_room(l, one.chunk_count) != 0) {
        free(one.path);
        free(one.target);
        return err_set(e, ENOMEM, "no memory for a list of files");
    }
    one.first_chunk = l->chunk_count;
    if (one.chunk_count > 0)
        memcpy(l->chunks + l->chunk_count, chunks, one.chunk_count * sizeof *chunks);
    l->chunk_count += one.chunk_count;
    l->entries[l->count++] = one;
    l->bytes += one.size;
    return 0;
}

int list_add_file(struct list *l, enum list_kind kind, const char *path, unsigned mode,
                  uint64_t mtime, uint64_t size, const struct hash *chunks, struct err *e)
{
    if (size > (uint64_t)LIST_CHUNKS * LIST_CHUNK)
        return err_set(e, E2BIG, "%.200s: too large a file", path);
    const struct list_entry one = {.kind = kind,
                                   .path = (char *)path,
                                   .mode = mode,
                                   .mtime = mtime,
                                   .size = size,
                                   .chunk_count = list_chunks(size)};
    return list_add(l, &one, chunks, e);
}

int list_add_folder(struct list *l, const char *path, unsigned mode, uint64_t mtime, struct err *e)
{
    const struct list_entry one = {
        .kind = LIST_FOLDER, .path = (char *)path, .mode = mode, .mtime = mtime};
    return list_add(l, &one, NULL, e);
}

int list_add_link(struct list *l, const char *path, const char *target, uint64_t mtime,
                  struct err *e)
{
    const struct list_entry one = {.kind = path[0] == '/' ? LIST_OUTSIDE_LINK : LIST_LINK,
                                   .path = (char *)path,
                                   .target = (char *)target,
                                   .mode = 0777,
                                   .mtime = mtime};
    if (target[0] == '\0' || strlen(target) > LIST_PATH)
        return err_set(e, EINVAL, "%.200s: a link to nowhere, or too far", path);
    return list_add(l, &one, NULL, e);
}

/* --- looking at it --- */

const struct list_entry *list_find(const struct list *l, const char *path)
{
    size_t low = 0, high = l->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = list_compare(l->entries[middle].path, path);
        if (order == 0)
            return &l->entries[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct hash *list_hashes(const struct list *l, const struct list_entry *entry)
{
    return l->chunks + entry->first_chunk;
}

bool list_same(const struct list *a, const struct list_entry *x, const struct list *b,
               const struct list_entry *y)
{
    return x->size == y->size && x->chunk_count == y->chunk_count &&
           (x->chunk_count == 0 || memcmp(list_hashes(a, x), list_hashes(b, y),
                                          x->chunk_count * sizeof(struct hash)) == 0);
}
