/* SPDX-License-Identifier: BSD-3-Clause */
/* history.h -- what ran on this desktop and what its user ran, in a bounded file in the state
 * folder, and what happens here, for programs that listen. */
#ifndef P2P_OVERLAY_NODE_HISTORY_H
#define P2P_OVERLAY_NODE_HISTORY_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"

enum { HISTORY_MOST = 512 }; /* the file has at most twice as many */

struct history;

/* NULL: no memory. What the file holds is read; one that cannot be read begins anew. */
struct history *history_open(const char *folder);
void history_close(struct history *h);

/* Kept at once. h may be NULL. A file that cannot be written is an error that the caller logs. */
int history_add(struct history *h, const struct msg_local_past *past, struct err *e);
/* The i-th, the last one first; NULL: there are not so many. */
const struct msg_local_past *history_at(const struct history *h, size_t i);

/* One line on what happens here now, to the listener if there is one. h may be NULL. */
typedef void history_news_fn(void *ctx, const char *text);
void history_listen(struct history *h, history_news_fn *news, void *ctx);
void history_say(struct history *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

uint64_t history_now_ms(void); /* since 1970 */
#endif
