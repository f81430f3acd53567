/* SPDX-License-Identifier: BSD-3-Clause */
/* invitations.h -- the invitations that this desktop gave out, stored on disk: each admits one
 * peer, once, before its end, and is remembered a while longer so that a refusal can say why. */
#ifndef P2P_OVERLAY_MEMBERSHIP_INVITATIONS_H
#define P2P_OVERLAY_MEMBERSHIP_INVITATIONS_H
#include "overlay/crypto/identity.h"
#include "token.h"
#include <time.h>

enum { INVITATIONS = 256, INVITATION_KEPT_S = 30 * 24 * 3600 };

struct invitation {
    uint8_t secret[TOKEN_SECRET];
    time_t ends, used;          /* used 0: not yet */
    char by[IDENTITY_NAME + 1]; /* the peer that used it */
    char owner[ID_TEXT + 1];    /* of the newcomer: an id, "self", or "" (given out before) */
    char groups[IDENTITY_GROUPS][IDENTITY_GROUP + 1];
    size_t group_count;
};

struct invitations;

int invitations_open(struct invitations **out, const char *folder, time_t now, struct err *e);
void invitations_close(struct invitations *all);
size_t invitations_count(const struct invitations *all);
/* On disk when it returns 0. */
int invitation_add(struct invitations *all, const struct invitation *fresh, time_t now,
                   struct err *e);
/* Ends all of them now. */
int invitations_end(struct invitations *all, time_t now, struct err *e);
/* The latest end of those that can still be used; 0: there is none. */
time_t invitations_last(const struct invitations *all, time_t now);
const struct invitation *invitation_find(const struct invitations *all, const struct id *id);
/* 0, or why it admits nobody any more. */
int invitation_check(const struct invitation *one, time_t now, struct err *e);
/* Used up from now on, also after a crash. */
int invitation_use(struct invitations *all, const struct invitation *one, const char *by,
                   time_t now, struct err *e);
#endif
