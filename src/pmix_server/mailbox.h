/* SPDX-License-Identifier: BSD-3-Clause */
/* mailbox.h -- from PMIx's threads to this program's event loop: they post, the loop works. */
#ifndef P2P_SRC_PMIX_SERVER_MAILBOX_H
#define P2P_SRC_PMIX_SERVER_MAILBOX_H
#include <event2/event.h>

struct server;
typedef void mailbox_fn(struct server *server, void *work);

int mailbox_open(struct event_base *base, struct server *server); /* -errno */
/* From any thread; run() is called in the loop, in the order of the posts, and owns `work`. */
void mailbox_post(mailbox_fn *run, void *work);
#endif
