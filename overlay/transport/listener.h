/* SPDX-License-Identifier: BSD-3-Clause */
/* listener.h -- the port at which other daemons connect, TCP and UDP: how many may be in the
 * handshake, and what is written down about those that are turned away. */
#ifndef P2P_OVERLAY_TRANSPORT_LISTENER_H
#define P2P_OVERLAY_TRANSPORT_LISTENER_H
#include "overlay/base/err.h"
#include "overlay/base/id.h"
#include "overlay/base/log.h"
#include "overlay/settings/settings.h"
#include <event2/event.h>

enum {
    LISTENER_PENDING = 128, /* in the handshake at once */
    LISTENER_PENDING_FROM_ONE =
        32,             /* of these from one address; this machine itself may use up all */
    LISTENER_LINES = 5, /* log lines a second about refusals; the rest is counted */
};

struct listener;
typedef void listener_accept_fn(void *ctx, int fd, const struct addr *from);

int listener_open(struct listener **out, struct event_base *base, const struct settings *settings,
                  struct log *log, listener_accept_fn *accept, void *ctx, struct err *e);
void listener_close(struct listener *d);
/* Where others should dial this peer. */
struct addr listener_address(const struct listener *d);
/* Looks again where that is: a laptop may have been carried elsewhere. */
void listener_update_address(struct listener *d);
/* The same, and this machine's other addresses when it listens at all of them; how many. */
unsigned listener_addresses(const struct listener *d, struct addr *out, unsigned max);
/* The UDP socket at the same port; the door's, and nobody reads it here. */
int listener_datagrams(const struct listener *d);
/* Who stands before the door: so many in the handshake, so many of them from there. */
enum listener_load { LISTENER_FREE, LISTENER_FULL, LISTENER_FULL_FROM_ONE };
enum listener_load listener_load(const struct addr *from, unsigned pending, unsigned alike);
void listener_refused(struct listener *d, const char *where, const char *why);
void listener_tick(struct listener *d); /* once a second */
#endif
