/* SPDX-License-Identifier: BSD-3-Clause */
/* listening.h -- whose processes listen at a TCP port of this host. */
#ifndef P2P_OVERLAY_HOST_LISTENING_H
#define P2P_OVERLAY_HOST_LISTENING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All sockets of this host that listen, at one moment. */
struct listening_table {
    struct listening_socket {
        unsigned long inode;
        uint16_t port;
    } * at;
    size_t count; /* 0 as well when not all could be read */
    size_t size;  /* room in `at` */
};
void listening_read(struct listening_table *t); /* at: to be freed */

/* Sockets that were found below a root, so that they are not searched again. The kernel reuses a
 * number only after four billion others. */
struct listening_found {
    unsigned long sockets[1024];
    size_t next;
};
/* Those of the table that processes below the roots have: takes milliseconds. */
void listening_find(struct listening_found *found, const struct listening_table *t,
                    const pid_t *roots, size_t count);

enum listening_who { LISTENING_NOBODY, LISTENING_FOUND, LISTENING_OTHERS };
/* FOUND: all sockets that listen there are among the found: the kernel may give a connection to any
 * of them. Sockets of another user's processes are never found. */
enum listening_who listening_at(const struct listening_table *t, uint16_t port,
                                const struct listening_found *found);
/* Ports from `first` on at which only found sockets listen; how many. */
size_t listening_ports(const struct listening_table *t, const struct listening_found *found,
                       uint16_t first, uint16_t *ports, size_t most);
/* The three together: does a process listen there, and only processes below the roots? */
bool listening_below(uint16_t port, const pid_t *roots, size_t count,
                     struct listening_found *found);
#endif
