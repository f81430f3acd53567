/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_files.c -- a tree on the disk. While it is made only this process writes in it, and links
 * are made last, so that no name of the list leads out of it. */
#include "store_state.h"
#include "overlay/base/file_at.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tree_file(const struct tree *t, const struct list_entry *one, char path[STORE_FILE])
{
    const bool outside = list_is_outside(one);
    snprintf(path, STORE_FILE, "%s/%s%s", t->path, outside ? "outside" : "files/", one->path);
}

static const struct list_entry *entry_of(const struct tree *t, size_t chunk)
{
    return &t->list->entries[t->list->entry_of[chunk]];
}

static int make_parents(const struct tree *t, char *path)
{
    for (char *at = path + strlen(t->path) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        const int rc = mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
        *at = '/';
        if (rc != 0)
            return rc;
    }
    return 0;
}

int tree_note(const struct tree *t, const char *name, const void *bytes, size_t length)
{
    char path[STORE_FILE];
    snprintf(path, sizeof path, "%s/%s", t->path, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const ssize_t n = fd >= 0 ? write(fd, bytes, length) : -1;
    const int rc = n == (ssize_t)length ? 0 : n < 0 ? -errno : -ENOSPC;
    if (fd >= 0)
        close(fd);
    return rc;
}

static int make_folder(const struct tree *t, const char *name)
{
    char path[STORE_FILE];
    snprintf(path, sizeof path, "%s/%s", t->path, name);
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
}

int tree_make(struct tree *t)
{
    char path[STORE_FILE];
    int rc = mkdir(t->path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
    if (rc == 0)
        rc = make_folder(t, "files");
    if (rc == 0)
        rc = make_folder(t, "outside");
    for (size_t i = 0; rc == 0 && i < t->list->count; i++) {
        tree_file(t, &t->list->entries[i], path);
        if (t->list->entries[i].kind == LIST_FOLDER && mkdir(path, 0700) != 0 && errno != EEXIST)
            rc = -errno;
    }
    return rc;
}

/* --- content --- */

/* A tree that is looked at again may have files that are not to be written. */
static int open_to_write(const struct tree *t, const struct list_entry *one)
{
    char path[STORE_FILE];
    struct stat st;
    tree_file(t, one, path);
    const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    int rc = one->kind == LIST_OUTSIDE ? make_parents(t, path) : 0;
    if (rc != 0)
        return rc;
    int fd = open(path, flags, 0600);
    if (fd < 0 && errno == EACCES && fchmodat(AT_FDCWD, path, 0600, 0) == 0)
        fd = open(path, flags, 0600);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) != 0 ||
        ((uint64_t)st.st_size != one->size && ftruncate(fd, (off_t)one->size) != 0)) {
        rc = -errno;
        close(fd);
        return rc;
    }
    return fd;
}

int tree_write(struct tree *t, size_t chunk, const uint8_t *bytes, size_t length)
{
    const struct list_entry *one = entry_of(t, chunk);
    const off_t offset = (off_t)(chunk - one->first_chunk) * LIST_CHUNK;
    const int fd = open_to_write(t, one);
    if (fd < 0)
        return fd;
    int rc = file_write_at(fd, bytes, length, offset);
    if (close(fd) != 0 && rc == 0)
        rc = -errno;
    return rc;
}

int tree_read(const struct tree *t, size_t chunk, uint8_t *out)
{
    const struct list_entry *one = entry_of(t, chunk);
    const uint32_t length = list_chunk_size(one->size, chunk - one->first_chunk);
    const off_t offset = (off_t)(chunk - one->first_chunk) * LIST_CHUNK;
    char path[STORE_FILE];
    tree_file(t, one, path);
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    const ssize_t n = file_read_at(fd, out, length, offset);
    close(fd);
    return n == (ssize_t)length ? (int)length : -EIO;
}

int tree_link(struct tree *t, const struct list_entry *one, const struct tree *from,
              const struct list_entry *twin)
{
    char here[STORE_FILE], there[STORE_FILE];
    tree_file(t, one, here);
    tree_file(from, twin, there);
    int rc = one->kind == LIST_OUTSIDE ? make_parents(t, here) : 0;
    if (rc == 0 && link(there, here) != 0)
        rc = -errno;
    return rc;
}

/* --- the end --- */

static int give_rights(const char *path, const struct list_entry *one)
{
    const struct timespec when = {.tv_sec = (time_t)(one->mtime / 1000000000u),
                                  .tv_nsec = (long)(one->mtime % 1000000000u)};
    const struct timespec times[2] = {when, when};
    const unsigned least = one->kind == LIST_FOLDER ? 0500 : 0400; /* rooms are the owner's, too */
    if (!list_is_link(one) && fchmodat(AT_FDCWD, path, one->mode | least, 0) != 0)
        return -errno;
    return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -errno;
}

static int finish_entry(const struct tree *t, const struct list_entry *one)
{
    char path[STORE_FILE];
    tree_file(t, one, path);
    const int rc = one->kind == LIST_OUTSIDE_LINK ? make_parents(t, path) : 0;
    if (rc != 0)
        return rc;
    if (list_is_link(one) && symlink(one->target, path) != 0 && errno != EEXIST)
        return -errno;
    if (one->size == 0 && (one->kind == LIST_FILE || one->kind == LIST_OUTSIDE)) {
        const int fd = open_to_write(t, one);
        if (fd < 0)
            return fd;
        close(fd);
    }
    return give_rights(path, one);
}

/* From the last to the first: a folder gets its time after what is in it, and a link is made when
 * no folder above it is closed. */
int tree_finish(struct tree *t)
{
    char name[STORE_PATH + 1];
    int rc = 0;
    for (size_t i = t->list->count; rc == 0 && i-- > 0;)
        rc = finish_entry(t, &t->list->entries[i]);
    if (rc == 0)
        rc = tree_note(t, "boot", t->store->boot, strlen(t->store->boot));
    strcpy(name, t->path);
    name[strlen(name) - strlen(".part")] = '\0';
    if (rc == 0 && rename(t->path, name) != 0)
        rc = -errno;
    if (rc == 0)
        strcpy(t->path, name);
    return rc;
}

int tree_doubt(struct tree *t)
{
    char name[STORE_PATH + 1];
    if (snprintf(name, sizeof name, "%s.part", t->path) >= (int)sizeof name)
        return -ENAMETOOLONG;
    if (rename(t->path, name) != 0)
        return -errno;
    strcpy(t->path, name);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < t->list->count; i++) {
        char path[STORE_FILE];
        tree_file(t, &t->list->entries[i], path);
        if (t->list->entries[i].kind == LIST_FOLDER && fchmodat(AT_FDCWD, path, 0700, 0) != 0)
            rc = errno == ENOENT ? 0 : -errno;
        else if (list_is_link(&t->list->entries[i]))
            unlink(path);
    }
    return rc == 0 ? tree_make(t) : rc;
}

uint64_t tree_measure(const struct tree *t)
{
    char path[STORE_FILE];
    struct stat st;
    uint64_t sum = t->list_size;
    for (size_t i = 0; i < t->list->count; i++) {
        const struct list_entry *one = &t->list->entries[i];
        if (one->size == 0)
            continue;
        tree_file(t, one, path);
        if (lstat(path, &st) == 0 && st.st_nlink > 0)
            sum += (uint64_t)st.st_blocks * 512 / st.st_nlink;
    }
    return sum;
}

void tree_touch(const struct tree *t)
{
    char path[STORE_FILE];
    snprintf(path, sizeof path, "%s/list", t->path);
    utimensat(AT_FDCWD, path, NULL, 0);
}
