/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_run.h -- drives one job that waits for slots (overlay/core/lease/wait.h) with searches,
 * messages and time; for searches.c and search_run.c only. */
#ifndef P2P_OVERLAY_BORROW_WAIT_RUN_H
#define P2P_OVERLAY_BORROW_WAIT_RUN_H
#include "overlay/base/err.h"
#include "overlay/core/lease/wait.h"

struct search_run;
struct searches;
struct wait_run;

/* Begins to search; *want is copied. */
int wait_run_begin(struct searches *all, void *owner, void *holder,
                   const struct msg_local_allocate *want, struct err *e);
/* Leaves every list, ends its search, and is gone. */
void wait_run_cancel(struct wait_run *w);
void wait_run_place(struct wait_run *w, const struct part_peer *from,
                    const struct msg_lease_place *place);

/* What its search says; it is over with the last two. */
void wait_run_fits(struct wait_run *w, const struct part_peer *peer, unsigned slots);
void wait_run_short(struct wait_run *w, const char *why);
void wait_run_granted(struct wait_run *w);
struct part_waiter wait_run_waiter(const struct wait_run *w);

bool wait_run_is_of(const struct wait_run *w, const void *owner);
const struct id *wait_run_id(const struct wait_run *w);
const struct wait_told *wait_run_told(const struct wait_run *w);
#endif
