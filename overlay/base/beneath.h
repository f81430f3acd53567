/* SPDX-License-Identifier: BSD-3-Clause */
/* beneath.h -- does a path lie in a folder? By their text: both are absolute, and without dots. */
#ifndef P2P_OVERLAY_BASE_BENEATH_H
#define P2P_OVERLAY_BASE_BENEATH_H
#include <stddef.h>
#include <string.h>

/* What follows the folder: "" for itself, or from the slash on. NULL: it does not lie there. */
static inline const char *path_beneath(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0')
               ? path + length
               : NULL;
}
#endif
