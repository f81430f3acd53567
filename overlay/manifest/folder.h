/* SPDX-License-Identifier: BSD-3-Clause */
/* folder.h -- may a job in a sandbox read and write the folder that its mpirun was started in, on a
 * desktop of its own owner? Not where that would open the owner's private files. */
#ifndef P2P_OVERLAY_MANIFEST_FOLDER_H
#define P2P_OVERLAY_MANIFEST_FOLDER_H
#include "overlay/base/err.h"

enum { FOLDER_PATH = 255 };

/* By the names alone, which contain no links: 0, or -EACCES with what it is ("is your home, or
 * holds it"). */
int folder_judge(const char *folder, const char *home, struct err *e);
/* On this machine: secret[] (ended by NULL) are private files and folders, besides those in the
 * home folder whose names begin with a dot; "" and missing ones are skipped. */
int folder_check(const char *folder, const char *const *secret, struct err *e);
#endif
