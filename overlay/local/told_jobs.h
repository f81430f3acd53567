/* SPDX-License-Identifier: BSD-3-Clause */
/* told_jobs.h -- what this daemon tells other peers of the jobs that were submitted here and of the
 * slots that it lends. Everybody of the grid hears who uses how many slots; the program's name is
 * for the job's own owner and for the desktops that run it, unless show_programs is set. */
#ifndef P2P_OVERLAY_LOCAL_TOLD_JOBS_H
#define P2P_OVERLAY_LOCAL_TOLD_JOBS_H
#include "overlay/wire/message.h"

struct grant;
struct node;
struct reserves;
struct roster;
struct link_peer;

/* Where it is known; all belong to others. */
struct told_jobs {
    struct node *node;
    const struct roster *roster;
    const struct reserves *reserves;
    const struct grant *grant;
};

void told_jobs_answer(const struct told_jobs *t, const struct link_peer *to,
                      const struct msg_jobs_ask *ask, struct msg_jobs_answer *answer);
#endif
