/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.c -- finds, makes, fills and ends control groups: files in /sys/fs/cgroup. */
#include "cgroup.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char prefix[] = "p2pd-";

/* --- decisions --- */

/* In mountinfo a blank in a path is \040. */
static void unescape(char *path)
{
    char *out = path;
    unsigned byte;
    for (const char *at = path; *at != '\0';) {
        if (at[0] == '\\' && sscanf(at + 1, "%3o", &byte) == 1) {
            *out++ = (char)byte;
            at += 4;
        } else {
            *out++ = *at++;
        }
    }
    *out = '\0';
}

/* The path of `group` below a mount that shows `root` and what is below it; NULL: it does not show
 * the group. */
static const char *cgroup_path_below(const char *group, const char *root)
{
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(group, root, length) != 0 || (group[length] != '/' && group[length] != '\0'))
        return NULL;
    return strcmp(group + length, "/") == 0 ? "" : group + length;
}

static bool cgroup_is_mounted(char path[CGROUP_PATH + 1], const char *line, const char *group)
{
    char root[PATH_MAX], place[PATH_MAX];
    const char *kind = strstr(line, " - cgroup2 ");
    const char *end = strchrnul(line, '\n');
    if (kind == NULL || kind > end || sscanf(line, "%*d %*d %*s %4095s %4095s", root, place) != 2)
        return false;
    unescape(root);
    unescape(place);
    const char *rest = cgroup_path_below(group, root);
    return rest != NULL && snprintf(path, CGROUP_PATH + 1, "%s%s", place, rest) <= CGROUP_PATH;
}

bool cgroup_locate(char path[CGROUP_PATH + 1], const char *membership, const char *mounts)
{
    char group[PATH_MAX];
    bool found = false;
    const char *own = strncmp(membership, "0::", 3) == 0 ? membership : strstr(membership, "\n0::");
    if (own == NULL)
        return false;
    own += own[0] == '\n';
    snprintf(group, sizeof group, "%.*s", (int)strcspn(own + 3, "\n"), own + 3);
    for (const char *line = mounts; *line != '\0'; line += *line == '\n') {
        found = cgroup_is_mounted(path, line, group) || found;
        line = strchrnul(line, '\n');
    }
    return found;
}

size_t cgroup_settings(struct cgroup_setting out[CGROUP_SETTINGS],
                       const struct cgroup_limits *limits)
{
    size_t n = 0;
    if (limits->memory > 0) {
        out[n].file = "memory.max";
        snprintf(out[n++].text, sizeof out->text, "%llu",
                 (unsigned long long)(limits->memory + limits->memory / 8));
        out[n++] = (struct cgroup_setting){"memory.swap.max", "0"};
        out[n++] = (struct cgroup_setting){"memory.oom.group", "1"};
    }
    if (limits->processes > 0) {
        out[n].file = "pids.max";
        snprintf(out[n++].text, sizeof out->text, "%llu", limits->processes + 1ull);
    }
    if (limits->nice > 0) {
        out[n].file = "cpu.weight.nice"; /* as cpu.weight, in the words of nice(2) */
        snprintf(out[n++].text, sizeof out->text, "%u", limits->nice);
    }
    return n;
}

/* --- files --- */

static int cgroup_put(const char *folder, const char *file, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = write(fd, text, strlen(text)) >= 0 ? 0 : -errno;
    close(fd);
    return rc;
}

/* The file's text, malloc'd. */
static char *cgroup_read_text(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return NULL;
    if (getdelim(&text, &size, '\0', f) < 0) {
        free(text);
        text = NULL;
    }
    fclose(f);
    return text;
}

static bool may_write(const char *folder, const char *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return access(path, W_OK) == 0;
}

/* --- p2pd --- */

/* Root may write to every group: that is no delegation. */
static bool cgroup_find_own(char path[CGROUP_PATH + 1])
{
    char *membership = cgroup_read_text("/proc/self/cgroup"),
         *mounts = cgroup_read_text("/proc/self/mountinfo");
    const bool found = geteuid() != 0 && membership != NULL && mounts != NULL &&
                       cgroup_locate(path, membership, mounts) && may_write(path, ".") &&
                       may_write(path, "cgroup.procs");
    free(membership);
    free(mounts);
    return found;
}

