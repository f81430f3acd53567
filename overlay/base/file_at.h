/* SPDX-License-Identifier: BSD-3-Clause */
/* file_at.h -- bytes at a place in a file, in as many calls of the system as it takes. */
#ifndef P2P_OVERLAY_BASE_FILE_AT_H
#define P2P_OVERLAY_BASE_FILE_AT_H
#include <stddef.h>
#include <sys/types.h>

int file_write_at(int fd, const void *bytes, size_t length, off_t at); /* 0 or -errno */
/* How many there were, fewer than `length` at the file's end; or -errno. */
ssize_t file_read_at(int fd, void *bytes, size_t length, off_t at);
#endif
