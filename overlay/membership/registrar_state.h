/* SPDX-License-Identifier: BSD-3-Clause */
/* registrar_state.h -- what the files of the registrar share; nothing else includes it. */
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
    /* A locked key, while an invitation waits: in memory that is never swapped. */
    uint8_t *held;
    struct event *hold_ends;
    /* An answer points to these until it is sent. */
    uint8_t certificate[CERTIFICATE_BYTES], root[CERTIFICATE_BYTES], proof[TOKEN_PROOF];
};

/* Opens the grid's authority, if this desktop has it, for one act. 0 or a negative code. */
int registrar_open_authority(struct registrar *r, const struct keyfile_access *with,
                             struct authority **out, struct err *e);
bool registrar_has_authority(const struct registrar *r);
/* DER; 0: too long. */
uint32_t registrar_put_certificate(uint8_t out[CERTIFICATE_BYTES], X509 *c);
void registrar_on_renew(struct registrar *r, const struct link_peer *from,
                        const struct msg_renew_ask *ask);
/* Takes into use the key that is in the authority's folder now. */
int registrar_adopt_key(struct registrar *r, struct err *e);
int registrar_end_invitations(struct registrar *r, struct err *e);
/* Signs and spreads the list of revoked peers, unless the grid has the same one already. */
int registrar_publish(struct registrar *r, const struct authority *a, struct err *e);
#endif
