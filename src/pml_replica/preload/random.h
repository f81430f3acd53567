/* SPDX-License-Identifier: BSD-3-Clause */
/* random.h -- a program opens the system's source of random numbers as a file. */
#ifndef P2P_SRC_PML_REPLICA_PRELOAD_RANDOM_H
#define P2P_SRC_PML_REPLICA_PRELOAD_RANDOM_H
#include <stdio.h>

#pragma GCC visibility push(hidden)
/* What was opened, if that is it, reads as in all copies of the rank. */
void random_opened(int fd, const char *path, const void *caller);
/* The stream to have in place of that of libc; NULL: there is none. */
FILE *random_stream(const char *path, const char *mode, const void *caller);
#pragma GCC visibility pop
#endif
