/* SPDX-License-Identifier: BSD-3-Clause */
/* web.h -- the page of this daemon's user: on 127.0.0.1 alone, for browsers of the same user that a
 * link of `p2pctl web` has let in. It asks the daemon as any program on the local socket does. */
#ifndef P2P_OVERLAY_WEB_WEB_H
#define P2P_OVERLAY_WEB_WEB_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"

struct local;
struct node;
struct web;

/* Serves when the settings say so; a port that is taken is a warning in the log. */
int web_open(struct web **out, struct node *node, struct local *local, struct err *e);
void web_close(struct web *w);  /* before local_close() */
void web_reload(struct web *w); /* the settings are new ones */
/* What p2pctl web asks for. */
void web_ask(struct web *w, const struct msg_local_web *ask, struct msg_local_page *out,
             struct err *e);
#endif
