/* SPDX-License-Identifier: BSD-3-Clause */
/* bridge.h -- from PMIx's threads to this program's event loop: they post, the loop works. */
#ifndef P2P_SRC_PMIX_SERVER_BRIDGE_H
#define P2P_SRC_PMIX_SERVER_BRIDGE_H
#include <event2/event.h>

struct face;
typedef void bridge_fn(struct face *face, void *work);

int bridge_open(struct event_base *base, struct face *face); /* -errno */
void bridge_close(void);
/* From any thread; run() is called in the loop, in the order of the posts, and owns `work`. */
void bridge_post(bridge_fn *run, void *work);
#endif
