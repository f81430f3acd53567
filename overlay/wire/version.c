/* SPDX-License-Identifier: BSD-3-Clause */
/* version.c -- which version two daemons use, and who must be updated when there is none. */
#include "version.h"
#include <stdio.h>

struct version_range version_said(unsigned lowest, unsigned highest)
{
    return (struct version_range){lowest != 0 ? lowest : highest, highest};
}

unsigned version_common(struct version_range ours, struct version_range theirs)
{
    unsigned highest = ours.highest < theirs.highest ? ours.highest : theirs.highest;
    return highest >= ours.lowest && highest >= theirs.lowest ? highest : 0;
}

const char *version_text(struct version_range r, char out[VERSION_TEXT + 1])
{
    if (r.lowest == r.highest)
        snprintf(out, VERSION_TEXT + 1, "%u", r.highest);
    else
        snprintf(out, VERSION_TEXT + 1, "%u to %u", r.lowest, r.highest);
    return out;
}

void version_refusal(char *out, size_t size, const char *name, const char *where,
                     struct version_range theirs, struct version_range ours)
{
    char said[VERSION_TEXT + 1], known[VERSION_TEXT + 1];
    snprintf(out, size, "%s (%s) speaks version%s %s only, we %s: update p2pgrid %s", name, where,
             theirs.lowest == theirs.highest ? "" : "s", version_text(theirs, said),
             version_text(ours, known), theirs.highest < ours.lowest ? "there" : "here");
}
