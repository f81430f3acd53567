/* SPDX-License-Identifier: BSD-3-Clause */
/* printed.h -- p2pctl job --output: what is kept of what a job has printed. */
#ifndef P2P_OVERLAY_TOOLS_PRINTED_H
#define P2P_OVERLAY_TOOLS_PRINTED_H
#include "overlay/client/ask.h"
#include "overlay/base/err.h"
#include <stdbool.h>

/* Of the job with that name or number, which runs or is in the history. follow: until it is over.
 */
int printed_show(struct client *c, const char *job, bool follow, struct err *e);
/* As one object. */
int printed_show_json(struct client *c, const char *job, struct err *e);
#endif
