/* SPDX-License-Identifier: BSD-3-Clause */
/* caller.h -- which user's process is at the other end of a loopback connection. */
#ifndef P2P_OVERLAY_HOST_CALLER_H
#define P2P_OVERLAY_HOST_CALLER_H
#include "tcp_socket.h"

/* Is this the socket at 127.0.0.1:`from` that is connected to 127.0.0.1:`to`, and that a process of
 * `user` has open? */
bool caller_is(const struct tcp_socket *s, uint16_t from, uint16_t to, uid_t user);
/* Was this connection made by a process of this process's own user? The kernel is asked. */
bool caller_is_own(int connection);
#endif
