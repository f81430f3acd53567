/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c -- where the daemon of this user has its socket. */
#include "place.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int place_socket(char out[PLACE_MAX + 1], struct err *e)
{
    const char *set = getenv("P2PGRID_SOCKET"), *run = getenv("XDG_RUNTIME_DIR");
    int n;
    if (set != NULL && set[0] != '\0')
        n = snprintf(out, PLACE_MAX + 1, "%s", set);
    else if (run != NULL && run[0] == '/')
        n = snprintf(out, PLACE_MAX + 1, "%s/p2pgrid/p2pd.sock", run);
    else
        n = snprintf(out, PLACE_MAX + 1, "/tmp/p2pgrid-%lu/p2pd.sock", (unsigned long)geteuid());
    if (n > PLACE_MAX)
        return err_set(e, ENAMETOOLONG,
                       "the socket's path is longer than %d bytes: %.60s...; set "
                       "P2PGRID_SOCKET to a shorter one",
                       PLACE_MAX, out);
    return 0;
}
