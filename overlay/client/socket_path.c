/* SPDX-License-Identifier: BSD-3-Clause */
/* socket_path.c -- where the daemon of this user has its socket. */
#include "socket_path.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "p2pgrid/p2pd.sock"

static int put_path(char out[PLACE_MAX + 1], struct err *e, const char *path)
{
    if (snprintf(out, PLACE_MAX + 1, "%s", path) <= PLACE_MAX)
        return 0;
    return err_set(e, ENAMETOOLONG,
                   "the socket's path is longer than %d bytes: %.60s...; set P2PGRID_SOCKET to a "
                   "shorter one",
                   PLACE_MAX, path);
}

int place_socket(unsigned choice, char out[PLACE_MAX + 1], struct err *e)
{
    const char *set = getenv("P2PGRID_SOCKET"), *run = getenv("XDG_RUNTIME_DIR");
    const unsigned long user = geteuid();
    char path[PATH_MAX], usual[32];
    if (set != NULL && set[0] != '\0')
        return choice == 0 ? put_path(out, e, set) : -ENOENT;
    snprintf(usual, sizeof usual, "/run/user/%lu", user);
    if (run == NULL || run[0] != '/' || strcmp(run, usual) == 0)
        choice++; /* there is no other such folder */
    switch (choice) {
    case 0:
        snprintf(path, sizeof path, "%s/" NAME, run);
        break;
    case 1:
        snprintf(path, sizeof path, "%s/" NAME, usual);
        break;
    case 2:
        snprintf(path, sizeof path, "/tmp/p2pgrid-%lu/p2pd.sock", user);
        break;
    default:
        return -ENOENT;
    }
    return put_path(out, e, path);
}

int place_try(place_fn *fn, void *ctx, struct err *e)
{
    char path[PLACE_MAX + 1];
    struct err other = {0};
    int rc = place_socket(0, path, e);
    if (rc == 0)
        rc = fn(ctx, path, e);
    for (unsigned i = 1; rc != 0 && rc != -EADDRINUSE && place_socket(i, path, &other) == 0; i++)
        if (fn(ctx, path, &other) == 0)
            rc = 0;
    if (rc == 0)
        *e = (struct err){0};
    return rc;
}
