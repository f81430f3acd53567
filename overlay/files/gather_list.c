/* SPDX-License-Identifier: BSD-3-Clause */
/* gather_list.c -- entry by entry; the hashes of files that were not touched are known. */
#include "gather_list.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t mtime_of(const struct stat *st)
{
    return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

/* As it is now, which may be another one than was gathered. */
static int list_file(struct list *l, const struct gathered_entry *entry, const char *source,
                     struct hashes *hashes, unsigned *missed, struct err *e)
{
    struct err ignored = {0};
    struct hash *chunks = NULL;
    struct stat st;
    const int fd = open(source, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int rc = fd < 0 || fstat(fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (rc == 0)
        rc = hashes_file(hashes, fd, &st, &chunks, &ignored);
    if (fd >= 0)
        close(fd);
    if (rc != 0) {
        ++*missed;
        return rc == -ENOMEM ? err_set(e, ENOMEM, "out of memory") : 0;
    }
    rc = list_add_file(l, entry->kind == GATHERED_FILE ? LIST_FILE : LIST_OUTSIDE, entry->path,
                       st.st_mode & 0777, mtime_of(&st), (uint64_t)st.st_size, chunks, e);
    free(chunks);
    return rc;
}

static int list_entry(struct list *l, const struct gathered_entry *entry,
                      const struct gather_listing *how, struct hashes *hashes, unsigned *missed,
                      struct err *e)
{
    char source[PATH_MAX];
    if (how->link != NULL && strcmp(how->link, entry->path) == 0)
        return list_add_link(l, entry->path, how->target, mtime_of(&entry->st), e);
    switch (entry->kind) {
    case GATHERED_FOLDER:
        return list_add_folder(l, entry->path, entry->st.st_mode & 0777, mtime_of(&entry->st), e);
    case GATHERED_LINK:
    case GATHERED_OUTSIDE_LINK:
        return list_add_link(l, entry->path, entry->target, mtime_of(&entry->st), e);
    case GATHERED_FILE:
    case GATHERED_OUTSIDE:
        break;
    }
    if (!gathered_source(entry, how->folder, source, sizeof source))
        return err_set(e, ENAMETOOLONG, "the path is too long: %s", entry->path);
    return list_file(l, entry, source, hashes, missed, e);
}

int gather_list(struct list **out, const struct gathered *g, const struct gather_listing *how,
                struct hashes *hashes, unsigned *missed, struct err *e)
{
    struct list *l = *out = list_new();
    uint64_t bytes = 0;
    int rc = l != NULL ? 0 : err_set(e, ENOMEM, "out of memory");
    for (size_t i = 0; i < g->count && rc == 0; i++) {
        const struct gathered_entry *entry = &g->at[i];
        rc = list_entry(l, entry, how, hashes, missed, e);
        if (entry->kind == GATHERED_FILE || entry->kind == GATHERED_OUTSIDE)
            bytes += (uint64_t)entry->st.st_size;
        if (how->progress != NULL)
            how->progress(how->ctx, bytes);
    }
    if (rc == 0 && how->link != NULL && !gathered_has(g, how->link))
        rc = list_add_link(l, how->link, how->target, 0, e);
    if (rc == 0)
        rc = list_end(l, e);
    if (rc != 0) {
        list_free(l);
        *out = NULL;
    }
    return rc;
}
