/* SPDX-License-Identifier: BSD-3-Clause */
/* allowlist.h -- the peers that guests may connect to: those that their submitter names as peers of
 * its job, each once the grid's member of that id has answered at that address. Otherwise a
 * submitter could name the owner's printer. */
#ifndef P2P_OVERLAY_LEND_ALLOWLIST_H
#define P2P_OVERLAY_LEND_ALLOWLIST_H
#include "overlay/wire/message.h"

struct node;
struct allowlist;

/* What guests of that submitter may call has changed: allowlist_for_room() tells. */
typedef void allowlist_changed_fn(void *ctx, const struct id *submitter);

int allowlist_open(struct allowlist **out, struct node *node, allowlist_changed_fn *changed,
                   void *ctx);
void allowlist_close(struct allowlist *c);
/* What a submitter tells of a job of its own; `changed` is called. */
void allowlist_add(struct allowlist *c, const struct id *submitter,
                   const struct msg_group_enter *m);
void allowlist_remove(struct allowlist *c, const struct id *submitter,
                      const struct msg_group_leave *m);
/* It holds no lease here any more. */
void allowlist_forget(struct allowlist *c, const struct id *submitter);

/* Does it name that peer? Then guests there may connect to its jobs here. */
bool allowlist_names(const struct allowlist *c, const struct id *submitter, const struct id *peer);
/* The peers that have answered at that address, each once; NULL after the last. */
const struct part_peer *allowlist_at(const struct allowlist *c, const struct id *submitter,
                                     const uint8_t ip[16], size_t *next);

/* In the form that a room takes (room.h); malloc'd, NULL: out of memory. */
uint8_t *allowlist_for_room(const struct allowlist *c, const struct id *submitter, size_t *length);
#endif
