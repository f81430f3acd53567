/* SPDX-License-Identifier: BSD-3-Clause */
/* gather_python.c -- Python's modules that are neither beside the script nor the interpreter's own:
 * those that pip has installed for the user, and those of PYTHONPATH. */
#include "gather_state.h"
#include "overlay/manifest/program.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool gather_python_name(const char *program, char out[GATHER_PYTHON])
{
    char real[PATH_MAX];
    if (realpath(program, real) == NULL)
        return false;
    const char *name = strrchr(real, '/') + 1;
    const size_t length = 6 + strspn(name + strnlen(name, 6), "0123456789.");
    if (strncmp(name, "python", 6) != 0 || length == 6 || length >= GATHER_PYTHON)
        return false;
    snprintf(out, GATHER_PYTHON, "%.*s", (int)length, name);
    return true;
}

/* Such an environment does not look at the user's modules. */
static bool is_venv(const char *program)
{
    char mark[PATH_MAX];
    const char *slash = strrchr(program, '/');
    const int n =
        snprintf(mark, sizeof mark, "%.*s/../pyvenv.cfg", (int)(slash - program), program);
    return n < (int)sizeof mark && access(mark, F_OK) == 0;
}

static int add_user_modules(struct gather *g, const struct gather_app *app, const char *python)
{
    char base[PATH_MAX], named[PATH_MAX + 64], path[PATH_MAX];
    struct stat st;
    bool came = false;
    if (app->python_base != NULL && app->python_base[0] == '/')
        snprintf(base, sizeof base, "%s", app->python_base);
    else
        snprintf(base, sizeof base, "%s/.local", g->order->home != NULL ? g->order->home : "");
    snprintf(named, sizeof named, "%s/lib/%s/site-packages", base, python);
    if (strlen(base) >= sizeof g->out->python_base || base[0] != '/' ||
        !gather_normal("/", named, path, sizeof path) || stat(path, &st) != 0)
        return 0;
    const int rc = gather_tree(g, path, true, &came);
    if (came)
        memcpy(g->out->python_base, base, strlen(base) + 1);
    return rc;
}

/* A folder, or an archive of modules. */
static int add_of_path(struct gather *g, const char *path)
{
    struct stat st;
    char real[PATH_MAX];
    bool came;
    if (stat(path, &st) != 0 || realpath(path, real) == NULL || program_lies_in_system(real))
        return 0;
    if (S_ISREG(st.st_mode)) {
        const int rc = gather_name(g, path);
        return rc == -E2BIG || rc == -ENOMEM ? rc : 0;
    }
    const char *beneath = gather_beneath(g, path);
    if (beneath == NULL && gather_outside_is_closed(g, real) && g->out->holder[0] == '\0')
        snprintf(g->out->holder, sizeof g->out->holder, "%.255s", path);
    return gather_tree(g, path, false, &came);
}

static int add_python_path(struct gather *g, const struct gather_app *app)
{
    char word[PATH_MAX], path[PATH_MAX];
    int rc = 0;
    for (const char *at = app->python_path; at != NULL && *at != '\0' && rc == 0;) {
        const size_t length = strcspn(at, ":");
        if (length > 0 && length < sizeof word) {
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            if (gather_normal(app->cwd, word, path, sizeof path))
                rc = add_of_path(g, path);
        }
        at += length + (at[length] == ':');
    }
    return rc;
}

int gather_python(struct gather *g, const struct gather_app *app, const char *program)
{
    char python[GATHER_PYTHON];
    if (!gather_python_name(program, python))
        return 0;
    g->out->python_path |= app->python_path != NULL && app->python_path[0] != '\0';
    const int rc = is_venv(program) ? 0 : add_user_modules(g, app, python);
    return rc == 0 ? add_python_path(g, app) : rc;
}
