/* SPDX-License-Identifier: BSD-3-Clause */
/* registrar_state.h -- what the parts of the keeper share. */
#ifndef P2P_OVERLAY_MEMBERSHIP_REGISTRAR_STATE_H
#define P2P_OVERLAY_MEMBERSHIP_REGISTRAR_STATE_H
#include "registrar.h"
#include "overlay/crypto/keyfile.h"
#include "renewal.h"
#include <event2/event.h>
#include <openssl/x509.h>
#include "token.h"

struct authority;
enum { CERTIFICATE_MAX = 4096 };

struct keeper {
    struct renewals renewals;
    struct node *node;
    struct member *member;
    const struct overlay *overlay;
    struct invitations *invitations;
    /* A key that is locked, while somebody is invited: in memory that is never swapped. */
    uint8_t *held;
    struct event *hold_ends;
    /* What an answer points to until it is on its way. */
    uint8_t certificate[CERTIFICATE_MAX], root[CERTIFICATE_MAX], proof[TOKEN_PROOF];
};

/* The grid's authority, if this desktop has it: for the one act that needs it. 0 or a negative
 * code. */
int keeper_authority(struct keeper *k, const struct keyfile_access *with, struct authority **out,
                     struct err *e);
bool keeper_is_here(const struct keeper *k);
/* DER; 0: too long. */
uint32_t keeper_put_certificate(uint8_t out[CERTIFICATE_MAX], X509 *c);
void keeper_on_renew(struct keeper *k, const struct link_peer *from,
                     const struct msg_renew_ask *ask);
/* Takes the key into use that the authority's folder has been given. */
int keeper_adopt(struct keeper *k, struct err *e);
int keeper_end_invitations(struct keeper *k, struct err *e);
/* Signs what the ledger says, if the grid does not know that yet. */
int keeper_publish(struct keeper *k, const struct authority *a, struct err *e);
#endif
