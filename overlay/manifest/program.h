/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h -- the files that a job executes: the submitter signs their content, and a peer
 * executes a file with that content or none. Programs of the system (/usr, /opt ...) are each
 * peer's own. */
#ifndef P2P_OVERLAY_MANIFEST_PROGRAM_H
#define P2P_OVERLAY_MANIFEST_PROGRAM_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"

enum { PROGRAM_HASH = 32, PROGRAM_PATH = 255, PROGRAMS_MAX = 16 };

struct program {
    char path[PROGRAM_PATH + 1]; /* from / on */
    uint64_t size;
    uint8_t hash[PROGRAM_HASH]; /* BLAKE2b */
};

/* Where a shell in the folder `cwd` with this PATH finds `name`. -ENOENT, -ENAMETOOLONG. */
int program_find(char out[PROGRAM_PATH + 1], const char *name, const char *cwd, const char *search);
/* Is it in one of the system's folders, after following links? */
bool program_is_of_system(const char *path);
/* The same by its name alone. */
bool program_lies_in_system(const char *path);
int program_take(struct program *p, const char *path, struct err *e);
/* For sending; points into the program. */
struct part_program program_part(const struct program *p);

/* Opens the same program here, where it lies `at`: a descriptor. The error goes on after the peer's
 * name and a colon, and tells the submitter what to do. */
int program_open(const struct part_program *wanted, const char *at, struct err *e);
#endif
