/* SPDX-License-Identifier: BSD-3-Clause */
/* helper.c -- where p2pd's helper programs are. */
#include "config.h"
#include "helper.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void helper_path(char path[PATH_MAX], const char *name)
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 64);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    static const char *const beside[] = {"", "../libexec/p2pgrid/"}; /* built; installed anywhere */
    for (size_t i = 0; slash != NULL && i < sizeof beside / sizeof *beside; i++) {
        snprintf(slash, 64, "/%s%s", beside[i], name);
        if (access(path, X_OK) == 0)
            return;
    }
    snprintf(path, PATH_MAX, PKGLIBEXECDIR "/%s", name);
}
