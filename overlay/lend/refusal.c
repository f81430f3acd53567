/* SPDX-License-Identifier: BSD-3-Clause */
/* refusal.c -- the reasons, in the order in which a person should hear of them. */
#include "refusal.h"
#include "overlay/base/confinement.h"
#include "overlay/core/lease/fit.h"
#include "overlay/core/lease/lease.h"
#include <stdio.h>

bool refusal_text(const struct refusal *r, char *why, size_t size)
{
    char words[80];
    why[0] = '\0';
    if (r->closed != NULL)
        snprintf(why, size, "%s", r->closed);
    else if (r->guest && r->missing != 0)
        snprintf(why, size, "lets in no guests: it cannot confine their %s",
                 confinement_text(r->missing, words, sizeof words));
    else if (r->use >= LEASE_USES)
        snprintf(why, size, "does not know what the slots are for");
    else if (!fit_series(r->ours, r->theirs))
        snprintf(why, size, "runs Open MPI %s (needs %.*s)", r->ours,
                 (int)fit_series_length(r->theirs), r->theirs);
    return why[0] != '\0';
}
