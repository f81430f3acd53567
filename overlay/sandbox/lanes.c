/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.c -- the folders that views are made of, and the mounts. */
#include "lanes.h"
#include "copy_tree.h"
#include "namespaces.h"
#include "sweep.h"
#include "overlay/base/beneath.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FOLDER, TMP, SEEN };
static const char *const base_names[SEEN] = {"base", "base-tmp"},
                         *const changed_names[SEEN] = {"upper", "tmp"},
                         *const work_names[SEEN] = {"work", "tmp-work"};

static const char *lanes_target(const struct lanes_plan *p, int which)
{
    return which == FOLDER ? p->folder : "/tmp";
}

/* --- folders --- */

static int make_folder(char path[PATH_MAX], const struct lanes_plan *p, const char *inside)
{
    if (snprintf(path, PATH_MAX, "%s/%s", p->room, inside) >= PATH_MAX)
        return -ENAMETOOLONG;
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
}

/* Ranks find Open MPI's components there, as orted does in the room. */
static int make_home(const struct lanes_plan *p, unsigned lane)
{
    char path[PATH_MAX], name[48];
    snprintf(name, sizeof name, "lane-%u/home", lane);
    int rc = make_folder(path, p, name);
    if (rc == 0 && strlen(path) + 10 < sizeof path) {
        strcat(path, "/.openmpi");
        rc = symlink("../../.openmpi", path) == 0 || errno == EEXIST ? 0 : -errno;
    }
    return rc;
}

static int make_lane(const struct lanes_plan *p, unsigned lane)
{
    char path[PATH_MAX], name[48];
    snprintf(name, sizeof name, "lane-%u", lane);
    int rc = make_folder(path, p, name);
    for (int i = 0; i < SEEN && rc == 0; i++) {
        snprintf(name, sizeof name, "lane-%u/%s", lane, changed_names[i]);
        rc = make_folder(path, p, name);
        snprintf(name, sizeof name, "lane-%u/%s", lane, work_names[i]);
        if (rc == 0)
            rc = make_folder(path, p, name);
    }
    if (rc == 0 && lane > 0) {
        snprintf(name, sizeof name, "root-%u", lane);
        rc = make_folder(path, p, name);
    }
    return rc == 0 && p->guest ? make_home(p, lane) : rc;
}

static const char *path_below(const char *path, const char *folder)
{
    const char *rest = path_beneath(path, folder);
    return rest != NULL && rest[0] == '/' ? rest + 1 : NULL;
}

bool lanes_cover(const struct lanes_plan *p, const char *path)
{
    return path_beneath(path, p->folder) != NULL || path_beneath(path, "/tmp") != NULL;
}

static int make_last(const char *path, bool is_folder)
{
    if (is_folder)
        return mkdir(path, 0755) == 0 || errno == EEXIST ? 0 : -errno;
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == EISDIR ? 0 : -errno;
}

static int make_parts(char *path, char *from, bool is_folder)
{
    for (char *slash = from; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = '\0';
        const int rc = make_last(path, true);
        if (rc != 0)
            return rc;
    }
    return make_last(path, is_folder);
}

/* Where such a name is made, and *from: the part of it that may have to be; NULL: in no view. */
static int find_place(const struct lanes_plan *p, const char *path, char place[PATH_MAX],
                      char **from)
{
    *from = NULL;
    for (int i = FOLDER; i < SEEN && *from == NULL; i++) {
        const char *below = path_below(path, lanes_target(p, i));
        if (below == NULL)
            continue;
        const int n = snprintf(place, PATH_MAX, "%s/%s/", p->room, base_names[i]);
        if (n + strlen(below) >= PATH_MAX)
            return -ENAMETOOLONG;
        *from = strcpy(place + n, below);
    }
    return 0;
}

int lanes_make_place(const struct lanes_plan *p, const char *path, bool is_folder)
{
    char place[PATH_MAX], *from;
    const int rc = find_place(p, path, place, &from);
    return rc == 0 && from != NULL ? make_parts(place, from, is_folder) : rc;
}

int lanes_make_link(const struct lanes_plan *p, const char *path, const char *target)
{
    char place[PATH_MAX], *from;
    int rc = find_place(p, path, place, &from);
    if (rc != 0 || from == NULL)
        return rc;
    char *last = strrchr(from, '/');
    if (last != NULL) {
        *last = '\0';
        rc = make_parts(place, from, true);
        *last = '/';
    }
    return rc != 0 ? rc : symlink(target, place) == 0 ? 0 : -errno;
}

