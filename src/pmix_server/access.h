/* SPDX-License-Identifier: BSD-3-Clause */
/* access.h -- which processes may speak to libpmix: processes of this user, and at p2pd's socket
 * only. */
#ifndef P2P_SRC_PMIX_SERVER_ACCESS_H
#define P2P_SRC_PMIX_SERVER_ACCESS_H
/* From now on this program's own bind() gives libpmix the listening socket that p2pd has made. */
void access_use(int listening);
unsigned access_connections(void); /* of tools that are open now */
#endif
