/* SPDX-License-Identifier: BSD-3-Clause */
/* notice.h -- events of peers, jobs and allocations of this daemon's user, sent to every program
 * that watches: each with its time, its number, and the start of the daemon that counted it. */
#ifndef P2P_OVERLAY_WATCH_NOTICE_H
#define P2P_OVERLAY_WATCH_NOTICE_H
#include "overlay/client/words.h"
#include "overlay/wire/message.h"
#include <stdbool.h>

struct notices;
typedef void notice_say_fn(void *client, const struct message *m);

struct notices *notices_new(notice_say_fn *say); /* NULL: no memory */
void notices_free(struct notices *n);
uint64_t notice_epoch(const struct notices *n); /* when they were made, ms since 1970 */
/* How many of that kind there were. */
uint64_t notice_count(const struct notices *n, enum notice_kind what);
/* peers: also of those that come and go. -ENOSPC: too many watch already. */
int notice_watch(struct notices *n, void *client, bool peers);
bool notice_peers_wanted(const struct notices *n); /* by one of the watchers */
/* Called when the first of them begins. */
typedef void notice_wanted_fn(void *ctx);
void notice_on_peers_wanted(struct notices *n, notice_wanted_fn *wanted, void *ctx);
void notice_forget(struct notices *n, const void *client);
/* Says the last so many again to that program, those that are kept. */
void notice_repeat(const struct notices *n, void *client, unsigned past);
/* Time, epoch and number are filled in here. */
void notice_send(struct notices *n, const struct msg_local_notice *notice);
/* A peer is lost; sent once, however many of its leases end. */
void notice_node_down(struct notices *n, const struct id *peer, const char *name, const char *why);
/* NOTICE_PEER_...: `text` goes on after its name. Its loss is not said again when it was said
 * already, since something was held of it. */
void notice_peer(struct notices *n, enum notice_kind what, const struct id *peer, const char *name,
                 const char *text);
#endif
