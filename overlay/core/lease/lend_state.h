/* SPDX-License-Identifier: BSD-3-Clause */
/* lend_state.h -- what lend.c (events), lend_ask.c (offers) and lend_end.c (how leases end) share.
 */
#ifndef P2P_OVERLAY_CORE_LEASE_LEND_STATE_H
#define P2P_OVERLAY_CORE_LEASE_LEND_STATE_H
#include "lend.h"

struct lend_action *lend_do(struct lend *l, enum lend_action_kind kind,
                            const struct part_peer *peer);
size_t lend_row(const struct lend *l, const struct lease *lease);

/* lend_ask.c */
void lend_on_ask(struct lend *l, const struct lend_event *event, uint64_t now);
void lend_on_queue(struct lend *l, const struct lend_event *event, uint64_t now);

/* lend_end.c */
void lend_tell_unknown(struct lend *l, const struct part_peer *peer, const struct id *lease);
void lend_give_reason(struct lend_grant *g, const char *text);
/* Those that wait for slots get their share of what one has for long. */
void lend_share_out(struct lend *l, const struct lend_terms *terms, uint64_t now);
/* Brings what runs in line with the table: a lease that ends is cleared once nothing runs. */
void lend_settle(struct lend *l);
#endif
