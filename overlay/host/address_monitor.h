/* SPDX-License-Identifier: BSD-3-Clause */
/* address_monitor.h -- a laptop is carried about: a callback when this machine's addresses may
 * have changed.
 */
#ifndef P2P_OVERLAY_HOST_ADDRESS_MONITOR_H
#define P2P_OVERLAY_HOST_ADDRESS_MONITOR_H
#include <event2/event.h>

struct address_monitor;

typedef void address_monitor_fn(void *ctx);

/* 0 or -errno. Without word from the kernel it works on, and says nothing. */
int address_monitor_open(struct address_monitor **out, struct event_base *base,
                         address_monitor_fn *changed, void *ctx);
void address_monitor_close(struct address_monitor *m);
#endif
