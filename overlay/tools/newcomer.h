/* SPDX-License-Identifier: BSD-3-Clause */
/* newcomer.h -- a newcomer's side of an invitation: finds the inviter's daemon, makes sure that it
 * is of the grid in the token, proves to know the secret without sending it, and gets a
 * certificate.
 */
#ifndef P2P_OVERLAY_TOOLS_NEWCOMER_H
#define P2P_OVERLAY_TOOLS_NEWCOMER_H
#include "overlay/wire/message.h"
#include "overlay/membership/token.h"
#include <openssl/x509.h>

struct entry {
    X509 *certificate, *authority; /* checked: the one is signed by the other, and for this key */
    struct part_peer peers[64];    /* ways into the ring */
    unsigned peer_count;
    char grid[64];
    char inviter[64]; /* the desktop that let this one in */
    enum entry_owner { ENTRY_SELF, ENTRY_INVITER, ENTRY_OTHER } owner;
};

/* Blocks, for at most some 30 s. */
int newcomer_enter(struct entry *out, const struct token *token, const char *name, EVP_PKEY *key,
                   struct err *e);
void entry_free(struct entry *e);
#endif
