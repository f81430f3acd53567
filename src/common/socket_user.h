/* SPDX-License-Identifier: BSD-3-Clause */
/* socket_user.h -- whose the other end of a connection on this machine is: the kernel is asked, not
 * the other end. */
#ifndef P2P_SRC_COMMON_SOCKET_USER_H
#define P2P_SRC_COMMON_SOCKET_USER_H
#include <stdbool.h>
#include <sys/types.h>

/* Does the connection's other end, on this machine, belong to that user? False also when nobody
 * has it open any more. */
bool socket_user_is(int connection, uid_t user);
/* Can the kernel be asked here? A guest's sandbox forbids it. */
bool socket_user_known(void);
#endif
