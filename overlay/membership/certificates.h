/* SPDX-License-Identifier: BSD-3-Clause */
/* certificates.h -- the certificates that the authority has signed, in its folder: each member's
 * present one, and, once the key is locked, those that will renew it. They are public, and good for
 * whoever has the member's key alone: who steals the drawer can prolong nothing of his own. */
#ifndef P2P_OVERLAY_MEMBERSHIP_CERTIFICATES_H
#define P2P_OVERLAY_MEMBERSHIP_CERTIFICATES_H
#include "overlay/base/err.h"
#include "overlay/base/id.h"
#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum { DRAWER_CERTIFICATES = 16 };

struct drawer { /* of one member */
    X509 *at[DRAWER_CERTIFICATES];
    size_t count;
};

/* Nothing is there: count 0. */
int drawer_read(struct drawer *d, const char *folder, const struct id *member, struct err *e);
int drawer_write(const struct drawer *d, const char *folder, const struct id *member,
                 struct err *e);
void drawer_clear(struct drawer *d);
bool drawer_has(const char *folder, const struct id *member);
void drawer_forget(const char *folder, const struct id *member);
/* The last that is good now and longer than `after`; NULL: none. */
X509 *drawer_pick(const struct drawer *d, time_t now, time_t after);
/* Stops at the first error. */
typedef int drawer_each_fn(void *ctx, const struct id *member, struct err *e);
int drawer_each(const char *folder, drawer_each_fn *each, void *ctx, struct err *e);
#endif
