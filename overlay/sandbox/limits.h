/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h -- what a guest's job may take and touch: its share of what the owner lends. */
#ifndef P2P_OVERLAY_SANDBOX_LIMITS_H
#define P2P_OVERLAY_SANDBOX_LIMITS_H
#include "overlay/wire/message.h"
#include "overlay/settings/settings.h"

/* Fills in all of the order except the command, its environment, and the tunnel's port (`home`).
 * ad: of this machine, now; slots: of the lease. */
void limits_of_guest(struct msg_room_order *order, const struct settings *s,
                     const struct part_ad *ad, unsigned slots);
/* The same sandbox for the owner's own job, since other owners' peers are in it, with the folder
 * that the job works in ("": none), and without bounds. */
void limits_of_owner(struct msg_room_order *order, const struct settings *s, const char *folder);
/* Takes over the bounds that the submitter signed, where they are narrower; also for the owner's
 * own job. */
void limits_narrow(struct msg_room_order *order, const struct part_bounds *bounds);
#endif
