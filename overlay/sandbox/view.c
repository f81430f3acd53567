/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c -- a root with nothing in it but what a guest may touch, bound from the host's. */
#include "view.h"
#include "travelled.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The new root is put together over this folder, which every host has. */
#define BASE "/tmp"

enum { PIECES = 2 * (CONFINE_PATHS + CONFINE_FILES_MAX) + TRAVELLED_MOST };

struct piece {
    char *path; /* its name in the view */
    int tree;   /* a mount that is nowhere yet */
    bool writable;
    bool covered; /* it lies in what each lane has for itself, and goes on top of that */
};

struct view {
    struct piece pieces[PIECES];
    size_t count;
    int root;
    struct lanes *lanes; /* NULL: there are none */
};

/* --- what is to be in it: taken from the host's root while that is still there --- */

static int view_clone_tree(int folder, const char *path, bool writable)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID | (writable ? 0 : MOUNT_ATTR_RDONLY),
                              .propagation = MS_PRIVATE};
    int tree =
        open_tree(folder, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
    if (tree < 0)
        return -errno;
    if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) == 0)
        return tree;
    int rc = -errno;
    close(tree);
    return rc;
}

static int view_add_tree(struct view *v, const char *path, int tree, bool writable)
{
    if (tree < 0)
        return tree == -ENOENT || tree == -EACCES || tree == -ENOTDIR ? 0 : tree;
    char *copy = strdup(path);
    if (copy == NULL || v->count == PIECES) {
        free(copy);
        close(tree);
        return -ENOMEM;
    }
    const bool covered = v->lanes != NULL && lanes_cover(v->lanes->plan, path);
    v->pieces[v->count++] = (struct piece){copy, tree, writable, covered};
    struct stat st;
    return !covered                ? 0
           : fstat(tree, &st) != 0 ? -errno
                                   : lanes_make_place(v->lanes->plan, path, S_ISDIR(st.st_mode));
}

