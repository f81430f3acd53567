/* SPDX-License-Identifier: BSD-3-Clause */
/* overlay.h -- runs the ring: gives it time and messages, and sends its messages. */
#ifndef P2P_OVERLAY_DISCOVERY_OVERLAY_H
#define P2P_OVERLAY_DISCOVERY_OVERLAY_H
#include "overlay/wire/message.h"
#include "overlay/base/err.h"
#include <stdbool.h>

struct node;
struct ad_index;
struct overlay;
struct ring_action;
struct ring_event;
struct link_peer;

int overlay_open(struct overlay **out, struct node *node, struct err *e);
void overlay_contact(struct overlay *o); /* tries the addresses of the settings again */
void overlay_leave(struct overlay *o);   /* hands records over to the neighbours; takes a moment */
bool overlay_left(const struct overlay *o);
void overlay_close(struct overlay *o);
void overlay_take(struct overlay *o, const struct link_peer *from, const struct message *m);

bool overlay_joined(const struct overlay *o);
bool overlay_joining(const struct overlay *o); /* a member of a ring is known */
bool overlay_predecessor(const struct overlay *o, struct part_peer *p); /* false: none known */
size_t overlay_successors(const struct overlay *o, struct part_peer *out, size_t max);
/* All peers known now: successors, predecessor, fingers; each once. */
size_t overlay_known(const struct overlay *o, struct part_peer *out, size_t max);
/* A neighbour was lost a moment ago, so lists of neighbours may be incomplete. */
bool overlay_has_lost(const struct overlay *o);
void overlay_place(const struct overlay *o, struct part_coordinate *out); /* in the network */
/* Neighbours have come or gone a moment ago: not everyone may list all that are there. */
bool overlay_is_unsettled(const struct overlay *o);
bool overlay_is_small(const struct overlay *o); /* every member is a neighbour */
/* Ads of other peers, and searches among them. */
struct ad_index *overlay_ads(const struct overlay *o);
/* Called with the end of each lookup in the ring; false: the lookup was not its own. One watcher,
 * or NULL. */
typedef bool overlay_lookup_fn(void *ctx, const struct ring_action *end);
void overlay_on_lookup(struct overlay *o, overlay_lookup_fn *ended, void *ctx);
/* An event that is not a message of the ring's, such as the begin of a search. */
void overlay_step(struct overlay *o, const struct ring_event *event);
#endif
