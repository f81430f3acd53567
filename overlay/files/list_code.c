/* SPDX-License-Identifier: BSD-3-Clause */
/* list_code.c -- lists as bytes. */
#include "list_state.h"
#include "overlay/wire/wire.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_VERSION = 1, LIST_HEAD = 1 + 4, LIST_FIXED = 1 + 4 + 2 + 8 + 8 };

static size_t entry_size(const struct list_entry *one)
{
    return LIST_FIXED + strlen(one->path) + one->chunk_count * HASH_BYTES +
           (list_is_link(one) ? 4 + strlen(one->target) : 0);
}

static void put_bytes(struct wire_writer *w, const char *text)
{
    wire_put_bytes(w, (const uint8_t *)text, (uint32_t)strlen(text), LIST_PATH);
}

static void put_entry(struct wire_writer *w, const struct list *l, const struct list_entry *one)
{
    wire_put_u8(w, (uint8_t)one->kind);
    put_bytes(w, one->path);
    wire_put_u16(w, (uint16_t)one->mode);
    wire_put_u64(w, one->mtime);
    wire_put_u64(w, one->size);
    for (size_t i = 0; i < one->chunk_count; i++)
        wire_put_hash(w, &list_hashes(l, one)[i]);
    if (list_is_link(one))
        put_bytes(w, one->target);
}

int list_encode(const struct list *l, uint8_t **out, size_t *length, struct err *e)
{
    size_t size = LIST_HEAD;
    for (size_t i = 0; i < l->count; i++)
        size += entry_size(&l->entries[i]);
    if (size > LIST_SIZE)
        return err_set(e, E2BIG, "the list of %zu files is longer than %d MiB", l->count,
                       LIST_SIZE / 1024 / 1024);
    struct wire_writer w = {.base = malloc(size), .size = size};
    if (w.base == NULL)
        return err_set(e, ENOMEM, "no memory for a list of files");
    wire_put_u8(&w, LIST_VERSION);
    wire_put_u32(&w, (uint32_t)l->count);
    for (size_t i = 0; i < l->count; i++)
        put_entry(&w, l, &l->entries[i]);
    if (w.failed || w.at != size) {
        free(w.base);
        return err_set(e, EINVAL, "the list of files cannot be written");
    }
    *out = w.base;
    *length = size;
    return 0;
}

static bool get_text(struct wire_reader *r, char text[LIST_PATH + 1])
{
    uint32_t length;
    const uint8_t *bytes = wire_get_bytes(r, &length, LIST_PATH);
    if (bytes == NULL || memchr(bytes, '\0', length) != NULL)
        return false;
    memcpy(text, bytes, length);
    text[length] = '\0';
    return true;
}

/* Its chunks' hashes are still to be read. */
static bool get_head(struct wire_reader *r, struct list_entry *one, char path[LIST_PATH + 1])
{
    *one = (struct list_entry){.kind = wire_get_u8(r), .path = path};
    if (!get_text(r, path))
        return false;
    one->mode = wire_get_u16(r);
    one->mtime = wire_get_u64(r);
    one->size = wire_get_u64(r);
    return !r->failed && one->kind >= LIST_FILE && one->kind <= LIST_OUTSIDE_LINK;
}

static int get_file(struct wire_reader *r, struct list *l, const struct list_entry *one,
                    struct err *e)
{
    const size_t chunks = list_chunks(one->size);
    const struct hash *hashes = (const void *)(r->base + r->at);
    if (chunks > (r->size - r->at) / HASH_BYTES)
        return err_set(e, EINVAL, "%.200s: its content is not named", one->path);
    r->at += chunks * HASH_BYTES;
    return list_add_file(l, one->kind, one->path, one->mode, one->mtime, one->size, hashes, e);
}

static int get_entry(struct wire_reader *r, struct list *l, struct err *e)
{
    char path[LIST_PATH + 1], target[LIST_PATH + 1];
    struct list_entry one;
    if (!get_head(r, &one, path))
        return err_set(e, EINVAL, "the list of files cannot be read");
    if (one.kind == LIST_FILE || one.kind == LIST_OUTSIDE)
        return get_file(r, l, &one, e);
    if (one.size != 0 || (list_is_link(&one) && one.mode != 0777))
        return err_set(e, EINVAL, "%.200s: no file, and has a size or rights", path);
    if (one.kind == LIST_FOLDER)
        return list_add_folder(l, path, one.mode, one.mtime, e);
    if (!list_path_is_good(path, one.kind) || !get_text(r, target))
        return err_set(e, EINVAL, "%.200s: a link without a target", path);
    return list_add_link(l, path, target, one.mtime, e);
}

int list_decode(struct list **out, const uint8_t *bytes, size_t length, struct err *e)
{
    struct wire_reader r = {.base = bytes, .size = length};
    struct list *l = length <= LIST_SIZE ? list_new() : NULL;
    if (l == NULL)
        return err_set(e, length <= LIST_SIZE ? ENOMEM : E2BIG, "no memory for a list of files");
    int rc = wire_get_u8(&r) == LIST_VERSION ? 0 : err_set(e, EINVAL, "no list of files");
    const uint32_t count = wire_get_u32(&r);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = get_entry(&r, l, e);
    if (rc == 0 && (r.failed || r.at != r.size))
        rc = err_set(e, EINVAL, "the list of files cannot be read");
    if (rc == 0)
        rc = list_check(l, e);
    if (rc == 0)
        rc = list_number(l, e);
    if (rc == 0)
        *out = l;
    else
        list_free(l);
    return rc;
}
