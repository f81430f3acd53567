/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_socket.h -- the kernel's tables of this host's TCP sockets, /proc/net/tcp and tcp6. */
#ifndef P2P_OVERLAY_HOST_TCP_SOCKET_H
#define P2P_OVERLAY_HOST_TCP_SOCKET_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TCP_SOCKET_LISTENS = 0x0a };

struct tcp_socket {
    char here[33], there[33]; /* addresses as the kernel writes them: words of memory in hex */
    uint16_t here_port, there_port;
    unsigned state; /* TCP_SOCKET_LISTENS, or connected in some way */
    uid_t user;
    unsigned long inode; /* 0: no process has it open any more, and it is listed as root's */
};

/* False: the line describes no socket. */
bool tcp_socket_parse(struct tcp_socket *s, const char *line);

/* False: no more are wanted. */
typedef bool tcp_socket_fn(void *ctx, const struct tcp_socket *s);
/* Every socket of one table. False: not all were read. A host without IPv6 has one table only. */
bool tcp_socket_each(const char *table, tcp_socket_fn *fn, void *ctx);
#endif
