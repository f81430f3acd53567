/* SPDX-License-Identifier: BSD-3-Clause */
/* door.h -- the port where other daemons knock, TCP and UDP: how many may stand before it, and what
 * is written down about those that are turned away. */
#ifndef P2P_OVERLAY_TRANSPORT_DOOR_H
#define P2P_OVERLAY_TRANSPORT_DOOR_H
#include "overlay/base/err.h"
#include "overlay/base/id.h"
#include "overlay/base/log.h"
#include "overlay/settings/settings.h"
#include <event2/event.h>

enum {
    DOOR_PENDING = 128,      /* in the handshake at once */
    DOOR_PENDING_ALIKE = 32, /* of these from one address; this machine itself may use up all */
    DOOR_LINES = 5,          /* log lines a second about refusals; the rest is counted */
};

struct door;
typedef void door_accept_fn(void *ctx, int fd, const struct addr *from);

int door_open(struct door **out, struct event_base *base, const struct settings *settings,
              struct log *log, door_accept_fn *accept, void *ctx, struct err *e);
void door_close(struct door *d);
/* Where others should dial this peer. */
struct addr door_address(const struct door *d);
/* Looks again where that is: a laptop may have been carried elsewhere. */
void door_look(struct door *d);
/* The same, and this machine's other addresses when it listens at all of them; how many. */
unsigned door_addresses(const struct door *d, struct addr *out, unsigned max);
/* The UDP socket at the same port; the door's, and nobody reads it here. */
int door_datagrams(const struct door *d);
/* Who stands before the door: so many in the handshake, so many of them from there. */
enum door_crowd { DOOR_FREE, DOOR_FULL, DOOR_FULL_ALIKE };
enum door_crowd door_crowd(const struct addr *from, unsigned pending, unsigned alike);
void door_refused(struct door *d, const char *where, const char *why);
void door_tick(struct door *d); /* once a second */
#endif