/* Ends the groups of a p2pd that was killed together with its rooms. */
static void cgroup_end_stale(const char *own)
{
    enum { PATIENCE_MS = 1000 };
    char path[PATH_MAX];
    DIR *folder = opendir(own);
    for (struct dirent *d; folder != NULL && (d = readdir(folder)) != NULL;) {
        const pid_t pid = strncmp(d->d_name, prefix, sizeof prefix - 1) == 0
                              ? (pid_t)atoi(d->d_name + sizeof prefix - 1)
                              : 0;
        if (pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH)
            continue;
        snprintf(path, sizeof path, "%s/%s", own, d->d_name);
        cgroup_end(path, PATIENCE_MS);
    }
    if (folder != NULL)
        closedir(folder);
}

/* Enables the controllers of `own` for `parent` and for the groups of leases below it. */
static void cgroup_delegate(const char *own, const char *parent, char *controllers)
{
    static const char *const names[] = {"+memory", "+pids", "+cpu"};
    controllers[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (cgroup_put(own, "cgroup.subtree_control", names[i]) != 0 ||
            cgroup_put(parent, "cgroup.subtree_control", names[i]) != 0)
            continue;
        strcat(controllers, controllers[0] != '\0' ? " " : "");
        strcat(controllers, names[i] + 1);
    }
}

int cgroup_take(char parent[CGROUP_PATH + 1], char controllers[CGROUP_CONTROLLERS + 1])
{
    char own[CGROUP_PATH + 1], self[CGROUP_PATH + 8];
    if (!cgroup_find_own(own))
        return -ENOENT;
    cgroup_end_stale(own);
    if (snprintf(parent, CGROUP_PATH + 1, "%s/%s%d", own, prefix, (int)getpid()) > CGROUP_PATH)
        return -ENAMETOOLONG;
    snprintf(self, sizeof self, "%s/self", parent);
    int rc = mkdir(parent, 0700) != 0 || mkdir(self, 0700) != 0 ? -errno : 0;
    if (rc == 0 && !may_write(self, "cgroup.kill"))
        rc = -ENOTSUP; /* Linux before 5.14 */
    if (rc == 0)
        rc = cgroup_put(self, "cgroup.procs", "0");
    if (rc == 0) {
        cgroup_delegate(own, parent, controllers);
        return 0;
    }
    rmdir(self);
    rmdir(parent);
    return rc;
}

/* --- rooms --- */

int cgroup_make(const char *path, const struct cgroup_limits *limits)
{
    struct cgroup_setting settings[CGROUP_SETTINGS];
    char procs[PATH_MAX];
    const size_t count = cgroup_settings(settings, limits);
    if (mkdir(path, 0700) != 0)
        return -errno;
    for (size_t i = 0; i < count; i++)
        cgroup_put(path, settings[i].file, settings[i].text);
    snprintf(procs, sizeof procs, "%s/cgroup.procs", path);
    int fd = open(procs, O_WRONLY | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

int cgroup_enter(int group)
{
    return write(group, "0", 1) == 1 ? 0 : -errno;
}

bool cgroup_starved(const char *path)
{
    char events[PATH_MAX];
    snprintf(events, sizeof events, "%s/memory.events", path);
    char *text = cgroup_read_text(events);
    const char *kills = text != NULL ? strstr(text, "oom_kill ") : NULL;
    const bool starved = kills != NULL && atol(kills + strlen("oom_kill ")) > 0;
    free(text);
    return starved;
}

/* Groups below it go first. */
static int cgroup_remove(const char *path)
{
    char inner[PATH_MAX];
    DIR *folder = opendir(path);
    for (struct dirent *d; folder != NULL && (d = readdir(folder)) != NULL;) {
        if (d->d_type != DT_DIR || d->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, d->d_name);
        rmdir(inner);
    }
    if (folder != NULL)
        closedir(folder);
    return rmdir(path) == 0 || errno == ENOENT ? 0 : -errno;
}

int cgroup_end(const char *path, int patience_ms)
{
    enum { PAUSE_MS = 2 };
    int rc = cgroup_put(path, "cgroup.kill", "1");
    if (rc != 0)
        return rc == -ENOENT ? 0 : rc;
    while ((rc = cgroup_remove(path)) == -EBUSY && patience_ms > 0) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
        patience_ms -= PAUSE_MS;
    }
    return rc;
}
