/* SPDX-License-Identifier: BSD-3-Clause */
/* landlock.h -- Landlock's system calls, which glibc does not wrap, and the parts of its interface
 * that are younger than the headers we may be built with (Linux, uapi/linux/landlock.h). */
#ifndef P2P_OVERLAY_SANDBOX_LANDLOCK_H
#define P2P_OVERLAY_SANDBOX_LANDLOCK_H
#include <stdbool.h>
#include <stdint.h>

enum landlock_abi {
    LANDLOCK_ABI_FILES = 1,
    LANDLOCK_ABI_REFER = 2,
    LANDLOCK_ABI_TRUNCATE = 3,
    LANDLOCK_ABI_TCP = 4,
    LANDLOCK_ABI_IOCTL = 5,
    LANDLOCK_ABI_SCOPE = 6,
};

int landlock_abi(void); /* 0: none */
/* An empty set of rules: denies all that `abi` knows of files and, when `tcp`, of ports. A
 * descriptor, or -errno. */
int landlock_open(int abi, bool tcp);
enum landlock_use { LANDLOCK_READ, LANDLOCK_RUN, LANDLOCK_WRITE /* everything except executing */ };
int landlock_allow_path(int rules, int abi, const char *path, enum landlock_use use); /* -errno */
/* This very file, also when another one gets its name later. */
int landlock_allow_file(int rules, int abi, int fd, enum landlock_use use);
int landlock_allow_port(int rules, uint16_t port, bool bind, bool connect);
int landlock_enforce(int rules); /* needs no_new_privs */
#endif
