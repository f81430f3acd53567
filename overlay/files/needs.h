/* SPDX-License-Identifier: BSD-3-Clause */
/* needs.h -- what a program needs of a peer's system, as far as no ad tells it: its dynamic linker,
 * and of the libraries that do not travel the newest symbols. It is sent as a text, which the peer
 * holds against what is installed there (installed.h):
 *
 *     needs     program { ";" program }
 *     program   build { "|" build }             one of them runs on the peer
 *     build     MACHINE { " " need }            x86_64, as uname -m says it
 *     need      NAME { ":" VERSION }            libstdc++.so.6:GLIBCXX_3.4.30, /lib64/ld-linux.so.2
 */
#ifndef P2P_OVERLAY_FILES_NEEDS_H
#define P2P_OVERLAY_FILES_NEEDS_H
#include "elf.h"

enum { NEEDS_MOST = 48, NEEDS_VERSIONS = 4, NEEDS_TEXT = 1023 };

struct need {
    char name[ELF_LIBRARY + 1]; /* a library's; from / on: this very file */
    unsigned count;
    char version[NEEDS_VERSIONS][ELF_SYMBOL + 1]; /* the newest of each series */
};

struct needs {
    unsigned count;
    struct need at[NEEDS_MOST];
};

/* version: NULL, or symbols that it must have. What has no room, or what the text cannot say, is
 * left out: then nobody asks for it. */
void needs_add(struct needs *n, const char *name, const char *version);
/* A build, appended to the text after what stands between it and the one before ("", "|", ";"). One
 * that has no room ends with what has. */
void needs_write(const struct needs *n, const char *machine, const char *between,
                 char out[NEEDS_TEXT + 1]);
/* The next build in the text; NULL: there is none, or it is no such text. *last: the last one of
 * its program. */
const char *needs_read(struct needs *n, const char *text, char machine[16], bool *last);
#endif
