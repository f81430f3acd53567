/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h -- what this desktop offers, as the system says. */
#ifndef P2P_OVERLAY_HOST_MACHINE_H
#define P2P_OVERLAY_HOST_MACHINE_H
#include "overlay/wire/message.h"
#include "overlay/settings/settings.h"
#include "overlay/crypto/identity.h"

struct machine;
/* *closed: enum lending_state; *until: of a pause, seconds since 1970, or 0. */
typedef unsigned machine_slots_free_fn(void *ctx, uint8_t *closed, uint64_t *until);

int machine_open(struct machine **out, unsigned cores, struct err *e);
void machine_close(struct machine *m);
/* Further bits of enum confinement; it begins with none. */
void machine_enforces(struct machine *m, unsigned abilities);
/* The function that says how many slots are free; without one (NULL) all are. */
void machine_count_free(struct machine *m, machine_slots_free_fn *slots_free, void *ctx);
/* Looks at what changes while p2pd runs: free slots, disk, load. The ad's version grows when
 * anything but what drifts all the time (load, disk, what was seen of others) is different. */
void machine_update(struct machine *m, const struct settings *settings,
                    const struct identity_card *card, const struct part_peer *self);
/* As of the last machine_update(). */
const struct part_ad *machine_ad(const struct machine *m);
/* When a pause ends by itself, of the same moment: seconds since 1970; 0: no end is set. */
uint64_t machine_until(const struct machine *m);
/* How often this one saw other peers vanish, for the next ads: how many did, of how many peers
 * times milliseconds. */
void machine_observed(struct machine *m, uint64_t watched_ms, uint32_t vanished);
unsigned machine_cores(const struct machine *m);
#endif
