/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c -- a root with nothing in it but what a guest may touch, bound from the host's. */
#include "view.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The new root is put together over this folder, which every host has. */
#define BASE "/tmp"

enum { PIECES = 2 * (CONFINE_PATHS + CONFINE_FILES_MAX) };

struct piece {
    char *path; /* its name in the view */
    int tree;   /* a mount that is nowhere yet */
    bool writable;
};

struct view {
    struct piece pieces[PIECES];
    size_t count;
    int root;
};

/* --- what is to be in it: taken from the host's root while that is still there --- */

static int view_clone_tree(const char *path, bool writable)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID | (writable ? 0 : MOUNT_ATTR_RDONLY),
                              .propagation = MS_PRIVATE};
    int tree = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree < 0)
        return -errno;
    if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) == 0)
        return tree;
    int rc = -errno;
    close(tree);
    return rc;
}

static int view_add(struct view *v, const char *path, bool writable)
{
    int tree = view_clone_tree(path, writable);
    if (tree < 0)
        return tree == -ENOENT || tree == -EACCES || tree == -ENOTDIR ? 0 : tree;
    char *copy = strdup(path);
    if (copy == NULL || v->count == PIECES) {
        free(copy);
        close(tree);
        return -ENOMEM;
    }
    v->pieces[v->count++] = (struct piece){copy, tree, writable};
    return 0;
}

/* Also under its own name, where a link leads to it. */
static int view_add_names(struct view *v, const char *path, bool writable)
{
    char real[PATH_MAX];
    int rc = view_add(v, path, writable);
    if (rc == 0 && realpath(path, real) != NULL && strcmp(path, real) != 0)
        rc = view_add(v, real, writable);
    return rc;
}

static int view_collect(struct view *v, const struct confine_plan *plan,
                        const char *const *programs)
{
    int rc = view_add_names(v, "/proc", true); /* the kernel guards each process there */
    for (size_t i = 0; i < plan->path_count && rc == 0; i++)
        if (plan->paths[i].use != CONFINE_WRITE)
            rc = view_add_names(v, plan->paths[i].path, false);
    for (size_t i = 0; i < plan->program_count && rc == 0; i++)
        rc = view_add_names(v, programs[i], false);
    for (size_t i = 0; i < plan->path_count && rc == 0; i++) /* last: on top of what is read-only */
        if (plan->paths[i].use == CONFINE_WRITE)
            rc = view_add_names(v, plan->paths[i].path, true);
    return rc;
}

/* --- where it is to be --- */

static int open_inside(const struct view *v, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    int fd = (int)syscall(SYS_openat2, v->root, path, &how, sizeof how);
    return fd < 0 ? -errno : fd;
}

static int make_last(int folder, const char *name, bool is_folder)
{
    if (is_folder)
        return mkdirat(folder, name, 0755) == 0 ? 0 : -errno;
    int fd = openat(folder, name, O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0444);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

/* Makes the name and the folders that lead to it, and opens it, or -errno. What is bound already is
 * read-only, so nothing is made on the host. */
static int open_place(const struct view *v, char *path, bool is_folder)
{
    int fd = open_inside(v, path);
    char *slash = strrchr(path, '/');
    if (fd != -ENOENT || slash == NULL)
        return fd;
    *slash = '\0';
    int folder = open_place(v, *path == '\0' ? (char[]){"/"} : path, true);
    *slash = '/';
    if (folder < 0)
        return folder;
    int rc = make_last(folder, slash + 1, is_folder);
    close(folder);
    return rc == 0 ? open_inside(v, path) : rc;
}

static bool is_same(int a, int b)
{
    struct stat s, t;
    return fstat(a, &s) == 0 && fstat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

static int view_place(const struct view *v, struct piece *p)
{
    struct stat st;
    if (fstat(p->tree, &st) != 0)
        return -errno;
    int at = open_place(v, p->path, S_ISDIR(st.st_mode)), rc = 0;
    if (at < 0)
        return at;
    if (p->writable || !is_same(at, p->tree)) /* else it is in a folder that is there already */
        rc = move_mount(p->tree, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
    int error = errno;
    close(at);
    return rc == 0 ? 0 : -error;
}

static int view_fill(struct view *v, struct err *e)
{
    for (size_t i = 0; i < v->count; i++) {
        int rc = view_place(v, &v->pieces[i]);
        if (rc != 0)
            return err_set(e, -rc, "cannot show %s to a guest: %s", v->pieces[i].path,
                           strerror(-rc));
    }
    return 0;
}

/* --- the change of roots --- */

static int view_begin(struct view *v)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("guest", BASE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") != 0)
        return -errno;
    v->root = open(BASE, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (v->root >= 0)
        return 0;
    int rc = -errno;
    umount2(BASE, MNT_DETACH);
    return rc;
}

/* A host that runs from its first RAM disk, or in a chroot, cannot change roots: -EOPNOTSUPP, and
 * the names are as they were. */
static int view_pivot(const struct view *v, const char *folder)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    if (mount_setattr(v->root, "", AT_EMPTY_PATH, &attr, sizeof attr) != 0 || fchdir(v->root) != 0)
        return -errno;
    if (syscall(SYS_pivot_root, ".", ".") != 0)
        return chdir(folder) == 0 && umount2(BASE, MNT_DETACH) == 0 ? -EOPNOTSUPP : -errno;
    return umount2(".", MNT_DETACH) == 0 && chdir(folder) == 0 ? 0 : -errno;
}

static void view_free(struct view *v)
{
    for (size_t i = 0; i < v->count; i++) {
        close(v->pieces[i].tree);
        free(v->pieces[i].path);
    }
    if (v->root >= 0)
        close(v->root);
}

int view_enter(const struct confine_plan *plan, const char *const *programs, struct err *e)
{
    char folder[PATH_MAX];
    struct view v = {.root = -1};
    if (getcwd(folder, sizeof folder) == NULL)
        return err_set(e, errno, "no working folder: %s", strerror(errno));
    int rc = view_collect(&v, plan, programs);
    if (rc == 0)
        rc = view_begin(&v);
    if (rc != 0) {
        view_free(&v);
        return -EOPNOTSUPP;
    }
    rc = view_fill(&v, e);
    if (rc == 0 && (rc = view_pivot(&v, folder)) != 0)
        err_set(e, -rc, "cannot give a guest a root of its own: %s", strerror(-rc));
    view_free(&v);
    return rc;
}
