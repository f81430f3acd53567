/* SPDX-License-Identifier: BSD-3-Clause */
/* binaries.h -- on which peers a program can run, as a requirement (require.h): made for their
 * processor, with a C library that is new enough, the Open MPI that it is linked to, and what else
 * it needs of a system. */
#ifndef P2P_OVERLAY_FILES_BINARIES_H
#define P2P_OVERLAY_FILES_BINARIES_H
#include "overlay/base/err.h"
#include "gather.h"
#include "needs.h"

enum { BINARIES_MOST = 8, BINARIES_PATH = 255, BINARIES_REQUIRE = 1023 };

/* Builds of one program for several kinds of machine. */
struct binaries {
    struct binary {
        char machine[16]; /* as an ad's arch */
        char path[BINARIES_PATH + 1];
    } at[BINARIES_MOST];
    size_t count;
};

/* Of "x86_64:./app,aarch64:./app.arm"; NULL or "": none. Each is there, and is what it is said to
 * be. */
int binaries_parse(struct binaries *b, const char *text, const struct gather_app *app,
                   const char *search, struct err *e);

/* What a peer must have to run a job's programs. */
struct binaries_want {
    char require[BINARIES_REQUIRE + 1]; /* by its ad; "": anything */
    char system[NEEDS_TEXT + 1];        /* by what is installed there: see needs.h */
};

/* Of all these programs, the first of which has several builds; empty: they are the peers' own, or
 * nothing is known. search: PATH. -ENOEXEC: the program is linked with an MPI that mpirun does not
 * start. */
int binaries_require(struct binaries_want *want, const struct gather_app *apps, size_t count,
                     const struct binaries *b, const char *search, struct err *e);
/* Both; the user's may be NULL. One that cannot be read is left alone, so that the daemon tells of
 * it by its columns. malloc'd; NULL: out of memory. */
char *binaries_join(const char *users, const char *programs);
#endif
