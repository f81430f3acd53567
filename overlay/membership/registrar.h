/* SPDX-License-Identifier: BSD-3-Clause */
/* registrar.h -- the desktop that has the grid's authority: gives out invitations, admits who comes
 * with one, renews certificates and revokes them. Every daemon has this part; without the
 * authority's folder (settings: authority) it refuses. */
#ifndef P2P_OVERLAY_MEMBERSHIP_REGISTRAR_H
#define P2P_OVERLAY_MEMBERSHIP_REGISTRAR_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"

struct member;
struct node;
struct overlay;
struct keeper;
struct link_peer;

enum { KEEPER_INVITE_MAX_S = 30 * 24 * 3600 };

int keeper_open(struct keeper **out, struct node *node, struct member *member,
                const struct overlay *overlay, struct err *e);
void keeper_close(struct keeper *k);
void keeper_take(struct keeper *k, const struct link_peer *from, const struct message *m);
int keeper_invite(struct keeper *k, const struct msg_local_invite *ask, struct msg_local_token *out,
                  struct err *e);
int keeper_revoke(struct keeper *k, const struct msg_local_revoke *ask,
                  struct msg_local_revoked *out, struct err *e);
/* The authority has another key from now on. */
int keeper_rotate(struct keeper *k, const struct msg_local_rotate *ask,
                  struct msg_local_rotated *out, struct err *e);
/* A member is here: what it shows is kept, if it is not yet. */
void keeper_meet(struct keeper *k, const struct link_peer *who);
#endif
