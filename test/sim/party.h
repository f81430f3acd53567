/* SPDX-License-Identifier: BSD-3-Clause */
/* party.h -- the groups of one job in one process, on a network and on hosts that may be busy. */
#ifndef P2P_PARTY_H
#define P2P_PARTY_H
#include "overlay/core/swim/group.h"

enum { PARTY_MAX = 256 };

struct party_setup {
    uint64_t seed;
    unsigned members;
    uint32_t latency_us; /* one way; each message up to twice that */
    unsigned lost_permille;
    unsigned busy_permille; /* of the members: hosts whose cores are all taken */
    unsigned pause_ms; /* a busy host's daemon gets no core for up to this long, again and again */
};

struct party;

struct party *party_new(const struct party_setup *setup);
void party_free(struct party *party);
void party_wait(struct party *party, uint64_t us);
void party_cut(struct party *party, unsigned member); /* silent from now on */
/* Microseconds from the cut until the last of the others had declared it; 0: not all have. */
uint64_t party_detected_us(const struct party *party, unsigned member);
unsigned party_false_deaths(const struct party *party); /* declarations of members never cut */
uint64_t party_messages(const struct party *party);
uint64_t party_bytes(const struct party *party);
#endif
