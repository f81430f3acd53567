/* SPDX-License-Identifier: BSD-3-Clause */
/* registrar_state.h -- what the parts of the registrar share. */
#ifndef P2P_OVERLAY_MEMBERSHIP_REGISTRAR_STATE_H
#define P2P_OVERLAY_MEMBERSHIP_REGISTRAR_STATE_H
#include "registrar.h"
#include "overlay/crypto/keyfile.h"
#include "renewal.h"
#include <event2/event.h>
#include <openssl/x509.h>
#include "token.h"

struct authority;
enum { CERTIFICATE_BYTES = 4096 };

struct registrar {
    struct renewals renewals;
    struct node *node;
    struct member *member;
    const struct overlay *overlay;
    struct invitations *invitations;
    /* A key that is locked, while somebody is invited: in memory that is never swapped. */
    uint8_t *held;
    struct event *hold_ends;
    /* What an answer points to until it is on its way. */
    uint8_t certificate[CERTIFICATE_BYTES], root[CERTIFICATE_BYTES], proof[TOKEN_PROOF];
};

/* The grid's authority, if this desktop has it: for the one act that needs it. 0 or a negative
 * code. */
int registrar_open_authority(struct registrar *r, const struct keyfile_access *with,
                             struct authority **out, struct err *e);
bool registrar_has_authority(const struct registrar *r);
/* DER; 0: too long. */
uint32_t registrar_put_certificate(uint8_t out[CERTIFICATE_BYTES], X509 *c);
void registrar_on_renew(struct registrar *r, const struct link_peer *from,
                        const struct msg_renew_ask *ask);
/* Takes the key into use that the authority's folder has been given. */
int registrar_adopt_key(struct registrar *r, struct err *e);
int registrar_end_invitations(struct registrar *r, struct err *e);
/* Signs what the ledger says, if the grid does not know that yet. */
int registrar_publish(struct registrar *r, const struct authority *a, struct err *e);
#endif
