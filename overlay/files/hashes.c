/* SPDX-License-Identifier: BSD-3-Clause */
/* hashes.c -- an array in memory, read from its file as a whole and replaced as a whole. */
#include "hashes.h"
#include "list.h"
#include "overlay/base/file.h"
#include "overlay/wire/wire.h"
#include "overlay/base/file_at.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    HASHES_MAGIC = 0x70326801, /* the last byte is the version */
    HASHES_SIZE = 64 * 1024 * 1024,
    HASHES_KEPT = 30 * 24 * 3600,
    HASHES_NOTED = 24 * 3600, /* a use is written down when the last one is so long ago */
};

struct hashed {
    uint64_t device, inode, size, mtime, ctime, used;
    struct hash *chunks;
};

struct hashes {
    char path[PATH_MAX];
    struct hashed *at;
    size_t count, most;
    uint64_t now, read;
    bool changed;
};

static uint64_t nanoseconds(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static void hashes_path(char path[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache != NULL && cache[0] == '/')
        snprintf(path, PATH_MAX, "%s/p2pgrid/hashes", cache);
    else
        snprintf(path, PATH_MAX, "%s/.cache/p2pgrid/hashes", home != NULL ? home : "");
}

static struct hashed *hashes_add(struct hashes *h, const struct hashed *one)
{
    if (h->count == h->most) {
        struct hashed *more = realloc(h->at, (2 * h->most + 64) * sizeof *more);
        if (more == NULL)
            return NULL;
        h->at = more;
        h->most = 2 * h->most + 64;
    }
    h->at[h->count] = *one;
    return &h->at[h->count++];
}

/* --- its file --- */

static bool hashes_get(struct wire_reader *r, struct hashed *one)
{
    *one = (struct hashed){wire_get_u64(r),
                           wire_get_u64(r),
                           wire_get_u64(r),
                           wire_get_u64(r),
                           wire_get_u64(r),
                           wire_get_u64(r),
                           NULL};
    const size_t size = list_chunks(one->size) * HASH_BYTES;
    if (r->failed || size > r->size - r->at)
        return false;
    one->chunks = malloc(size + 1);
    if (one->chunks == NULL)
        return false;
    memcpy(one->chunks, r->base + r->at, size);
    r->at += size;
    return true;
}

static void hashes_decode(struct hashes *h, const uint8_t *bytes, size_t length)
{
    struct wire_reader r = {.base = bytes, .size = length};
    struct hashed one;
    if (wire_get_u32(&r) != HASHES_MAGIC)
        return;
    while (r.at < r.size && hashes_get(&r, &one))
        if (one.used + HASHES_KEPT < h->now || hashes_add(h, &one) == NULL)
            free(one.chunks);
}

static void hashes_load(struct hashes *h)
{
    const int fd = open(h->path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= HASHES_SIZE) {
        uint8_t *bytes = malloc((size_t)st.st_size);
        if (bytes != NULL && read(fd, bytes, (size_t)st.st_size) == st.st_size)
            hashes_decode(h, bytes, (size_t)st.st_size);
        free(bytes);
    }
    close(fd);
}

static void hashes_write(FILE *out, const struct hashed *one)
{
    uint8_t head[6 * 8];
    struct wire_writer w = {.base = head, .size = sizeof head};
    wire_put_u64(&w, one->device);
    wire_put_u64(&w, one->inode);
    wire_put_u64(&w, one->size);
    wire_put_u64(&w, one->mtime);
    wire_put_u64(&w, one->ctime);
    wire_put_u64(&w, one->used);
    fwrite(head, sizeof head, 1, out);
    fwrite(one->chunks, HASH_BYTES, list_chunks(one->size), out);
}

static void hashes_save(struct hashes *h)
{
    struct file f;
    char folder[PATH_MAX];
    uint8_t magic[4];
    struct wire_writer w = {.base = magic, .size = sizeof magic};
    snprintf(folder, sizeof folder, "%s", h->path);
    *strrchr(folder, '/') = '\0';
    wire_put_u32(&w, HASHES_MAGIC);
    if (file_make_folder(folder, NULL) != 0 || file_begin(&f, h->path, 0600, NULL) != 0)
        return; /* all is read again the next time */
    fwrite(magic, sizeof magic, 1, f.stream);
    for (size_t i = 0; i < h->count; i++)
        hashes_write(f.stream, &h->at[i]);
    file_end(&f, true, NULL);
}

struct hashes *hashes_open(const char *path)
{
    struct hashes *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    if (path != NULL)
        snprintf(h->path, sizeof h->path, "%s", path);
    else
        hashes_path(h->path);
    h->now = (uint64_t)time(NULL);
    hashes_load(h);
    return h;
}

void hashes_close(struct hashes *h)
{
    if (h == NULL)
        return;
    if (h->changed)
        hashes_save(h);
    for (size_t i = 0; i < h->count; i++)
        free(h->at[i].chunks);
    free(h->at);
    free(h);
}

/* --- a file's --- */

static struct hashed *hashes_find(struct hashes *h, const struct stat *st)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->at[i].inode == st->st_ino && h->at[i].device == st->st_dev)
            return &h->at[i];
    return NULL;
}

