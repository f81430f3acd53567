/* SPDX-License-Identifier: BSD-3-Clause */
/* phrase.h -- a line out of words and numbers, for what has no printf; cut where the room ends. */
#ifndef P2P_OVERLAY_CORE_LEASE_PHRASE_H
#define P2P_OVERLAY_CORE_LEASE_PHRASE_H
#include <stddef.h>
#include <stdint.h>

struct phrase {
    char *out;
    size_t size, at; /* at: its length */
};

void phrase_begin(struct phrase *p, char *out, size_t size); /* empty; size: at least 1 */
void phrase_add(struct phrase *p, const char *words);
void phrase_add_part(struct phrase *p, const char *words, size_t length); /* so many bytes */
void phrase_add_number(struct phrase *p, uint64_t number);
#endif
