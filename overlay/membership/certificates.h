/* SPDX-License-Identifier: BSD-3-Clause */
/* certificates.h -- the certificates that the authority has signed, in its folder: each member's
 * present one, and, once the key is locked, those that will renew it. They are public and of use
 * only with the member's own key: a thief of the folder gains nothing. */
#ifndef P2P_OVERLAY_MEMBERSHIP_CERTIFICATES_H
#define P2P_OVERLAY_MEMBERSHIP_CERTIFICATES_H
#include "overlay/base/err.h"
#include "overlay/base/id.h"
#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum { CERTIFICATES_MAX = 16 };

struct certificates { /* of one member */
    X509 *at[CERTIFICATES_MAX];
    size_t count;
};

/* Without a file: count 0. */
int certificates_read(struct certificates *d, const char *folder, const struct id *member,
                      struct err *e);
int certificates_write(const struct certificates *d, const char *folder, const struct id *member,
                       struct err *e);
void certificates_clear(struct certificates *d);
bool certificates_exist(const char *folder, const struct id *member);
void certificates_remove(const char *folder, const struct id *member);
/* Of those that are good now, the one that ends last, and after `after`; NULL: none. */
X509 *certificates_pick(const struct certificates *d, time_t now, time_t after);
/* Stops at the first error. */
typedef int certificates_each_fn(void *ctx, const struct id *member, struct err *e);
int certificates_each(const char *folder, certificates_each_fn *each, void *ctx, struct err *e);
#endif
