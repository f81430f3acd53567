/* SPDX-License-Identifier: BSD-3-Clause */
/* binaries.h -- on which peers a program can run, as a requirement (require.h): made for their
 * processor, with a C library that is new enough and an Open MPI that it is linked to. */
#ifndef P2P_OVERLAY_FILES_BINARIES_H
#define P2P_OVERLAY_FILES_BINARIES_H
#include "overlay/base/err.h"
#include "gather.h"

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

/* What a peer must have to run all these programs, the first of which has several builds; "": they
 * are the peers' own, or nothing that is known. search: PATH. -ENOEXEC: the program is linked with
 * an MPI that mpirun does not start. */
int binaries_require(char out[BINARIES_REQUIRE + 1], const struct gather_app *apps, size_t count,
                     const struct binaries *b, const char *search, struct err *e);
/* Both; the user's may be NULL. One that cannot be read is left alone, so that the daemon tells of
 * it by its columns. malloc'd; NULL: out of memory. */
char *binaries_join(const char *users, const char *programs);
#endif
