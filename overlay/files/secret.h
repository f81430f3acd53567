/* SPDX-License-Identifier: BSD-3-Clause */
/* secret.h -- files that look like keys and passwords, and folders that hold them or the history of
 * a source tree: they do not travel unless they are named. */
#ifndef P2P_OVERLAY_FILES_SECRET_H
#define P2P_OVERLAY_FILES_SECRET_H
#include <stdbool.h>

/* By the last name of a path alone. */
bool secret_by_name(const char *name);
#endif
