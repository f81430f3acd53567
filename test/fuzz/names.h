/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h -- paths and targets as one who means harm would choose them. */
#ifndef P2P_NAMES_H
#define P2P_NAMES_H
#include "script.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* up: where the fuzzer's own folder is, an absolute path. */
static inline void name_next(struct script *s, const char *up, char *out, size_t size)
{
    static const char part[][8] = {"a",  "b", "A",  "link",   "..",   ".",    "",  "out",
                                   "up", "c", "\n", "canary", "long", "deep", "d", "a"};
    const unsigned how = script_next(s);
    unsigned parts = how % 4 + 1;
    size_t at = (size_t)snprintf(out, size, "%s", how & 32 ? "/" : how & 64 ? up : "");
    if (how & 128) { /* as it stands in the input */
        while (s->left > 0 && *s->at != '\0' && at + 1 < size)
            out[at++] = (char)script_next(s);
        (void)script_next(s);
        out[at] = '\0';
        return;
    }
    for (; parts > 0; parts--) {
        const unsigned which = script_next(s) % 16;
        if (strcmp(part[which], "up") == 0)
            at += (size_t)snprintf(out + at, size - at, "%s/..", up);
        else if (strcmp(part[which], "long") == 0)
            at += (size_t)snprintf(out + at, size - at, "%0*d", 250 + (int)(how % 16), 1);
        else if (strcmp(part[which], "deep") == 0)
            for (int i = 0; i < 20 && at < size; i++)
                at += (size_t)snprintf(out + at, size - at, "e/");
        else
            at += (size_t)snprintf(out + at, size - at, "%s", part[which]);
        if (at + 1 >= size) {
            out[size - 1] = '\0';
            return;
        }
        if (parts > 1)
            out[at++] = '/';
        out[at] = '\0';
    }
}
#endif