int lanes_make(const struct lanes_plan *p, struct err *e)
{
    char path[PATH_MAX];
    int rc = 0;
    if (p->folder[0] != '/' || p->folder[1] == '\0')
        return err_set(e, EINVAL, "no lane can have a view of its own of the folder %s", p->folder);
    if (p->count < 1 || p->count > LANES_MOST)
        return err_set(e, EINVAL, "%u lanes cannot have a view each, at most %d", p->count,
                       LANES_MOST);
    for (int i = 0; i < SEEN && rc == 0; i++)
        rc = make_folder(path, p, base_names[i]);
    for (unsigned lane = 0; lane < p->count && rc == 0; lane++)
        rc = make_lane(p, lane);
    if (rc == 0)
        rc = lanes_make_place(p, p->folder, true);
    if (rc == 0)
        rc = lanes_make_place(p, p->room, true);
    return rc == 0 ? 0
                   : err_set(e, -rc, "the folders of lanes cannot be made in %s: %s", p->room,
                             strerror(-rc));
}

/* --- mounts, made before they have a place: names may be hidden by the first one --- */

static int open_in_room(const struct lanes_plan *p, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", p->room, name);
    const int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int open_of_lane(const struct lanes_plan *p, unsigned lane, const char *name)
{
    char inside[48];
    snprintf(inside, sizeof inside, "lane-%u/%s", lane, name);
    return open_in_room(p, inside);
}

static int overlay_set(int context, const char *key, int fd, int below)
{
    char value[80];
    const char *const two = "/proc/self/fd/%d:/proc/self/fd/%d";
    if (fd >= 0 && below >= 0)
        snprintf(value, sizeof value, two, fd, below);
    else
        snprintf(value, sizeof value, "/proc/self/fd/%d", fd >= 0 ? fd : below);
    return fsconfig(context, FSCONFIG_SET_STRING, key, value, 0) == 0 ? 0 : -errno;
}

static int overlay_configure(int context, int tree, int base, int changed, int work)
{
    int rc = fsconfig(context, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) == 0 ? 0 : -errno;
    if (rc == 0)
        rc = overlay_set(context, "lowerdir", tree, base);
    if (rc == 0)
        rc = overlay_set(context, "upperdir", changed, -1);
    if (rc == 0)
        rc = overlay_set(context, "workdir", work, -1);
    if (rc == 0 && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
        rc = -errno;
    return rc;
}

/* Descriptors in place of names, which may hold commas and colons. -1: no such layer. */
static int overlay_make(int tree, int base, int changed, int work)
{
    const int context = fsopen("overlay", FSOPEN_CLOEXEC);
    if (context < 0)
        return -errno;
    int rc = overlay_configure(context, tree, base, changed, work);
    if (rc == 0) {
        rc = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
        rc = rc < 0 ? -errno : rc;
    }
    close(context);
    return rc;
}

/* What is below, the names that were made for it last; but no layer may lie in another, and then
 * the names are those of this machine anyway. */
static int lane_overlay_on(const struct lanes_plan *p, unsigned lane, int which, const char *lower)
{
    const bool nested = lower[0] != '\0' && path_beneath(p->room, lower) != NULL;
    const int tree = lower[0] == '\0' ? -1 : open(lower, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int base = open_in_room(p, base_names[which]),
              changed = open_of_lane(p, lane, changed_names[which]),
              work = open_of_lane(p, lane, work_names[which]);
    const bool there = base >= 0 && changed >= 0 && work >= 0 && (tree >= 0 || lower[0] == '\0');
    const int rc = there ? overlay_make(tree, nested ? -1 : base, changed, work) : -ENOENT;
    const int used[] = {tree, base, changed, work};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (used[i] >= 0)
            close(used[i]);
    return rc;
}

/* The kernel takes no layer of a plain user's in which something else is mounted. Below /tmp that
 * is soon so, on other users' account: then lanes find nothing of the host's there. */
static int lane_overlay(const struct lanes_plan *p, unsigned lane, int which)
{
    const char *const lower = which == FOLDER ? p->tree : p->tmp;
    const int rc = lane_overlay_on(p, lane, which, lower);
    return rc == -EINVAL && which == TMP && lower[0] != '\0' ? lane_overlay_on(p, lane, which, "")
                                                             : rc;
}

/* The copy of the job's folder has another name than an upper: it is all that is there. What is in
 * the host's /tmp is not copied. */
static int copy_for_lane(const struct lanes_plan *p, unsigned lane, int which, char path[PATH_MAX],
                         struct err *e)
{
    const char *const name = which == FOLDER ? "tree" : changed_names[TMP];
    char other[PATH_MAX];
    if (snprintf(path, PATH_MAX, "%s/lane-%u/%s", p->room, lane, name) >= PATH_MAX ||
        snprintf(other, sizeof other, "%s/lane-%u/upper", p->room, lane) >= PATH_MAX)
        return err_set(e, ENAMETOOLONG, "%s: %s", p->room, strerror(ENAMETOOLONG));
    if (which == FOLDER && ((rmdir(other) != 0 && errno != ENOENT) || mkdir(path, 0700) != 0))
        return err_set(e, errno, "%s: %s", path, strerror(errno));
    snprintf(other, sizeof other, "%s/%s", p->room, base_names[which]);
    const int rc = which == FOLDER && p->tree[0] != '\0' ? copy_tree(p->tree, path, p->room, e) : 0;
    return rc == 0 ? copy_tree(other, path, NULL, e) : rc;
}

static int lane_copy(const struct lanes_plan *p, unsigned lane, int which, struct err *e)
{
    char path[PATH_MAX];
    const int rc = copy_for_lane(p, lane, which, path, e);
    const int tree = rc != 0 ? rc : open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    return rc == 0 && tree < 0 ? err_set(e, errno, "%s: %s", path, strerror(errno)) : tree;
}

static void lanes_clear(struct lanes *l)
{
    for (unsigned lane = 0; lane < LANES_MOST; lane++)
        for (int i = 0; i < SEEN; i++) {
            if (l->made[lane][i] >= 0)
                close(l->made[lane][i]);
            l->made[lane][i] = -1;
        }
}

static int lanes_make_each(struct lanes *l, struct err *e)
{
    int rc = 0;
    for (unsigned lane = 0; lane < l->plan->count; lane++)
        for (int i = 0; i < SEEN && rc >= 0; i++) {
            rc = l->way == LANES_OVERLAY ? lane_overlay(l->plan, lane, i)
                                         : lane_copy(l->plan, lane, i, e);
            l->made[lane][i] = rc;
        }
    return rc < 0 ? rc : 0;
}

int lanes_open(struct lanes *l, const struct lanes_plan *plan, struct err *e)
{
    memset(l, 0, sizeof *l);
    memset(l->made, -1, sizeof l->made);
    l->plan = plan;
    l->way = LANES_OVERLAY;
    int rc = plan->copies ? -EOPNOTSUPP : lanes_make_each(l, e);
    if (rc == 0)
        return 0;
    lanes_clear(l);
    err_set(&l->overlay, -rc, "%s", strerror(-rc));
    l->way = LANES_COPIES;
    rc = lanes_make_each(l, e);
    if (rc != 0)
        lanes_clear(l);
    return rc;
}

void lanes_close(struct lanes *l)
{
    lanes_clear(l);
}

/* --- and put in place --- */

static int open_target(int root, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    const int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    return fd < 0 ? -errno : fd;
}

static int put(int tree, int root, const char *path)
{
    const int at = open_target(root, path);
    if (at < 0)
        return at;
    const int rc = move_mount(tree, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
    const int error = errno;
    close(at);
    return rc == 0 ? 0 : -error;
}

/* The job's folder may lie in /tmp. */
int lanes_mount(struct lanes *l, unsigned lane, int root, struct err *e)
{
    for (int i = SEEN; i-- > 0;) {
        const int rc = put(l->made[lane][i], root, lanes_target(l->plan, i));
        if (rc != 0)
            return err_set(e, -rc, "%s cannot be shown to lane %u: %s", lanes_target(l->plan, i),
                           lane, strerror(-rc));
    }
    return 0;
}

/* --- in the host's own root --- */

static int clone_root(const char *path, unsigned flags)
{
    const int tree = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags);
    return tree < 0 ? -errno : tree;
}

/* What came is nobody's to change here, and gives no rights. */
static int clone_outside(const struct outside_piece *piece)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY};
    const int tree = clone_root(piece->source, AT_SYMLINK_NOFOLLOW);
    if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof attr) == 0)
        return tree;
    const int rc = -errno;
    close(tree);
    return rc;
}

