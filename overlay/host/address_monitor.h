/* SPDX-License-Identifier: BSD-3-Clause */
/* address_monitor.h -- a laptop is carried about: who is told when this machine's addresses may
 * have changed.
 */
#ifndef P2P_OVERLAY_HOST_ADDRESS_MONITOR_H
#define P2P_OVERLAY_HOST_ADDRESS_MONITOR_H
#include <event2/event.h>

struct roam;

typedef void roam_fn(void *ctx);

/* 0 or -errno. Without word from the kernel it works on, and says nothing. */
int roam_open(struct roam **out, struct event_base *base, roam_fn *changed, void *ctx);
void roam_close(struct roam *r);
#endif
