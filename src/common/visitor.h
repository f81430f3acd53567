/* SPDX-License-Identifier: BSD-3-Clause */
/* visitor.h -- whose the other end of a connection on this machine is: the kernel is asked, not the
 * other end. */
#ifndef P2P_SRC_COMMON_VISITOR_H
#define P2P_SRC_COMMON_VISITOR_H
#include <stdbool.h>
#include <sys/types.h>

/* Does the connection's other end, on this machine, belong to that user? False also when nobody
 * has it open any more. */
bool visitor_is_of(int connection, uid_t user);
/* Can the kernel be asked here? A guest's sandbox forbids it. */
bool visitor_can_ask(void);
#endif
