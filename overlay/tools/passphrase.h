/* SPDX-License-Identifier: BSD-3-Clause */
/* passphrase.h -- the passphrase of the authority's key, from a terminal or a file. */
#ifndef P2P_OVERLAY_TOOLS_PASSPHRASE_H
#define P2P_OVERLAY_TOOLS_PASSPHRASE_H
#include "overlay/client/ask.h"
#include "overlay/crypto/keyfile.h"

struct passphrase {
    uint8_t text[KEYFILE_PASSPHRASE + 1];
    size_t length;
};

/* The first line of a file (- is standard input); NULL: from the terminal, unseen, and twice when
 * it is a new one. -ENOTTY: there is no terminal. */
int passphrase_ask(struct passphrase *out, const char *file, bool fresh, struct err *e);
void passphrase_forget(struct passphrase *p);
/* To open a key with. */
struct keyfile_access passphrase_access(const struct passphrase *p);

/* As client_ask(), for a question that may need the passphrase: without it first, unless a file is
 * named, since only the daemon knows whether the authority is locked. */
int passphrase_client_ask(struct client *c, const struct message *question, const char *file,
                          int timeout_ms, client_row_fn *row, void *ctx, struct err *e);
#endif
