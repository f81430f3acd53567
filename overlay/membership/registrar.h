/* SPDX-License-Identifier: BSD-3-Clause */
/* registrar.h -- the p2pd on the desktop with the grid's authority: gives out invitations, admits
 * newcomers, renews certificates and revokes them. Every daemon has this part; without the
 * authority's folder (settings: authority) it refuses. */
#ifndef P2P_OVERLAY_MEMBERSHIP_REGISTRAR_H
#define P2P_OVERLAY_MEMBERSHIP_REGISTRAR_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"

struct member;
struct node;
struct overlay;
struct registrar;
struct link_peer;

enum { REGISTRAR_INVITE_MAX_S = 30 * 24 * 3600 };

int registrar_open(struct registrar **out, struct node *node, struct member *member,
                   const struct overlay *overlay, struct err *e);
void registrar_close(struct registrar *r);
void registrar_take(struct registrar *r, const struct link_peer *from, const struct message *m);
int registrar_invite(struct registrar *r, const struct msg_local_invite *ask,
                     struct msg_local_token *out, struct err *e);
int registrar_revoke(struct registrar *r, const struct msg_local_revoke *ask,
                     struct msg_local_revoked *out, struct err *e);
/* Gives the authority another key. */
int registrar_rotate(struct registrar *r, const struct msg_local_rotate *ask,
                     struct msg_local_rotated *out, struct err *e);
/* A member has connected: its certificate is stored, unless it is there already. */
void registrar_meet(struct registrar *r, const struct link_peer *who);
#endif
