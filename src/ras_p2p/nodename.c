/* SPDX-License-Identifier: BSD-3-Clause */
/* nodename.c -- names for virtual nodes. */
#include "nodename.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BASE_MOST = 63 };

static void make_safe(char *out, const char *peer)
{
    size_t n = 0;
    if (!((peer[0] >= 'a' && peer[0] <= 'z') || (peer[0] >= 'A' && peer[0] <= 'Z')))
        out[n++] = 'p';
    for (const char *c = peer; *c != '\0' && n < BASE_MOST; c++) {
        const bool upper = *c >= 'A' && *c <= 'Z';
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
        out[n++] = upper ? (char)(*c - 'A' + 'a') : plain ? *c : '-';
    }
    out[n] = '\0';
}

/* mpirun compares with and without the domain. */
static bool is_host(const char *name, const char *own)
{
    const size_t first = strcspn(own, ".");
    char safe[BASE_MOST + 1];
    make_safe(safe, own);
    return strcmp(name, "localhost") == 0 || strcmp(name, safe) == 0 ||
           (strlen(name) == first && strncasecmp(name, own, first) == 0);
}

void nodename_make(char out[NODENAME_MOST + 1], const char *peer, const char *own,
                   int (*taken)(const char *name, void *ctx), void *ctx)
{
    char base[BASE_MOST + 1];
    make_safe(base, peer);
    snprintf(out, NODENAME_MOST + 1, "%s", base);
    for (unsigned k = is_host(base, own) ? 1 : 2; is_host(out, own) || taken(out, ctx); k++)
        snprintf(out, NODENAME_MOST + 1, "%s-%u", base, k);
}
