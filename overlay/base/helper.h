/* SPDX-License-Identifier: BSD-3-Clause */
/* helper.h -- where p2pd's helper programs are. */
#ifndef P2P_OVERLAY_BASE_HELPER_H
#define P2P_OVERLAY_BASE_HELPER_H
#include <limits.h>

/* Beside the file that this process runs, where it was built; else where it was installed. */
void helper_path(char path[PATH_MAX], const char *name);
#endif
