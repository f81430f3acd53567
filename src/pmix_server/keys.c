/* SPDX-License-Identifier: BSD-3-Clause */
/* keys.c -- which keys a query may name, and what must be known to answer each. */
#include "keys.h"
#include "p2pgrid_pmix.h"
#include <pmix_common.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum key key;
    unsigned needs;
} keys[] = {
    {PMIX_QUERY_SUPPORTED_KEYS, KEY_SUPPORTED, 0},
    {PMIX_QUERY_NAMESPACES, KEY_NAMESPACES, NEED_JOBS},
    {PMIX_QUERY_NAMESPACE_INFO, KEY_NAMESPACE_INFO, NEED_JOBS},
    {PMIX_QUERY_JOB_STATUS, KEY_JOB_STATUS, NEED_JOBS},
    {PMIX_QUERY_PROC_TABLE, KEY_PROC_TABLE, NEED_JOBS},
    {PMIX_HWLOC_XML_V2, KEY_TOPOLOGY, NEED_PEERS | NEED_TOPOLOGY},
    {PMIX_QUERY_ALLOC_STATUS, KEY_ALLOCATION_STATUS, NEED_ALLOCATIONS},
    {P2PGRID_PEERS, KEY_PEERS, NEED_PEERS | NEED_TOPOLOGY},
    {P2PGRID_REPLICAS, KEY_REPLICAS, NEED_JOBS},
    {P2PGRID_ALLOCATIONS, KEY_ALLOCATIONS, NEED_ALLOCATIONS},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

enum key key_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < KEYS; i++)
        if (strcmp(keys[i].name, name) == 0)
            return keys[i].key;
    return KEY_NONE;
}

unsigned key_needs(enum key key)
{
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].key == key)
            return keys[i].needs;
    return 0;
}

const char *key_names(char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < KEYS && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s", i > 0 ? "," : "", keys[i].name);
    return out;
}
