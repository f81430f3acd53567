/* SPDX-License-Identifier: BSD-3-Clause */
/* keys.h -- which keys a query may name, and what must be known to answer each. Plain C: the names
 * are PMIx's own strings. */
#ifndef P2P_SRC_PMIX_SERVER_KEYS_H
#define P2P_SRC_PMIX_SERVER_KEYS_H
#include <stddef.h>

enum key {
    KEY_NONE,
    KEY_SUPPORTED,
    KEY_NAMESPACES,
    KEY_NAMESPACE_INFO,
    KEY_JOB_STATUS,
    KEY_PROC_TABLE,
    KEY_PEERS,
    KEY_TOPOLOGY,
    KEY_REPLICAS,
    KEY_ALLOCATION_STATUS,
    KEY_ALLOCATIONS,
};

/* What is to be asked of p2pd. */
enum { NEED_PEERS = 1, NEED_JOBS = 2, NEED_ALLOCATIONS = 4, NEED_TOPOLOGY = 8 };

enum key key_find(const char *name); /* KEY_NONE: nobody knows it */
unsigned key_needs(enum key key);
const char *key_names(char *out, size_t size); /* all of them, comma between */
#endif
