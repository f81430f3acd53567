/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon.h -- questions to p2pd over its local socket, any number at a time, none of which blocks.
 */
#ifndef P2P_SRC_PMIX_SERVER_DAEMON_H
#define P2P_SRC_PMIX_SERVER_DAEMON_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include <event2/event.h>

struct daemon;
/* m is the callee's only until it returns. */
typedef void daemon_row_fn(void *ctx, const struct message *m);
typedef void daemon_done_fn(void *ctx, const struct msg_local_done *done);

struct daemon_watcher {
    void (*notice)(void *ctx, const struct msg_local_notice *notice);
    void (*gone)(void *ctx); /* p2pd is: there is nobody to ask any more */
    void *ctx;
};

int daemon_open(struct daemon **out, struct event_base *base, const struct daemon_watcher *watcher,
                struct err *e);
/* The question's token is filled in here. row may be NULL; done is called once. */
void daemon_ask(struct daemon *d, struct message *question, daemon_row_fn *row,
                daemon_done_fn *done, void *ctx);
/* What is not answered. */
void daemon_send(struct daemon *d, const struct message *m);
#endif
