/* SPDX-License-Identifier: BSD-3-Clause */
/* travelled.c -- walks a tree of the store. */
#include "travelled.h"
#include "outside.h"
#include "overlay/base/beneath.h"
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Data files have the bit, too, where all files have it. */
static bool is_program(int file)
{
    char magic[4] = "";
    return pread(file, magic, sizeof magic, 0) >= 2 &&
           (memcmp(magic, "#!", 2) == 0 || memcmp(magic, "\177ELF", 4) == 0);
}

static int travelled_add(struct travelled *t, int file, const char *prefix, const char *path)
{
    char *name;
    if (t->count == TRAVELLED_MOST) {
        t->more = true;
        close(file);
        return 0;
    }
    if (asprintf(&name, "%s%s", prefix, path) < 0) {
        close(file);
        return -ENOMEM;
    }
    t->at[t->count++] = (struct confine_program){name, file};
    return 0;
}

static int travelled_take(struct travelled *t, const FTSENT *f, const char *prefix, size_t skip)
{
    if (f->fts_info != FTS_F || (f->fts_statp->st_mode & S_IXUSR) == 0)
        return 0;
    const int file = open(f->fts_accpath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return -errno;
    if (is_program(file))
        return travelled_add(t, file, prefix, f->fts_path + skip);
    close(file);
    return 0;
}

static int travelled_walk(struct travelled *t, const char *from, const char *prefix)
{
    char *const paths[] = {(char *)from, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int rc = walk != NULL ? 0 : -errno;
    for (FTSENT *f; rc == 0 && walk != NULL && (f = fts_read(walk)) != NULL;)
        rc = travelled_take(t, f, prefix, strlen(from));
    if (walk != NULL)
        fts_close(walk);
    return rc;
}

static bool is_named(const char *list, const char *folder, size_t length)
{
    for (const char *at = list; *at != '\0'; at += strcspn(at, ":"), at += *at == ':')
        if (strcspn(at, ":") == length && strncmp(at, folder, length) == 0)
            return true;
    return false;
}

static int library_take(const FTSENT *f, size_t skip, char *out, size_t size)
{
    const size_t used = strlen(out), length = (size_t)(strrchr(f->fts_path, '/') - f->fts_path);
    if (f->fts_info != FTS_F || access(f->fts_path + skip, F_OK) == 0 ||
        is_named(out, f->fts_path, length))
        return 0;
    const int n =
        snprintf(out + used, size - used, "%s%.*s", used > 0 ? ":" : "", (int)length, f->fts_path);
    return (size_t)n < size - used ? 0 : -E2BIG;
}

int travelled_libraries(const char *tree, char *out, size_t size)
{
    char path[PATH_MAX];
    char *const paths[] = {path, NULL};
    out[0] = '\0';
    snprintf(path, sizeof path, "%s/outside", tree);
    if (access(path, F_OK) != 0)
        return 0;
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int rc = walk != NULL ? 0 : -errno;
    for (FTSENT *f; rc == 0 && walk != NULL && (f = fts_read(walk)) != NULL;)
        rc = library_take(f, strlen(path), out, size);
    if (walk != NULL)
        fts_close(walk);
    return rc;
}

struct travelled_view {
    const struct confine_plan *plan;
    const char *folder;
};

static bool is_above(const char *path, const char *other)
{
    return path_beneath(other, path) != NULL;
}

/* A guest's root holds nothing that is not shown to it; but a folder in which something else is to
 * be shown cannot be shown as a whole. */
static enum outside_here look_guest(void *ctx, const char *path, const struct stat *came)
{
    const struct travelled_view *v = ctx;
    if (!S_ISDIR(came->st_mode))
        return OUTSIDE_MISSING;
    if (strchr(path + 1, '/') == NULL || is_above(path, v->folder))
        return OUTSIDE_ENTER;
    for (size_t i = 0; i < v->plan->path_count; i++)
        if (is_above(path, v->plan->paths[i].path))
            return OUTSIDE_ENTER;
    return OUTSIDE_MISSING;
}

static int travelled_outside(struct travelled *t, const char *tree, struct travelled_view *view)
{
    struct outside o;
    struct err e = {0};
    int rc = outside_find(&o, tree, look_guest, view, &e);
    for (size_t i = 0; i < o.count && rc == 0; i++) {
        const int file = open(o.at[i].source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        rc = file < 0 ? -errno : travelled_add(t, file, "", o.at[i].path);
    }
    outside_clear(&o);
    return rc;
}

int travelled_find(struct travelled *t, const char *tree, const struct confine_plan *plan,
                   const char *folder)
{
    char path[PATH_MAX];
    t->count = 0;
    t->more = false;
    const int rc = travelled_outside(t, tree, &(struct travelled_view){plan, folder});
    snprintf(path, sizeof path, "%s/files", tree);
    return rc == 0 ? travelled_walk(t, path, folder) : rc;
}
