/* SPDX-License-Identifier: BSD-3-Clause */
/* other_versions.h -- desktops that this one lately had no link with because there is no version of
 * the protocol that both speak: for the log, and for tools that miss them. */
#ifndef P2P_OVERLAY_TRANSPORT_OTHER_VERSIONS_H
#define P2P_OVERLAY_TRANSPORT_OTHER_VERSIONS_H
#include "overlay/base/id.h"
#include <stddef.h>

enum {
    OTHER_VERSIONS = 8, /* that are remembered */
    OTHER_VERSION_TEXT = 255,
    OTHER_VERSION_MS = 600000,    /* for so long */
    OTHER_VERSION_LOG_MS = 60000, /* between two lines about one */
};

struct other_versions {
    struct other_version {
        struct addr at; /* the port does not matter */
        uint64_t seen_ms, told_ms;
        char text[OTHER_VERSION_TEXT + 1]; /* "": free */
    } all[OTHER_VERSIONS];
};

/* True: it is time for a line in the log. */
bool other_version_note(struct other_versions *o, const struct addr *at, const char *text,
                        uint64_t now_ms);
void other_version_forget(struct other_versions *o, const struct addr *at); /* it has a link now */
/* A line for each, without a line feed at the end; "" when there is none. */
void other_versions_text(const struct other_versions *o, char *out, size_t size, uint64_t now_ms);
#endif
