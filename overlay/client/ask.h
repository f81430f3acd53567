/* SPDX-License-Identifier: BSD-3-Clause */
/* ask.h -- a question to the daemon that is answered by a row of messages, and what it takes to put
 * it; for tools and requests.c. */
#ifndef P2P_OVERLAY_CLIENT_ASK_H
#define P2P_OVERLAY_CLIENT_ASK_H
#include "overlay/wire/message.h"
#include "p2pgrid.h"

/* One message of the row. m is the callee's only until it returns. */
typedef void client_row_fn(void *ctx, const struct message *m);

/* Sends *question (its token is filled in here) and hands every message of the row to `row`; *done
 * is what closed it. -ETIMEDOUT, -EPIPE, or -done->code with the
 * daemon's reason. */
int client_ask(struct client *c, struct message *question, int timeout_ms, client_row_fn *row,
               void *ctx, struct msg_local_done *done, struct err *e);

/* Puts the question and does not wait: its row, closed by local_done, comes to client_on_answer()
 * within client_event() and client_ask(). Returns its token, or -errno. */
int64_t client_put(struct client *c, struct message *question, struct err *e);
/* Called for each message of a row that no client_ask() waits for. */
void client_on_answer(struct client *c, client_row_fn *answer, void *ctx);

/* One frame out; -EPIPE when the daemon is gone, -ETIMEDOUT when it does not read. */
int client_send(struct client *c, const struct message *m, struct err *e);
/* What the job can do without is sent as a whole or, when the daemon is behind, not at all
 * (-EAGAIN): the socket takes at least one frame when it takes anything. */
int client_tell(struct client *c, const struct message *m);
/* Called for each local_notice, which come after local_watch: within client_ask() and
 * client_event(). */
void client_on_notice(struct client *c, client_row_fn *notice, void *ctx);
/* A pidfd of the daemon, which is readable once that has ended: the caller closes it. -1: none can
 * be had. */
int client_daemon(const struct client *c);
#endif
