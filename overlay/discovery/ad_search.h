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
struct ad_index;
struct ad_search;

/* Made by overlay_open(); overlay_ads() gives it to others. */
int ad_index_open(struct ad_index **out, struct node *node, struct overlay *overlay);
void ad_index_close(struct ad_index *all);

/* For the ring: does this ad fulfil the requirement? The round trip counts as what it has to be. */
bool ad_index_fits(void *all, const uint8_t *ad, uint32_t length, const char *require);
void ad_index_take(struct ad_index *all, const struct ring_action *a); /* what a search came upon */
void ad_index_publish(struct ad_index *all); /* now and then: tells the ring of a changed ad */

/* One that fits, nearest ones first, more or less; some may come twice. The ring must not be called
 * from here. */
typedef void ad_search_found_fn(void *ctx, const struct part_ad *ad);
typedef void ad_search_end_fn(void *ctx); /* from the event loop; the search is gone */

/* NULL: too many, or no memory. */
struct ad_search *ad_search_start(struct ad_index *all, unsigned want, const char *require,
                                  ad_search_found_fn *found, ad_search_end_fn *end, void *ctx);
void ad_search_cancel(struct ad_search *s); /* no callback comes after this */
#endif