static int outside_clone(struct lanes *l, unsigned lane, struct err *e)
{
    const struct outside *o = l->plan->outside;
    if (o == NULL || o->count == 0)
        return 0;
    l->outside[lane] = malloc(o->count * sizeof *l->outside[lane]);
    if (l->outside[lane] == NULL)
        return err_set(e, ENOMEM, "no memory");
    memset(l->outside[lane], -1, o->count * sizeof *l->outside[lane]);
    for (size_t i = 0; i < o->count; i++) {
        l->outside[lane][i] = clone_outside(&o->at[i]);
        if (l->outside[lane][i] < 0)
            return err_set(e, -l->outside[lane][i], "%s, which came with the job: %s",
                           o->at[i].path, strerror(-l->outside[lane][i]));
    }
    return 0;
}

static int outside_mount(struct lanes *l, unsigned lane, int root, struct err *e)
{
    const struct outside *o = l->plan->outside;
    for (size_t i = 0; l->outside[lane] != NULL && i < o->count; i++) {
        const int rc = put(l->outside[lane][i], root, o->at[i].path);
        if (rc != 0)
            return err_set(e, -rc, "%s, which came with the job, cannot be shown to it: %s",
                           o->at[i].path, strerror(-rc));
    }
    return 0;
}

static void outside_close(struct lanes *l)
{
    for (unsigned lane = 0; lane < LANES_MOST; lane++) {
        for (size_t i = 0; l->outside[lane] != NULL && i < l->plan->outside->count; i++)
            if (l->outside[lane][i] >= 0)
                close(l->outside[lane][i]);
        free(l->outside[lane]);
        l->outside[lane] = NULL;
    }
}

