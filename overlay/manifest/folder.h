/* SPDX-License-Identifier: BSD-3-Clause */
/* folder.h -- may a job with walls read and write the folder that its mpirun was started in, on a
 * desktop of its own owner? Not where that would open what the owner keeps to himself. */
#ifndef P2P_OVERLAY_MANIFEST_FOLDER_H
#define P2P_OVERLAY_MANIFEST_FOLDER_H
#include "overlay/base/err.h"

enum { FOLDER_PATH = 255 };

/* By the names alone, which lead through no links: 0, or -EACCES with what it is ("is your home, or
 * holds it"). */
int folder_judge(const char *folder, const char *home, struct err *e);
/* Here, by the user who runs this: secret[] (ended by NULL) are files and folders besides those at
 * home whose names begin with a dot; "" and what is not there is skipped. */
int folder_check(const char *folder, const char *const *secret, struct err *e);
#endif
