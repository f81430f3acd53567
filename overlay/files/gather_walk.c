/* SPDX-License-Identifier: BSD-3-Clause */
/* gather_walk.c -- walks the job's folder. A link stays a link; what it leads to outside of the
 * folder comes along as a file of its own, so that it leads there on a peer, too. */
#include "gather_state.h"
#include "secret.h"
#include "overlay/manifest/program.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names of results that are being written. */
static const char of_results[] = ".p2pgrid-";

const char *gather_beneath(const struct gather *g, const char *absolute)
{
    const char *folder = g->order->folder;
    const size_t length = strlen(folder);
    if (length == 0 || strncmp(absolute, folder, length) != 0)
        return NULL;
    return absolute[length] == '/'    ? absolute + length + 1
           : absolute[length] == '\0' ? absolute + length
                                      : NULL;
}

static bool full_path(const struct gather *g, const char *path, char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "%s%s%s", g->order->folder, *path != '\0' ? "/" : "", path) <
           PATH_MAX;
}

static bool over_limit(const struct gather *g)
{
    return g->bounded && g->out->list.bytes > g->limit;
}

static bool can_read(const char *full)
{
    return access(full, R_OK) == 0;
}

/* The system's folders are each peer's own, also where a name only leads through them. */
static bool is_of_system(const char *absolute)
{
    static const char *const folders[] = {"/usr/",  "/lib",  "/bin/", "/sbin/", "/etc/",
                                          "/proc/", "/sys/", "/dev/", "/run/",  "/boot/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (strncmp(absolute, folders[i], strlen(folders[i])) == 0)
            return true;
    return program_is_of_system(absolute);
}

static int outside_folder(struct gather *g, const char *absolute);

int gather_outside(struct gather *g, const char *absolute)
{
    struct stat st;
    char real[PATH_MAX];
    if (realpath(absolute, real) == NULL || stat(real, &st) != 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return outside_folder(g, real);
    if (!S_ISREG(st.st_mode) || is_of_system(absolute) || is_of_system(real))
        return -EPERM;
    return can_read(real) ? gathered_add(&g->out->list, GATHERED_OUTSIDE, absolute, NULL, &st)
                          : -EACCES;
}

/* --- folders elsewhere, as a whole --- */

static int outside_walk(struct gather *g, const char *folder, unsigned depth);

/* The file that a link leads to comes along, too. */
static int outside_link(struct gather *g, const char *folder, const char *path,
                        const struct stat *st)
{
    struct stat there;
    char target[PATH_MAX], leads[PATH_MAX];
    const ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return 0;
    target[n] = '\0';
    const int rc = gathered_add(&g->out->list, GATHERED_OUTSIDE_LINK, path, target, st);
    if (rc == 0 && gather_normal(folder, target, leads, sizeof leads) &&
        gather_beneath(g, leads) == NULL && stat(leads, &there) == 0 && S_ISREG(there.st_mode))
        gather_outside(g, leads);
    return rc;
}

/* Of authorities that all trust: environments have them for their programs. */
static bool is_certificates(const char *name)
{
    return strcmp(name, "cacert.pem") == 0;
}

static int outside_entry(struct gather *g, const char *folder, const char *name, unsigned depth)
{
    char path[PATH_MAX];
    struct stat st;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        lstat(path, &st) != 0)
        return 0;
    if (secret_by_name(name) && !(g->environment && is_certificates(name))) {
        g->out->secrets++;
        return 0;
    }
    int rc = 0;
    if (S_ISDIR(st.st_mode))
        rc = outside_walk(g, path, depth + 1);
    else if (S_ISLNK(st.st_mode))
        rc = outside_link(g, folder, path, &st);
    else if (S_ISREG(st.st_mode) && can_read(path))
        rc = gathered_add(&g->out->list, GATHERED_OUTSIDE, path, NULL, &st);
    else
        g->out->left++;
    return rc == 0 && over_limit(g) ? -EFBIG : rc;
}

static int outside_walk(struct gather *g, const char *folder, unsigned depth)
{
    DIR *dir = depth < GATHERED_DEPTH ? opendir(folder) : NULL;
    struct dirent *entry;
    int rc = depth < GATHERED_DEPTH ? 0 : -ELOOP;
    if (dir == NULL)
        g->out->left++;
    while (dir != NULL && rc == 0 && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = outside_entry(g, folder, entry->d_name, depth);
    if (dir != NULL)
        closedir(dir);
    return rc;
}

static bool lies_in(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* Hidden folders of a home are the programs' that made them; its tools keep environments there:
 * ~/.conda/envs, ~/.pyenv/versions, ~/.virtualenvs. */
static bool may_travel(const struct gather *g, const char *absolute)
{
    const char *const home = g->order->home;
    const enum gather_folder kind = gather_judge(absolute, home);
    return kind == GATHER_WHOLE ||
           (kind == GATHER_NAMED && g->environment && home != NULL && lies_in(absolute, home));
}

/* None of the system's, no home, and not the folder that the job's lies in: its files would stand
 * beside those that the job changes. */
bool gather_outside_is_closed(const struct gather *g, const char *real)
{
    return lies_in(g->order->folder, real) || is_of_system(real) || !may_travel(g, real);
}

static int outside_folder(struct gather *g, const char *absolute)
{
    return gather_outside_is_closed(g, absolute) ? -EPERM : outside_walk(g, absolute, 0);
}

/* A link is there in any case; that it leads nowhere is the program's affair. */
static int add_link(struct gather *g, const char *path, const char *full, const struct stat *st)
{
    char target[PATH_MAX], folder[PATH_MAX], leads[PATH_MAX];
    const ssize_t n = readlink(full, target, sizeof target - 1);
    if (n < 0)
        return 0;
    target[n] = '\0';
    int rc = gathered_add(&g->out->list, GATHERED_LINK, path, target, st);
    snprintf(folder, sizeof folder, "%s", full);
    *strrchr(folder, '/') = '\0';
    if (rc == 0 && gather_normal(folder, target, leads, sizeof leads) &&
        gather_beneath(g, leads) == NULL) {
        const char *name = strrchr(leads, '/');
        if (secret_by_name(name != NULL ? name + 1 : leads))
            g->out->secrets++;
        else if ((rc = gather_outside(g, leads)) != -E2BIG && rc != -ENOMEM)
            rc = 0;
    }
    return rc;
}

static bool is_written(const struct gather *g, const struct stat *st)
{
    for (size_t i = 0; i < g->order->written_count; i++)
        if (g->order->written[i].st_dev == st->st_dev && g->order->written[i].st_ino == st->st_ino)
            return true;
    return false;
}

static int add_found(struct gather *g, const char *path, const char *full, const struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        return add_link(g, path, full, st);
    if (S_ISREG(st->st_mode) && can_read(full))
        return gathered_add(&g->out->list, GATHERED_FILE, path, NULL, st);
    g->out->left++;
    return 0;
}

/* Is it asked for by a pattern of the input? What is in a folder that is, is too. */
static bool is_input(struct gather *g, const char *path)
{
    bool found = false;
    for (size_t i = 0; g->pattern != NULL && g->pattern[i] != NULL; i++)
        if (pattern_matches(g->pattern[i], path))
            found = g->used[i] = true;
    return found;
}

static int walk(struct gather *g, const char *path, bool all, unsigned depth);

static int walk_entry(struct gather *g, const char *folder, const char *name, bool all,
                      unsigned depth)
{
    char path[PATH_MAX], full[PATH_MAX];
    struct stat st;
    if (snprintf(path, sizeof path, "%s%s%s", folder, *folder != '\0' ? "/" : "", name) >=
            (int)sizeof path ||
        !full_path(g, path, full) || lstat(full, &st) != 0)
        return 0;
    const bool is_folder = S_ISDIR(st.st_mode);
    if (strncmp(name, of_results, strlen(of_results)) == 0 ||
        pattern_leaves_out(&g->ignore, path, is_folder) || is_written(g, &st))
        return 0;
    if (secret_by_name(name)) {
        g->out->secrets++;
        return 0;
    }
    all |= is_input(g, path);
    int rc = 0;
    if (all)
        rc = is_folder ? gathered_add(&g->out->list, GATHERED_FOLDER, path, NULL, &st)
                       : add_found(g, path, full, &st);
    if (rc == 0 && is_folder && (all || g->pattern != NULL))
        rc = walk(g, path, all, depth + 1);
    return rc == 0 && over_limit(g) ? -EFBIG : rc;
}

static int walk(struct gather *g, const char *path, bool all, unsigned depth)
{
    char full[PATH_MAX];
    if (depth == GATHERED_DEPTH || !full_path(g, path, full))
        return -ELOOP;
    DIR *dir = opendir(full);
    struct dirent *entry;
    int rc = 0;
    if (dir == NULL)
        g->out->left++;
    while (dir != NULL && rc == 0 && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = walk_entry(g, path, entry->d_name, all, depth);
    if (dir != NULL)
        closedir(dir);
    return rc;
}

int gather_walk(struct gather *g, const char *path, bool all)
{
    return walk(g, path, all, 0);
}

/* The first link on the way down to `path`, which becomes its name; false: there is none. */
static bool first_link(const struct gather *g, char path[PATH_MAX], const char **rest)
{
    char full[PATH_MAX];
    struct stat st;
    for (char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (full_path(g, path, full) && lstat(full, &st) == 0 && S_ISLNK(st.st_mode)) {
            *rest = slash + 1;
            return true;
        }
        *slash = '/';
    }
    return false;
}

static int name_beneath(struct gather *g, const char *path, unsigned links);

/* Goes on where a link leads. */
static int follow(struct gather *g, const char *link, const char *rest, unsigned links)
{
    char full[PATH_MAX], target[PATH_MAX], joined[2 * PATH_MAX], leads[PATH_MAX];
    struct stat st;
    if (links == GATHER_LINKS || !full_path(g, link, full) || lstat(full, &st) != 0)
        return -ELOOP;
    const ssize_t n = readlink(full, target, sizeof target - 1);
    if (n < 0)
        return -errno;
    target[n] = '\0';
    int rc = gathered_add(&g->out->list, GATHERED_LINK, link, target, &st);
    *strrchr(full, '/') = '\0';
    snprintf(joined, sizeof joined, "%s%s%s", target, *rest != '\0' ? "/" : "", rest);
    if (rc != 0 || !gather_normal(full, joined, leads, sizeof leads))
        return rc != 0 ? rc : -ENAMETOOLONG;
    const char *beneath = gather_beneath(g, leads);
    return beneath != NULL ? name_beneath(g, beneath, links + 1) : gather_outside(g, leads);
}

static int name_beneath(struct gather *g, const char *path, unsigned links)
{
    char begin[PATH_MAX], full[PATH_MAX];
    const char *rest;
    struct stat st;
    snprintf(begin, sizeof begin, "%s", path);
    if (first_link(g, begin, &rest))
        return follow(g, begin, rest, links);
    if (!full_path(g, path, full) || lstat(full, &st) != 0)
        return -errno;
    if (S_ISLNK(st.st_mode))
        return follow(g, path, "", links);
    if (S_ISDIR(st.st_mode)) {
        int rc = *path != '\0' ? gathered_add(&g->out->list, GATHERED_FOLDER, path, NULL, &st) : 0;
        return rc == 0 ? gather_walk(g, path, true) : rc;
    }
    if (!S_ISREG(st.st_mode))
        return -EPERM;
    return can_read(full) ? gathered_add(&g->out->list, GATHERED_FILE, path, NULL, &st) : -EACCES;
}

int gather_name(struct gather *g, const char *absolute)
{
    const char *beneath = gather_beneath(g, absolute);
    return beneath != NULL ? name_beneath(g, beneath, 0) : gather_outside(g, absolute);
}
