/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.h -- mpirun's --host and --hostfile: the desktops that a job may use, by name. They become
 * a requirement, so peers are chosen, replaced and refused as with any other. */
#ifndef P2P_SRC_RAS_P2P_HOSTS_H
#define P2P_SRC_RAS_P2P_HOSTS_H
#include "overlay/base/err.h"
#include <stddef.h>

enum { HOSTS_MOST = 60, HOSTS_NAME = 63 }; /* as many as a requirement has room for */

struct hosts {
    struct host {
        char name[HOSTS_NAME + 1];
        unsigned slots; /* at most so many there; 0: not said */
    } at[HOSTS_MOST];
    size_t count;
};

/* `birch`, `birch,cedar:2`. `own` is what this desktop is called, for localhost. -EINVAL with a
 * line; what was added before stays. */
int hosts_add_list(struct hosts *h, const char *list, const char *own, struct err *e);
/* What is in a hostfile: a line for each desktop, `cedar slots=2`; `file` is for the line. */
int hosts_add_file(struct hosts *h, const char *text, const char *file, const char *own,
                   struct err *e);

int hosts_read_file(struct hosts *h, const char *path, const char *own, struct err *e);

/* The one bound on slots that all of them have; -EINVAL: they have different ones. 0: none. */
int hosts_slots(const struct hosts *h, unsigned *slots, struct err *e);
/* `name in (birch, cedar)`, and `also`, when there is one; the caller frees it. NULL: no memory. */
char *hosts_require(const struct hosts *h, const char *also);
#endif
