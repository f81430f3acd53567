/* SPDX-License-Identifier: BSD-3-Clause */
/* lender.h -- carries out what lending.h decides, once a second: finds out whether the owner is
 * there, suspends and ends jobs of others, and leaves the grid. */
#ifndef P2P_OVERLAY_LEND_LENDER_H
#define P2P_OVERLAY_LEND_LENDER_H
#include "overlay/crypto/identity.h"
#include "lending.h"
#include "overlay/wire/message.h"

struct grant;
struct lender;
struct node;

enum lender_verb { LENDER_TELL, LENDER_PAUSE, LENDER_RESUME, LENDER_LEAVE, LENDER_RELOAD };

/* The grant obeys it until it is closed. */
int lender_open(struct lender **out, struct node *node, struct grant *grant, struct err *e);
void lender_close(struct lender *l);

/* Does it lend now? l may be NULL: yes. */
bool lender_is_open(const struct lender *l);
enum lending_state lender_state(const struct lender *l);
/* When its pause ends by itself, seconds since 1970; 0: it is not paused, or no end is set. */
uint64_t lender_until(const struct lender *l);
/* Why this member gets nothing now, to go on after this peer's name; NULL: it may. */
const char *lender_refuses(const struct lender *l, const struct identity_card *who);

/* What p2pctl pause, resume, leave and policy ask for; the settings are not its own to reload. */
void lender_take(struct lender *l, const struct msg_local_lend *request);
void lender_describe(const struct lender *l, struct msg_local_terms *out);
/* The settings are new ones. */
void lender_look(struct lender *l);
#endif
