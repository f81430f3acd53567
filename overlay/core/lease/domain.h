/* SPDX-License-Identifier: BSD-3-Clause */
/* domain.h -- what fails together: the copies of a rank are kept in different domains, sites when
 * there is enough room in enough of them, else subnets, else peers. */
#ifndef P2P_OVERLAY_CORE_LEASE_DOMAIN_H
#define P2P_OVERLAY_CORE_LEASE_DOMAIN_H
#include "overlay/base/id.h"
#include <stdbool.h>

enum domain_scheme { DOMAIN_SITE, DOMAIN_SUBNET, DOMAIN_PEER, DOMAIN_SCHEMES };

struct domain_place {
    const struct id *peer;
    const struct addr *addr;
    const char *site; /* "": none is named, and the subnet stands for it */
};

/* Subnets are /24 and /64. */
bool domain_same(const struct domain_place *a, const struct domain_place *b,
                 enum domain_scheme scheme);
#endif
