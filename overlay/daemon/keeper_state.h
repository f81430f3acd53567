/* SPDX-License-Identifier: BSD-3-Clause */
/* keeper_state.h -- what the parts of the keeper share. */
#ifndef P2P_KEEPER_STATE_H
#define P2P_KEEPER_STATE_H
#include "keeper.h"
#include "renewal.h"
#include "token.h"

struct authority;
enum { CERTIFICATE_MAX = 4096 };

struct keeper {
    struct renewals renewals;
    struct node *node;
    struct invitations *invitations;
    /* What an answer points to until it is on its way. */
    uint8_t certificate[CERTIFICATE_MAX], root[CERTIFICATE_MAX], proof[TOKEN_PROOF];
};

/* The grid's authority, if this desktop has it: for the one act that needs it. 0 or a negative
 * code. */
int keeper_authority(const struct keeper *k, struct authority **out, struct err *e);
/* Signs what the ledger says, if the grid does not know that yet. */
int keeper_publish(struct keeper *k, const struct authority *a, struct err *e);
#endif
