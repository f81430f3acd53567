/* SPDX-License-Identifier: BSD-3-Clause */
/* outside.c -- walks what is beside the job's folder in a tree of the store. */
#include "outside.h"
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool outside_source(const char *tree, const char *path, char *out, size_t size)
{
    struct stat st;
    return snprintf(out, size, "%s/outside%s", tree, path) < (int)size && lstat(out, &st) == 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           (a->st_mode & S_IXUSR) == (b->st_mode & S_IXUSR);
}

/* Python's modules fit together: those of two desktops are not mixed, and are too many to be
 * mounted one by one. */
static bool is_modules(const char *path)
{
    const char *name = strrchr(path, '/');
    return name != NULL && strcmp(name + 1, "site-packages") == 0;
}

enum outside_here outside_look_host(void *ctx, const char *path, const struct stat *came)
{
    struct stat here;
    (void)ctx;
    if (stat(path, &here) != 0)
        return OUTSIDE_MISSING;
    if (S_ISLNK(came->st_mode)) /* nothing can be mounted on a link: this machine has its own */
        return OUTSIDE_SAME;
    if (S_ISDIR(came->st_mode))
        return !S_ISDIR(here.st_mode) ? OUTSIDE_WRONG
               : is_modules(path)     ? OUTSIDE_OTHER
                                      : OUTSIDE_ENTER;
    if (!S_ISREG(here.st_mode))
        return OUTSIDE_WRONG;
    return is_same_file(&here, came) ? OUTSIDE_SAME : OUTSIDE_OTHER;
}

static int outside_add(struct outside *o, const char *path, const FTSENT *f, bool replaces)
{
    struct outside_piece one = {strdup(path), strdup(f->fts_path), f->fts_info == FTS_D, replaces};
    struct outside_piece *more = realloc(o->at, (o->count + 1) * sizeof *more);
    if (more != NULL)
        o->at = more;
    if (more == NULL || one.path == NULL || one.source == NULL) {
        free(one.path);
        free(one.source);
        return -ENOMEM;
    }
    o->at[o->count++] = one;
    return 0;
}

static int outside_take(struct outside *o, FTS *walk, FTSENT *f, size_t skip, outside_look *look,
                        void *ctx, struct err *e)
{
    const char *path = f->fts_path + skip;
    const bool is_folder = f->fts_info == FTS_D;
    if (*path == '\0' || (!is_folder && f->fts_info != FTS_F && f->fts_info != FTS_SL))
        return 0;
    const enum outside_here here = look(ctx, path, f->fts_statp);
    if (is_folder && here != OUTSIDE_ENTER)
        fts_set(walk, f, FTS_SKIP);
    if (here == OUTSIDE_WRONG)
        return err_set(e, EEXIST, "%s, which came with the job, cannot be shown: there is %s", path,
                       is_folder ? "no folder of that name" : "a folder of that name");
    if (here == OUTSIDE_SAME || here == OUTSIDE_ENTER || f->fts_info == FTS_SL)
        return 0;
    if (o->count == OUTSIDE_MOST)
        return err_set(e, E2BIG,
                       "more than %d files that came with the job are in folders that this desktop "
                       "has, too, and are missing or others there, such as %s",
                       OUTSIDE_MOST, path);
    return outside_add(o, path, f, here == OUTSIDE_OTHER) == 0 ? 0
                                                               : err_set(e, ENOMEM, "no memory");
}

int outside_find(struct outside *o, const char *tree, outside_look *look, void *ctx, struct err *e)
{
    char path[PATH_MAX];
    char *const paths[] = {path, NULL};
    *o = (struct outside){0};
    snprintf(path, sizeof path, "%s/outside", tree);
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int rc = walk != NULL ? 0 : err_set(e, errno, "%s: %s", path, strerror(errno));
    for (FTSENT *f; rc == 0 && (f = fts_read(walk)) != NULL;)
        rc = outside_take(o, walk, f, strlen(path), look, ctx, e);
    if (walk != NULL)
        fts_close(walk);
    if (rc != 0)
        outside_clear(o);
    return rc;
}

void outside_clear(struct outside *o)
{
    for (size_t i = 0; i < o->count; i++) {
        free(o->at[i].path);
        free(o->at[i].source);
    }
    free(o->at);
    *o = (struct outside){0};
}
