/* SPDX-License-Identifier: BSD-3-Clause */
/* allowlist.h -- whom guests may call: the peers that their submitter names as those of its job,
 * each once the grid's member of that id has answered at that address. Otherwise a submitter could
 * name the owner's printer. */
#ifndef P2P_OVERLAY_LEND_ALLOWLIST_H
#define P2P_OVERLAY_LEND_ALLOWLIST_H
#include "overlay/wire/message.h"

struct node;
struct company;

/* What guests of that submitter may call has changed: company_list() tells. */
typedef void company_changed_fn(void *ctx, const struct id *submitter);

int company_open(struct company **out, struct node *node, company_changed_fn *changed, void *ctx);
void company_close(struct company *c);
/* What a submitter says of a job of its own; `changed` is called. */
void company_enter(struct company *c, const struct id *submitter, const struct msg_group_enter *m);
void company_leave(struct company *c, const struct id *submitter, const struct msg_group_leave *m);
/* It holds no lease here any more. */
void company_forget(struct company *c, const struct id *submitter);

/* Does it name that peer, and so may that peer's guests call its jobs here? */
bool company_names(const struct company *c, const struct id *submitter, const struct id *peer);
/* Those who were met at that address, each once: NULL after the last. */
const struct part_peer *company_at(const struct company *c, const struct id *submitter,
                                   const uint8_t ip[16], size_t *next);

/* As a room is told (room.h): malloc'd, NULL when there are none. */
uint8_t *company_list(const struct company *c, const struct id *submitter, size_t *length);
#endif
