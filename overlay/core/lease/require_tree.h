/* SPDX-License-Identifier: BSD-3-Clause */
/* require_tree.h -- what the nodes of a requirement mean, for its parser and its evaluation only.
 */
#ifndef P2P_OVERLAY_CORE_LEASE_REQUIRE_TREE_H
#define P2P_OVERLAY_CORE_LEASE_REQUIRE_TREE_H
#include "require.h"
#include <string.h>

enum kind { NODE_OR, NODE_AND, NODE_NOT, NODE_TEST };
enum compare { IS, IS_NOT, LESS, AT_MOST, MORE, AT_LEAST };

enum field {
    OS,
    ARCH,
    NAME,
    SITE,
    LABEL,
    GROUP,
    CONFINEMENT,
    OMPI,
    LIBC,
    CORES,
    SLOTS,
    FREE,
    LOAD,
    SPEED,
    MEM,
    DISK,
    BANDWIDTH,
    RTT,
    FIELDS
};

static inline bool require_equals(const char *word, size_t length, const char *other)
{
    return strlen(other) == length && memcmp(word, other, length) == 0;
}

/* Which bit of part_ad.confinement the word is; false: none. */
bool require_confinement(const char *word, size_t length, unsigned *bit);
#endif
