/* SPDX-License-Identifier: BSD-3-Clause */
/* placeholder.h -- names on this machine that a view is put on, and that were not there: empty
 * folders and files, for as long as a room uses them. Several rooms may use one, and the last one
 * removes it: removing a name takes away what other rooms have mounted on it. A room that was
 * killed leaves them to the next one. */
#ifndef P2P_OVERLAY_SANDBOX_PLACEHOLDER_H
#define P2P_OVERLAY_SANDBOX_PLACEHOLDER_H
#include <stdbool.h>
#include <stddef.h>

struct placeholder {
    char *path;
    int lock; /* a descriptor of it, locked by all that use it */
};

struct placeholders {
    struct placeholder *at; /* a folder before what is in it */
    size_t count;
};

/* Makes what is missing of the path, a folder or a file at its end, and uses it. 0 or -errno. */
int placeholders_make(struct placeholders *p, const char *path, bool is_folder);
/* Removes those that no other room uses and in which nobody else has put anything. */
void placeholders_remove(struct placeholders *p);
#endif
