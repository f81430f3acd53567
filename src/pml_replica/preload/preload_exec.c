/* SPDX-License-Identifier: BSD-3-Clause */
/* preload_exec.c -- a program that is started with preloaded libraries of its own, as by
 * `env LD_PRELOAD=other.so PROGRAM`, gets ours with them. */
#include "preload.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_VARIABLES = 4096, LONGEST = 16384 };

static const char name[] = "LD_PRELOAD=";
static char own_path[PATH_MAX]; /* of this library; empty: not known */

__attribute__((constructor)) static void find_own_path(void)
{
    Dl_info here;
    if (dladdr(own_path, &here) != 0 && strlen(here.dli_fname) < sizeof own_path)
        strcpy(own_path, here.dli_fname);
}

/* The environment with this library in front of those to preload, or as it is. Nothing is
 * allocated: this may be the child of a vfork. */
struct environment {
    char *variables[MOST_VARIABLES];
    char line[LONGEST];
};

static char *const *environment_with_own(char *const env[], struct environment *room)
{
    size_t at = 0, count = 0;
    const char *value = NULL;
    for (; env != NULL && env[count] != NULL; count++)
        if (strncmp(env[count], name, sizeof name - 1) == 0 && value == NULL) {
            value = env[count] + sizeof name - 1;
            at = count;
        }
    if (*own_path == '\0' || value == NULL || strstr(value, own_path) != NULL ||
        count >= MOST_VARIABLES)
        return env;
    int n = snprintf(room->line, sizeof room->line, "%s%s:%s", name, own_path, value);
    if (n < 0 || (size_t)n >= sizeof room->line)
        return env;
    memcpy(room->variables, env, (count + 1) * sizeof *env);
    room->variables[at] = room->line;
    return room->variables;
}

static int exec_with_own(const char *call, const char *file, char *const argv[], char *const env[])
{
    struct environment room;
    int (*stock)(const char *, char *const[], char *const[]) =
        (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, call);
    return stock(file, argv, environment_with_own(env, &room));
}

int execve(const char *path, char *const argv[], char *const env[])
{
    return exec_with_own("execve", path, argv, env);
}

int execv(const char *path, char *const argv[])
{
    return exec_with_own("execve", path, argv, environ);
}

int execvpe(const char *file, char *const argv[], char *const env[])
{
    return exec_with_own("execvpe", file, argv, env);
}

int execvp(const char *file, char *const argv[])
{
    return exec_with_own("execvpe", file, argv, environ);
}
