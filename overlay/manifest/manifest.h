/* SPDX-License-Identifier: BSD-3-Clause */
/* manifest.h -- what a submitter wants started on one peer under one lease, signed by its key: it
 * is of use to no other member, on no other peer, and for no other lease. */
#ifndef P2P_OVERLAY_MANIFEST_MANIFEST_H
#define P2P_OVERLAY_MANIFEST_MANIFEST_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include "overlay/crypto/identity.h"

struct manifest; /* with its frame and signature */

/* -E2BIG: it does not fit. */
int manifest_sign(struct manifest **out, const struct msg_manifest *job,
                  const struct identity *submitter);
/* For sending; points into the manifest. */
void manifest_put(const struct manifest *m, struct msg_lease_launch *out);
/* Of a launch that came from the member `from` to the peer `self`: checks the signature, and that
 * it says what the launch says. The error goes on after "is not started: ". */
int manifest_open(struct manifest **out, const struct msg_lease_launch *launch,
                  const struct identity_card *from, const struct id *self, struct err *e);
const struct msg_manifest *manifest_job(const struct manifest *m);
void manifest_free(struct manifest *m);
#endif
