/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_check.c -- has somebody changed what is kept? Nothing here writes to a tree once it is
 * whole, so times tell: a file's own, and the one of its inode, which nobody sets, against that of
 * the note that was made last. What has been given another name since, for another tree, is hashed.
 */
#include "store_state.h"
#include "overlay/base/file_at.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASHED_MOST = 64 * 1024 * 1024 }; /* bytes at a time: others wait meanwhile */

struct check {
    const struct tree *tree;
    struct timespec made; /* when it became whole, or was looked at */
    uint64_t hashed;
};

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static bool has_time(const struct stat *st, uint64_t mtime)
{
    return (uint64_t)st->st_mtim.tv_sec == mtime / 1000000000u &&
           (uint64_t)st->st_mtim.tv_nsec == mtime % 1000000000u;
}

static bool has_bytes(struct check *c, const char *path, const struct list_entry *one)
{
    const struct tree *t = c->tree;
    uint8_t *chunk = t->store->chunk;
    struct hash h;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool same = fd >= 0;
    for (size_t i = 0; i < one->chunk_count && same; i++) {
        const uint32_t length = list_chunk_size(one->size, i);
        same = file_read_at(fd, chunk, length, (off_t)i * LIST_CHUNK) == (ssize_t)length;
        list_hash(&h, chunk, length);
        same = same && hash_equal(&h, &list_hashes(t->list, one)[i]);
    }
    if (fd >= 0)
        close(fd);
    return same;
}

static bool is_file(struct check *c, const char *path, const struct list_entry *one)
{
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != one->size ||
        (st.st_mode & 07777) != (one->mode | 0400) || !has_time(&st, one->mtime))
        return false;
    if (!is_later(&st.st_ctim, &c->made))
        return true;
    c->hashed += one->size;
    return c->hashed > HASHED_MOST || has_bytes(c, path, one);
}

static bool is_link(const char *path, const char *target)
{
    char here[LIST_PATH + 2];
    const ssize_t n = readlink(path, here, sizeof here);
    return n == (ssize_t)strlen(target) && memcmp(here, target, (size_t)n) == 0;
}

/* No name has come into it or has gone. */
static bool is_folder(const struct check *c, const char *path, const struct list_entry *one)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && !is_later(&st.st_ctim, &c->made) &&
           (one == NULL || has_time(&st, one->mtime));
}

/* Folders above what has an absolute name are in no list. */
static bool are_parents(const struct check *c, char *path)
{
    const size_t top = strlen(c->tree->path) + 1;
    bool good = true;
    for (char *at = path + top; good && (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        good = is_folder(c, path, NULL);
        *at = '/';
    }
    return good;
}

static bool is_entry(struct check *c, const struct list_entry *one)
{
    char path[STORE_FILE];
    tree_file(c->tree, one, path);
    if (list_is_outside(one) && !are_parents(c, path))
        return false;
    return list_is_link(one)          ? is_link(path, one->target)
           : one->kind == LIST_FOLDER ? is_folder(c, path, one)
                                      : is_file(c, path, one);
}

static bool begin(struct check *c, const struct tree *t)
{
    char path[STORE_FILE];
    struct stat st;
    *c = (struct check){.tree = t};
    snprintf(path, sizeof path, "%s/boot", t->path);
    if (lstat(path, &st) != 0)
        return false;
    c->made = st.st_mtim;
    return true;
}

bool tree_is_unchanged(const struct tree *t)
{
    char path[STORE_FILE];
    struct check c;
    bool good = begin(&c, t);
    for (int i = 0; i < 2 && good; i++) {
        snprintf(path, sizeof path, "%s/%s", t->path, i == 0 ? "files" : "outside");
        good = is_folder(&c, path, NULL);
    }
    for (size_t i = 0; i < t->list->count && good; i++)
        good = is_entry(&c, &t->list->entries[i]);
    if (good && c.hashed > 0 && c.hashed <= HASHED_MOST)
        tree_note(t, "boot", t->store->boot,
                  strlen(t->store->boot)); /* it need not be done again */
    return good;
}

bool tree_has_file(const struct tree *t, const struct list_entry *one)
{
    char path[STORE_FILE];
    struct check c;
    tree_file(t, one, path);
    return begin(&c, t) && is_file(&c, path, one) && c.hashed <= HASHED_MOST;
}
