/* SPDX-License-Identifier: BSD-3-Clause */
/* view_name.c -- by what orted has put into the environment. */
#include "view_name.h"
#include "overlay/base/beneath.h"
#include "overlay/base/lane_roots.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *view_folder(void)
{
    const char *view = getenv(LANE_VIEW_VARIABLE), *roots = getenv(LANE_ROOTS_VARIABLE);
    if (view == NULL && roots != NULL && atoi(roots) > LANES_ASIDE)
        view = strrchr(roots, '\n') != NULL ? strrchr(roots, '\n') + 1 : NULL;
    return view;
}

/* The folder may be named by a link, which getcwd(3) follows. */
static const char *below_either(const char *path, const char *folder)
{
    char real[PATH_MAX];
    if (folder == NULL || folder[0] == '\0')
        return NULL;
    const char *rest = path_beneath(path, folder);
    return rest == NULL && realpath(folder, real) != NULL ? path_beneath(path, real) : rest;
}

bool view_holds(const char *path)
{
    return below_either(path, view_folder()) != NULL ||
           below_either(path, getenv("TMPDIR")) != NULL;
}

bool view_name(char *name, size_t size, const char *path)
{
    const char *rest = below_either(path, view_folder()), *kind = "f";
    if (rest == NULL && view_folder() != NULL) {
        rest = below_either(path, getenv("TMPDIR"));
        kind = "t";
    }
    if (rest == NULL) {
        rest = path;
        kind = "";
    }
    return snprintf(name, size, "%s%s", kind, rest) < (int)size;
}

bool view_path(char *path, size_t size, const char *name)
{
    const char *folder = name[0] == 'f' ? view_folder() : name[0] == 't' ? getenv("TMPDIR") : NULL;
    const bool known = folder != NULL && name[1] == '/';
    return snprintf(path, size, "%s%s", known ? folder : "", known ? name + 1 : name) < (int)size;
}
