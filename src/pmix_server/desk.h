/* SPDX-License-Identifier: BSD-3-Clause */
/* desk.h -- questions to p2pd over its local socket, any number at a time, none of which blocks. */
#ifndef P2P_SRC_PMIX_SERVER_DESK_H
#define P2P_SRC_PMIX_SERVER_DESK_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include <event2/event.h>

struct desk;
/* m is the callee's only until it returns. */
typedef void desk_row_fn(void *ctx, const struct message *m);
typedef void desk_done_fn(void *ctx, const struct msg_local_done *done);

struct desk_watcher {
    void (*notice)(void *ctx, const struct msg_local_notice *notice);
    void (*gone)(void *ctx); /* p2pd is: there is nobody to ask any more */
    void *ctx;
};

int desk_open(struct desk **out, struct event_base *base, const struct desk_watcher *watcher,
              struct err *e);
void desk_close(struct desk *d); /* nobody is called any more */
/* The question's token is filled in here. row may be NULL; done is called once. */
void desk_ask(struct desk *d, struct message *question, desk_row_fn *row, desk_done_fn *done,
              void *ctx);
/* What is not answered. */
void desk_say(struct desk *d, const struct message *m);
#endif