/* The room's own folder is in both: what is in it must be the same for all, sockets among it. */
static int host_mount(struct lanes *l, unsigned lane, int root, struct err *e)
{
    int rc = lanes_mount(l, lane, root, e);
    if (rc == 0)
        rc = outside_mount(l, lane, root, e);
    if (rc != 0 || !lanes_cover(l->plan, l->plan->room))
        return rc;
    rc = put(l->room[lane], root, l->plan->room);
    return rc == 0 ? 0 : err_set(e, -rc, "%s: %s", l->plan->room, strerror(-rc));
}

static int host_clone(struct lanes *l, int clones[LANES_MOST], struct err *e)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0)
        return err_set(e, errno, "no mounts of its own: %s", strerror(errno));
    for (unsigned lane = 0; lane < l->plan->count; lane++) {
        clones[lane] = lane == 0 ? -1 : clone_root("/", AT_RECURSIVE);
        l->room[lane] = clone_root(l->plan->room, 0);
        if ((lane > 0 && clones[lane] < 0) || l->room[lane] < 0)
            return err_set(e, errno, "the host's root cannot be shown: %s", strerror(errno));
        if (outside_clone(l, lane, e) != 0)
            return -e->code;
    }
    return 0;
}

/* Each root is mounted when lane 0's is complete: before, the room's folder would be hidden. */
static int host_lane(struct lanes *l, unsigned lane, int clone, struct err *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/root-%u", l->plan->room, lane);
    int root = -1, rc = 0;
    if (lane > 0 && move_mount(clone, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) != 0)
        rc = err_set(e, errno, "%s: %s", path, strerror(errno));
    if (rc == 0 && (root = open(lane == 0 ? "/" : path, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
        rc = err_set(e, errno, "%s: %s", path, strerror(errno));
    if (rc == 0)
        rc = host_mount(l, lane, root, e);
    if (root >= 0)
        close(root);
    return rc;
}

int lanes_enter_host(struct lanes *l, const struct lanes_plan *plan, struct err *e)
{
    int clones[LANES_MOST];
    memset(clones, -1, sizeof clones);
    int rc = lanes_open(l, plan, e);
    memset(l->room, -1, sizeof l->room);
    if (rc == 0)
        rc = host_clone(l, clones, e);
    for (unsigned lane = 0; lane < plan->count && rc == 0; lane++)
        rc = host_lane(l, lane, clones[lane], e);
    for (unsigned lane = 0; lane < plan->count; lane++) {
        if (clones[lane] >= 0)
            close(clones[lane]);
        if (l->room[lane] >= 0)
            close(l->room[lane]);
    }
    outside_close(l);
    lanes_close(l);
    if (rc == 0 && chdir(plan->room) != 0)
        rc = err_set(e, errno, "%s: %s", plan->room, strerror(errno));
    return rc;
}

int lanes_copy_aside(const struct lanes_plan *plan, struct err *e)
{
    char path[PATH_MAX];
    int rc = 0;
    for (unsigned lane = 0; lane < plan->count && rc == 0; lane++)
        rc = copy_for_lane(plan, lane, FOLDER, path, e);
    return rc;
}

/* --- what there is --- */

static enum lanes_way try_views(const struct lanes_plan *plan)
{
    struct lanes l;
    struct err e = {0};
    const int rc = lanes_enter_host(&l, plan, &e);
    return rc == 0 ? l.way : LANES_ASIDE;
}

enum lanes_way lanes_probe(const char *work)
{
    char room[PATH_MAX / 2], tree[PATH_MAX];
    const struct lanes_plan plan = {
        .room = room, .folder = tree, .tree = "", .tmp = "/tmp", .count = 2};
    struct err e = {0};
    int status = -1;
    if (snprintf(room, sizeof room, "%s/probe-XXXXXX", work) >= (int)sizeof room ||
        mkdtemp(room) == NULL)
        return LANES_NONE;
    snprintf(tree, sizeof tree, "%s/base", room);
    if (lanes_make(&plan, &e) != 0) {
        sweep_remove(room);
        return LANES_NONE;
    }
    bool own_users;
    const pid_t child = namespaces_fork_mounts(&own_users);
    if (child == 0)
        _exit((int)try_views(&plan));
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    sweep_remove(room);
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= LANES_OVERLAY
               ? (enum lanes_way)WEXITSTATUS(status)
               : LANES_ASIDE;
}
