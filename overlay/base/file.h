/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h -- a file that is replaced as a whole: after a crash the old one is there, or the new one.
 */
#ifndef P2P_OVERLAY_BASE_FILE_H
#define P2P_OVERLAY_BASE_FILE_H
#include "err.h"
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* With everything above it; 0700 where it is made. */
int file_make_folder(const char *path, struct err *e);

struct file {
    FILE *stream; /* what is to be in it */
    char path[4096], fresh[4096 + 8];
};

int file_begin(struct file *f, const char *path, mode_t mode, struct err *e);
/* On disk in place of the old one, or an error and the old one; ok: everything was written. */
int file_end(struct file *f, bool ok, struct err *e);
#endif
