/* SPDX-License-Identifier: BSD-3-Clause */
/* domain.c -- what fails together. */
#include "domain.h"
#include <string.h>

enum { SUBNET_BYTES_4 = 15, SUBNET_BYTES_6 = 8 }; /* of the mapped address: /24 and /64 */

static bool same_subnet(const struct addr *a, const struct addr *b)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool four = memcmp(a->ip, mapped, sizeof mapped) == 0;
    return memcmp(a->ip, b->ip, four ? SUBNET_BYTES_4 : SUBNET_BYTES_6) == 0;
}

bool domain_same(const struct domain_place *a, const struct domain_place *b,
                 enum domain_scheme scheme)
{
    if (id_equal(a->peer, b->peer))
        return true;
    if (scheme == DOMAIN_PEER)
        return false;
    if (scheme == DOMAIN_SITE && (a->site[0] != '\0' || b->site[0] != '\0'))
        return strcmp(a->site, b->site) == 0;
    return same_subnet(a->addr, b->addr);
}
