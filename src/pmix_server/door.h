/* SPDX-License-Identifier: BSD-3-Clause */
/* door.h -- who may speak to libpmix: processes of this user, and at p2pd's socket only. */
#ifndef P2P_SRC_PMIX_SERVER_DOOR_H
#define P2P_SRC_PMIX_SERVER_DOOR_H
/* From now on this program's own bind() gives libpmix the listening socket that p2pd has made. */
void door_use(int listening);
unsigned door_connections(void); /* of tools that are open now */
unsigned door_refused(void);     /* so many connections of others */
#endif
