/* SPDX-License-Identifier: BSD-3-Clause */
/* ad_search.h -- this peer's ad in the ring's tree, and searches there for near peers that fit.
 *
 * An ad in the tree is up to two minutes old and tells where a peer seems to be; who means to use
 * one visits it (walk.h). */
#ifndef P2P_OVERLAY_DISCOVERY_AD_SEARCH_H
#define P2P_OVERLAY_DISCOVERY_AD_SEARCH_H
#include "overlay/wire/message.h"
#include "overlay/core/ring/ring.h"

struct node;
struct overlay;
struct nears;
struct near;

/* Made by overlay_open(); overlay_ads() gives it to others. */
int nears_open(struct nears **out, struct node *node, struct overlay *overlay);
void nears_close(struct nears *all);

/* For the ring: does this ad fulfil the requirement? The round trip counts as what it has to be. */
bool nears_fit(void *all, const uint8_t *ad, uint32_t length, const char *require);
void nears_take(struct nears *all, const struct ring_action *a); /* what a search came upon */
void nears_publish(struct nears *all); /* now and then: tells the ring of a changed ad */

/* One that fits, nearest ones first, more or less; some may come twice. The ring must not be called
 * from here. */
typedef void near_found_fn(void *ctx, const struct part_ad *ad);
typedef void near_end_fn(void *ctx); /* from the event loop; the search is gone */

/* NULL: too many, or no memory. */
struct near *near_start(struct nears *all, unsigned want, const char *require, near_found_fn *found,
                        near_end_fn *end, void *ctx);
void near_cancel(struct near *n); /* no callback comes after this */
#endif
