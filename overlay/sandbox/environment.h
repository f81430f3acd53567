/* SPDX-License-Identifier: BSD-3-Clause */
/* environment.h -- the environment of a launched command: a few of the daemon's own variables and
 * what the submitter adds. */
#ifndef P2P_OVERLAY_SANDBOX_ENVIRONMENT_H
#define P2P_OVERLAY_SANDBOX_ENVIRONMENT_H
#include <stddef.h>
#include <stdint.h>

enum { ENVIRONMENT_MAX = 4096 };

/* own: the daemon's environ. added: NAME=value strings, each with its NUL, `length` bytes in all;
 * they win over the daemon's. NULL with errno: EINVAL for a string without a name or its NUL,
 * E2BIG, ENOMEM. Free with environment_free(). */
char **environment_make(char *const *own, const uint8_t *added, size_t length);
/* Puts NAME=value into such an environment, in place of the former value. 0 or -errno. */
int environment_set(char **environment, const char *entry);
void environment_free(char **environment);
#endif
