/* SPDX-License-Identifier: BSD-3-Clause */
/* gathered.c -- a list that grows, and is put in order once. */
#include "gathered.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void entry_clear(struct gathered_entry *e)
{
    free(e->path);
    free(e->target);
}

static bool is_file(const struct gathered_entry *e)
{
    return e->kind == GATHERED_FILE || e->kind == GATHERED_OUTSIDE;
}

static bool is_outside(const struct gathered_entry *e)
{
    return e->kind == GATHERED_OUTSIDE || e->kind == GATHERED_OUTSIDE_LINK;
}

int gathered_add(struct gathered *g, enum gathered_kind kind, const char *path, const char *target,
                 const struct stat *st)
{
    if (g->count == GATHERED_MOST)
        return -E2BIG;
    if ((g->count & (g->count + 1)) == 0 || g->count == 0) { /* room for a power of two */
        struct gathered_entry *more = realloc(g->at, (2 * g->count + 2) * sizeof *more);
        if (more == NULL)
            return -ENOMEM;
        g->at = more;
    }
    struct gathered_entry e = {.path = strdup(path), .kind = kind, .st = *st};
    if (target != NULL)
        e.target = strdup(target);
    if (e.path == NULL || (target != NULL && e.target == NULL)) {
        entry_clear(&e);
        return -ENOMEM;
    }
    g->at[g->count++] = e;
    g->bytes += is_file(&e) ? (uint64_t)st->st_size : 0;
    return 0;
}

void gathered_cut(struct gathered *g, size_t count)
{
    while (g->count > count) {
        struct gathered_entry *e = &g->at[--g->count];
        g->bytes -= is_file(e) ? (uint64_t)e->st.st_size : 0;
        entry_clear(e);
    }
}

static int by_path(const void *a, const void *b)
{
    const struct gathered_entry *x = a, *y = b;
    return strcmp(x->path, y->path);
}

static void sort(struct gathered *g)
{
    size_t kept = 0;
    if (g->count > 0)
        qsort(g->at, g->count, sizeof g->at[0], by_path);
    for (size_t i = 0; i < g->count; i++) {
        struct gathered_entry *e = &g->at[i];
        if (kept > 0 && strcmp(g->at[kept - 1].path, e->path) == 0) {
            g->bytes -= is_file(e) ? (uint64_t)e->st.st_size : 0;
            entry_clear(e);
        } else {
            g->at[kept++] = *e;
        }
    }
    g->count = kept;
}

/* All folders above an entry; most are there already, and are sorted out afterwards. */
static int add_parents(struct gathered *g, size_t i, const char *folder, const char *before)
{
    char path[PATH_MAX], full[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s", g->at[i].path);
    for (char *slash = strrchr(path, '/'); slash != NULL; slash = strrchr(path, '/')) {
        *slash = '\0';
        const size_t length = strlen(path);
        if (strncmp(before, path, length) == 0 && before[length] == '/')
            return 0; /* that of the entry before, with all above it */
        if (snprintf(full, sizeof full, "%s/%s", folder, path) >= (int)sizeof full ||
            lstat(full, &st) != 0)
            return -errno;
        int rc = gathered_add(g, GATHERED_FOLDER, path, NULL, &st);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int gathered_close(struct gathered *g, const char *folder)
{
    sort(g);
    const size_t count = g->count;
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        if (!is_outside(&g->at[i]))
            rc = add_parents(g, i, folder, i > 0 ? g->at[i - 1].path : "");
    sort(g);
    return rc;
}

bool gathered_has(const struct gathered *g, const char *path)
{
    for (size_t i = 0; i < g->count; i++)
        if (strcmp(g->at[i].path, path) == 0)
            return true;
    return false;
}

bool gathered_source(const struct gathered_entry *e, const char *folder, char *out, size_t size)
{
    const int n = is_outside(e) ? snprintf(out, size, "%s", e->path)
                                : snprintf(out, size, "%s/%s", folder, e->path);
    return n >= 0 && (size_t)n < size;
}

void gathered_clear(struct gathered *g)
{
    gathered_cut(g, 0);
    free(g->at);
    *g = (struct gathered){0};
}
