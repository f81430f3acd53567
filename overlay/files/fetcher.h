/* SPDX-License-Identifier: BSD-3-Clause */
/* fetcher.h -- the daemon's transfer of files: fetches lists of others with all that is in them,
 * and gives what it offers. Which peer gives which object to which other decides the one that
 * offers the list (overlay/core/files/swarm.h). */
#ifndef P2P_OVERLAY_FILES_FETCHER_H
#define P2P_OVERLAY_FILES_FETCHER_H
#include "store.h"
#include "overlay/wire/message.h"

struct fetcher;
struct fetching;
struct link_peer;
struct node;

int fetcher_open(struct fetcher **out, struct node *node, struct store *store, struct err *e);
void fetcher_close(struct fetcher *f);
void fetcher_take(struct fetcher *f, const struct link_peer *from, const struct message *m);

/* --- getting --- */

struct fetcher_calls {
    /* About once a second. */
    void (*progress)(void *ctx, uint64_t have, uint64_t all);
    /* Once, never from within fetcher_fetch(): the tree, locked until tree_release(); or NULL and
     * the reason, a line that goes on after this peer's name. */
    void (*done)(void *ctx, struct tree *tree, const struct err *e);
    void *ctx;
};

/* Fetches that list from the peer that offers it, and what is in it from that peer and from the
 * others that fetch it. most: bytes at most; 0: no bound but the store's. */
int fetcher_fetch(struct fetcher *f, const struct part_files *what, const struct part_peer *from,
                  uint64_t most, const char *about, const struct fetcher_calls *calls,
                  struct fetching **out, struct err *e);
void fetcher_cancel(struct fetching *one); /* no call follows; what has come stays in the store */

/* --- giving --- */

/* The files of a folder, as they are in it now, to all who know the list's hash; each call to be
 * answered by one of fetcher_withdraw(). A file that is changed meanwhile is not given. */
int fetcher_offer(struct fetcher *f, const uint8_t *list, size_t length, const char *folder,
                  struct part_files *out, struct err *e);
void fetcher_withdraw(struct fetcher *f, const struct hash *list);

/* --- looking at it --- */

/* A local_transfer for each list that comes or is given now. */
typedef void fetcher_row_fn(void *ctx, const struct message *m);
void fetcher_tell(const struct fetcher *f, uint32_t token, fetcher_row_fn *row, void *ctx);
/* Bytes of files so far. */
void fetcher_totals(const struct fetcher *f, struct msg_local_totals *out);
#endif