static int view_add(struct view *v, const char *path, bool writable)
{
    return view_add_tree(v, path, view_clone_tree(AT_FDCWD, path, writable), writable);
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

/* The very file that is open, which may have come from elsewhere. It was opened in another mount
 * namespace, where nothing can be cloned from. */
static int view_add_program(struct view *v, const char *path, int file)
{
    char link[48], source[PATH_MAX];
    struct stat open, named;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = readlink(link, source, sizeof source - 1);
    if (n < 0)
        return -errno;
    source[n] = '\0';
    if (fstat(file, &open) != 0 || stat(source, &named) != 0)
        return -errno;
    if (open.st_dev != named.st_dev || open.st_ino != named.st_ino)
        return -ESTALE;
    return view_add_tree(v, path, view_clone_tree(AT_FDCWD, source, false), false);
}

static int view_collect(struct view *v, const struct confine_plan *plan,
                        const char *const *programs)
{
    int rc = view_add_names(v, "/proc", true); /* the kernel guards each process there */
    for (size_t i = 0; i < plan->path_count && rc == 0; i++)
        if (plan->paths[i].use != CONFINE_WRITE)
            rc = view_add_names(v, plan->paths[i].path, false);
    for (size_t i = 0; i < plan->program_count && rc == 0; i++)
        rc = view_add_program(v, programs[i], plan->programs[i]);
    for (size_t i = 0; i < plan->travelled_count && rc == 0; i++)
        rc = view_add_program(v, plan->travelled[i].path, plan->travelled[i].file);
    for (size_t i = 0; i < plan->path_count && rc == 0; i++) /* last: on top of what is read-only */
        if (plan->paths[i].use == CONFINE_WRITE)
            rc = view_add_names(v, plan->paths[i].path, true);
    return rc;
}

/* --- where it is to be --- */

static int open_inside(int root, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
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
static int open_place(int root, char *path, bool is_folder)
{
    int fd = open_inside(root, path);
    char *slash = strrchr(path, '/');
    if (fd != -ENOENT || slash == NULL)
        return fd;
    *slash = '\0';
    int folder = open_place(root, *path == '\0' ? (char[]){"/"} : path, true);
    *slash = '/';
    if (folder < 0)
        return folder;
    int rc = make_last(folder, slash + 1, is_folder);
    close(folder);
    return rc == 0 ? open_inside(root, path) : rc;
}

static bool is_same(int a, int b)
{
    struct stat s, t;
    return fstat(a, &s) == 0 && fstat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

static int view_place(int root, const struct piece *p, int tree)
{
    struct stat st;
    if (fstat(tree, &st) != 0)
        return -errno;
    int at = open_place(root, p->path, S_ISDIR(st.st_mode)), rc = 0;
    if (at < 0)
        return at;
    if (p->writable || p->covered || !is_same(at, tree)) /* else its folder has it already */
        rc = move_mount(tree, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
    int error = errno;
    close(at);
    return rc == 0 ? 0 : -error;
}

static int view_fill(struct view *v, bool covered, struct err *e)
{
    for (size_t i = 0; i < v->count; i++) {
        int rc = v->pieces[i].covered == covered
                     ? view_place(v->root, &v->pieces[i], v->pieces[i].tree)
                     : 0;
        if (rc != 0)
            return err_set(e, -rc, "cannot show %s to a guest: %s", v->pieces[i].path,
                           strerror(-rc));
    }
    return 0;
}

/* --- roots of further lanes, like the first one except for what is theirs --- */

static int lane_make_place(const struct view *v, const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    int fd = open_place(v->root, copy, true);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

static int lanes_make_places(const struct view *v)
{
    char path[sizeof VIEW_LANE + 12];
    int rc = lane_make_place(v, "/tmp");
    if (rc == 0)
        rc = lane_make_place(v, v->lanes->plan->folder);
    for (unsigned lane = 1; lane < v->lanes->plan->count && rc == 0; lane++) {
        snprintf(path, sizeof path, VIEW_LANE "%u", lane);
        rc = lane_make_place(v, path);
    }
    return rc;
}

static int lanes_clone(const struct view *v, int clones[LANES_MOST])
{
    for (unsigned lane = 1; lane < v->lanes->plan->count; lane++) {
        clones[lane] = view_clone_tree(v->root, "", true);
        if (clones[lane] < 0)
            return clones[lane];
    }
    return 0;
}

/* Its root cannot be changed either. */
static int lane_attach(const struct view *v, unsigned lane, int clone)
{
    char path[sizeof VIEW_LANE + 12];
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    snprintf(path, sizeof path, VIEW_LANE "%u", lane);
    int at = open_inside(v->root, path), rc = at < 0 ? at : 0;
    if (rc == 0 &&
        (mount_setattr(clone, "", AT_EMPTY_PATH, &attr, sizeof attr) != 0 ||
         move_mount(clone, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0))
        rc = -errno;
    if (at >= 0)
        close(at);
    return rc == 0 ? open_inside(v->root, path) : rc;
}

/* From where the first root has it: what has been moved there is nowhere else. */
static int lane_repeat(const struct view *v, int root, const struct piece *p)
{
    int there = open_inside(v->root, p->path);
    int tree = there < 0 ? there : view_clone_tree(there, "", p->writable);
    int rc = tree < 0 ? tree : view_place(root, p, tree);
    if (tree >= 0)
        close(tree);
    if (there >= 0)
        close(there);
    return rc;
}

static int lane_fill(const struct view *v, unsigned lane, int clone, struct err *e)
{
    int root = lane_attach(v, lane, clone);
    if (root < 0)
        return err_set(e, -root, "lane %u cannot have a root: %s", lane, strerror(-root));
    int rc = lanes_mount(v->lanes, lane, root, e);
    for (size_t i = 0; i < v->count && rc == 0; i++) {
        const struct piece *p = &v->pieces[i];
        if (p->covered && (rc = lane_repeat(v, root, p)) != 0)
            err_set(e, -rc, "cannot show %s to lane %u: %s", p->path, lane, strerror(-rc));
    }
    close(root);
    return rc;
}

static int view_fill_lanes(struct view *v, struct err *e)
{
    int clones[LANES_MOST];
    memset(clones, -1, sizeof clones);
    int rc = lanes_make_places(v);
    if (rc == 0)
        rc = lanes_clone(v, clones);
    if (rc != 0)
        err_set(e, -rc, "lanes cannot have views of their own: %s", strerror(-rc));
    else
        rc = lanes_mount(v->lanes, 0, v->root, e);
    if (rc == 0)
        rc = view_fill(v, true, e);
    for (unsigned lane = 1; lane < v->lanes->plan->count; lane++) {
        if (rc == 0)
            rc = lane_fill(v, lane, clones[lane], e);
        if (clones[lane] >= 0)
            close(clones[lane]);
    }
    return rc;
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
    if (v->lanes != NULL)
        lanes_close(v->lanes);
}

int view_enter(const struct confine_plan *plan, const char *const *programs, struct lanes *lanes,
               const struct lanes_plan *wanted, struct err *e)
{
    char folder[PATH_MAX];
    struct view v = {.root = -1, .lanes = lanes};
    if (getcwd(folder, sizeof folder) == NULL)
        return err_set(e, errno, "no working folder: %s", strerror(errno));
    int rc = lanes != NULL ? lanes_open(lanes, wanted, e) : 0;
    if (rc != 0)
        return rc;
    rc = view_collect(&v, plan, programs);
    if (rc == 0)
        rc = view_begin(&v);
    if (rc != 0) {
        view_free(&v);
        return -EOPNOTSUPP;
    }
    rc = view_fill(&v, false, e);
    if (rc == 0 && lanes != NULL)
        rc = view_fill_lanes(&v, e);
    if (rc == 0 && (rc = view_pivot(&v, folder)) != 0)
        err_set(e, -rc, "cannot give a guest a root of its own: %s", strerror(-rc));
    view_free(&v);
    return rc;
}