static bool is_as_it_was(const struct hashed *one, const struct stat *st)
{
    return one->size == (uint64_t)st->st_size && one->mtime == nanoseconds(&st->st_mtim) &&
           one->ctime == nanoseconds(&st->st_ctim);
}

static int hash_chunks(int fd, const struct stat *st, struct hash *chunks)
{
    const uint64_t size = (uint64_t)st->st_size;
    uint8_t *bytes = malloc(LIST_CHUNK);
    struct stat after;
    int rc = bytes != NULL ? 0 : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < list_chunks(size); i++) {
        const uint32_t length = list_chunk_size(size, i);
        const ssize_t n = file_read_at(fd, bytes, length, (off_t)i * LIST_CHUNK);
        rc = n < 0 ? (int)n : (size_t)n < length ? -EAGAIN : 0;
        if (rc == 0)
            list_hash(&chunks[i], bytes, length);
    }
    free(bytes);
    if (rc == 0 && fstat(fd, &after) != 0)
        rc = -errno;
    if (rc == 0 &&
        (after.st_size != st->st_size || nanoseconds(&after.st_mtim) != nanoseconds(&st->st_mtim)))
        rc = -EAGAIN;
    return rc;
}

/* What was written in this very moment may be written again without another time. */
static bool is_settled(const struct hashes *h, const struct stat *st)
{
    return st->st_mtim.tv_sec + 1 < (time_t)h->now && st->st_ctim.tv_sec + 1 < (time_t)h->now;
}

static void hashes_note(struct hashes *h, struct hashed *known, const struct stat *st,
                        const struct hash *chunks)
{
    const size_t size = list_chunks((uint64_t)st->st_size) * HASH_BYTES;
    const struct hashed one = {.device = st->st_dev,
                               .inode = st->st_ino,
                               .size = (uint64_t)st->st_size,
                               .mtime = nanoseconds(&st->st_mtim),
                               .ctime = nanoseconds(&st->st_ctim),
                               .used = h->now,
                               .chunks = malloc(size + 1)};
    if (one.chunks == NULL)
        return;
    memcpy(one.chunks, chunks, size);
    if (known != NULL) {
        free(known->chunks);
        *known = one;
    } else if (hashes_add(h, &one) == NULL) {
        free(one.chunks);
        return;
    }
    h->changed = true;
}

int hashes_file(struct hashes *h, int fd, const struct stat *st, struct hash **chunks,
                struct err *e)
{
    const size_t size = list_chunks((uint64_t)st->st_size) * HASH_BYTES;
    struct hashed *known = hashes_find(h, st);
    *chunks = malloc(size + 1);
    if (*chunks == NULL)
        return err_set(e, ENOMEM, "no memory for the hashes of a file");
    if (known != NULL && is_as_it_was(known, st)) {
        memcpy(*chunks, known->chunks, size);
        h->changed = h->changed || known->used + HASHES_NOTED < h->now;
        known->used = h->now;
        return 0;
    }
    const int rc = hash_chunks(fd, st, *chunks);
    if (rc != 0) {
        free(*chunks);
        return err_set(e, -rc, "%s", rc == -EAGAIN ? "it is being written to" : strerror(-rc));
    }
    h->read += (uint64_t)st->st_size;
    if (is_settled(h, st))
        hashes_note(h, known, st, *chunks);
    return 0;
}

uint64_t hashes_read(const struct hashes *h)
{
    return h->read;
}
