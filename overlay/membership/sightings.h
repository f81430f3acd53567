/* SPDX-License-Identifier: BSD-3-Clause */
/* sightings.h -- when this desktop last saw each member, in a bounded file in the state folder. */
#ifndef P2P_OVERLAY_MEMBERSHIP_SIGHTINGS_H
#define P2P_OVERLAY_MEMBERSHIP_SIGHTINGS_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"

enum { SIGHTINGS_MOST = 4096 }; /* the one that was not seen for longest makes room */

struct sightings;

struct sightings *sightings_open(const char *folder); /* NULL: no memory */
void sightings_close(struct sightings *s);            /* does not save */
/* Now is seconds since 1970. */
void sightings_see(struct sightings *s, const struct id *peer, const char *name, uint64_t now);
size_t sightings_count(const struct sightings *s);
const struct msg_local_member *sightings_at(const struct sightings *s, size_t i);
const struct msg_local_member *sightings_of(const struct sightings *s, const struct id *peer);
/* If anything has changed. */
int sightings_save(struct sightings *s, struct err *e);
#endif
