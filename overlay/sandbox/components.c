/* SPDX-License-Identifier: BSD-3-Clause */
/* components.c -- finds p2pgrid's components and links to each of them, not to their folder: the
 * owner may keep other components there. */
#include "components.h"
#include <errno.h>
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
