/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h -- what every part of a daemon needs. A part that needs another part is given it, or one
 * function of it, when it is made: overlay/daemon/daemon.h is the only place that knows them all.
 */
#ifndef P2P_OVERLAY_NODE_NODE_H
#define P2P_OVERLAY_NODE_NODE_H
#include "overlay/base/clock.h"
#include "overlay/settings/settings.h"

struct event_base;
struct history;  /* history.h: what ran here, and news for whoever listens */
struct identity; /* identity.h: this peer's key and certificate, and what it trusts */
struct links;    /* link.h: connections to other daemons */
struct log;
struct machine; /* machine.h: what this desktop offers */

struct node {
    struct event_base *base;
    struct log *log;
    struct history *history;
    struct settings settings; /* replaced as a whole by a reload; keep no pointers into it */
    struct identity *identity;
    struct links *links;
    struct machine *machine;
};

static inline uint64_t node_now_ms(void) /* monotonic */
{
    return clock_ms();
}
#endif
