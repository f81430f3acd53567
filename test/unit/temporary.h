/* SPDX-License-Identifier: BSD-3-Clause */
/* temporary.h -- folders of unit tests, gone afterwards with all that is in them. */
#ifndef P2P_TEMPORARY_H
#define P2P_TEMPORARY_H
#include <stdio.h>
#include <stdlib.h>

static inline int temporary_remove(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}
#endif
