/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h -- what a guest's job may take and touch: its part of what the owner lends. */
#ifndef P2P_OVERLAY_SANDBOX_LIMITS_H
#define P2P_OVERLAY_SANDBOX_LIMITS_H
#include "overlay/wire/message.h"
#include "overlay/settings/settings.h"

/* All but the command, its environment, and the port that leads home. ad: of this machine, now;
 * slots: of the lease. */
void limits_of_guest(struct msg_room_order *order, const struct settings *s,
                     const struct part_ad *ad, unsigned slots);
/* The same walls round the owner's own job, since other owners' peers are in it, and the folder
 * that it works in ("": none); no bounds but those that it sets itself. */
void limits_of_owner(struct msg_room_order *order, const struct settings *s, const char *folder);
/* The bounds that the submitter signed, where they are narrower; also for the owner's own job. */
void limits_narrow(struct msg_room_order *order, const struct part_bounds *bounds);
#endif
