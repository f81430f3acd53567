/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h -- what this desktop offers, as the system says. */
#ifndef P2P_OVERLAY_HOST_MACHINE_H
#define P2P_OVERLAY_HOST_MACHINE_H
#include "overlay/wire/message.h"
#include "overlay/settings/settings.h"
#include "overlay/crypto/identity.h"

struct machine;
/* *closed: enum lending_state. */
typedef unsigned machine_slots_free_fn(void *ctx, uint8_t *closed);

int machine_open(struct machine **out, unsigned cores, struct err *e);
void machine_close(struct machine *m);
/* Further bits of part_ad.confinement. */
void machine_enforces(struct machine *m, unsigned abilities);
/* Whoever grants leases says how many slots are free; before that all are. */
void machine_count_free(struct machine *m, machine_slots_free_fn *slots_free, void *ctx);
/* The ad as of now; its version grows when anything but the load has changed. */
void machine_ad(struct machine *m, const struct settings *settings,
                const struct identity_card *card, const struct part_peer *self, struct part_ad *ad);
/* How often this one saw other peers vanish, for the next ads. */
void machine_observed(struct machine *m, uint64_t watched_ms, uint32_t vanished);
unsigned machine_cores(const struct machine *m);
#endif
