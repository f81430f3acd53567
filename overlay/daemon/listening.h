/* SPDX-License-Identifier: BSD-3-Clause */
/* listening.h -- whose processes listen at a TCP port of this host. */
#ifndef P2P_LISTENING_H
#define P2P_LISTENING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The socket of a line of /proc/net/tcp or tcp6 that listens at the port, at whatever address; 0:
 * it tells of none. */
unsigned long listening_in(const char *line, uint16_t port);
/* Sockets that were found below a root: they need not be looked for again. The kernel numbers them
 * anew only after four billion others. */
struct listening_found {
    unsigned long sockets[64];
    size_t next;
};

/* Somebody listens there, and all who do are processes below one of the roots: as the kernel may
 * give a call to any of them. Of another user's processes this is not known: they are below none.
 */
bool listening_below(uint16_t port, const pid_t *roots, size_t count,
                     struct listening_found *found);
#endif
