/* SPDX-License-Identifier: BSD-3-Clause */
/* presence.h -- does the desktop's own session say that nobody touches keyboard and mouse? Asks
 * logind, through loginctl, now and then and without waiting. */
#ifndef P2P_OVERLAY_HOST_PRESENCE_H
#define P2P_OVERLAY_HOST_PRESENCE_H
#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct presence;

enum { PRESENCE_ASK_MS = 5000 };

int presence_open(struct presence **out, struct event_base *base); /* -ENOMEM */
void presence_close(struct presence *p);
/* Asks again when it is time. */
void presence_look(struct presence *p, uint64_t now_ms);
/* False: it is not known; the load must tell. */
bool presence_known(const struct presence *p, bool *idle);
#endif
