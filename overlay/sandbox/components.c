/* SPDX-License-Identifier: BSD-3-Clause */
/* components.c -- finds p2pgrid's components and links to each of them, not to their folder: the
 * owner may keep other components there. */
#include "components.h"
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All names, with spaces between them; the first is loaded by every mpirun and orted. */
static const char names[] = COMPONENT_FILES;

static const char *next_name(const char *at, char name[COMPONENTS_NAME])
{
    at += strspn(at, " ");
    const size_t length = strcspn(at, " ");
    snprintf(name, COMPONENTS_NAME, "%.*s", (int)length, at);
    return length > 0 ? at + length : NULL;
}

static bool path_in(char path[PATH_MAX], const char *folder, const char *name)
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

static bool is_there(const char *folder)
{
    char name[COMPONENTS_NAME], path[PATH_MAX];
    next_name(names, name);
    return path_in(path, folder, name) && access(path, R_OK) == 0;
}

static bool find_at_home(struct components *c)
{
    const char *home = getenv("HOME");
    const struct passwd *user = home == NULL ? getpwuid(getuid()) : NULL;
    if (user != NULL)
        home = user->pw_dir;
    return home != NULL && home[0] == '/' &&
           snprintf(c->folder, sizeof c->folder, "%s/.openmpi/components", home) <
               (int)sizeof c->folder &&
           is_there(c->folder);
}

static bool find_where_installed(struct components *c)
{
    return strncmp(COMPONENTDIR, "/usr/", 5) != 0 &&
           snprintf(c->folder, sizeof c->folder, "%s", COMPONENTDIR) < (int)sizeof c->folder &&
           is_there(c->folder);
}

void components_find(struct components *c)
{
    c->count = 0;
    if (!find_at_home(c) && !find_where_installed(c)) {
        c->folder[0] = '\0';
        return;
    }
    for (const char *at = names; c->count < COMPONENTS_MOST; c->count++)
        if ((at = next_name(at, c->name[c->count])) == NULL)
            return;
}

int components_link(const struct components *c, const char *folder)
{
    char from[PATH_MAX], to[PATH_MAX];
    for (unsigned i = 0; i < c->count; i++) {
        if (!path_in(to, c->folder, c->name[i]) || !path_in(from, folder, c->name[i]))
            return -ENAMETOOLONG;
        if (symlink(to, from) != 0)
            return -errno;
    }
    return 0;
}

/* Hard links, except where the folders are of different file systems. */
static int component_copy(const char *from, const char *to)
{
    char buffer[65536];
    ssize_t n = 0;
    if (linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
    int rc = out < 0 ? -errno : 0;
    while (rc == 0 && (n = read(in, buffer, sizeof buffer)) > 0)
        rc = write(out, buffer, (size_t)n) == n ? 0 : -EIO;
    if (rc == 0 && n < 0)
        rc = -errno;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return rc;
}

int components_copy(const struct components *c, const char *folder)
{
    char from[PATH_MAX], to[PATH_MAX];
    int rc = 0;
    for (unsigned i = 0; i < c->count && rc == 0; i++) {
        if (!path_in(from, c->folder, c->name[i]) || !path_in(to, folder, c->name[i]))
            return -ENAMETOOLONG;
        rc = component_copy(from, to);
    }
    return rc;
}
