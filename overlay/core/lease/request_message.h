/* SPDX-License-Identifier: BSD-3-Clause */
/* request_message.h -- a request between a program and its daemon: msg_local_allocate. */
#ifndef P2P_OVERLAY_CORE_LEASE_REQUEST_MESSAGE_H
#define P2P_OVERLAY_CORE_LEASE_REQUEST_MESSAGE_H
#include "overlay/wire/message.h"
#include "request.h"

/* All except the message's token. NULL, or why it cannot be asked. */
const char *request_write(const struct request *r, struct msg_local_allocate *m);
/* The requirement is the message's own, and `exclude` has room for REQUEST_EXCLUDES. NULL, or what
 * is wrong with the message. */
const char *request_read(struct request *r, const struct msg_local_allocate *m, struct id *exclude);
#endif
