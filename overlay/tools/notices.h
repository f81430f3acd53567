/* SPDX-License-Identifier: BSD-3-Clause */
/* notices.h -- what has happened, as p2pd keeps it, for people. */
#ifndef P2P_OVERLAY_TOOLS_NOTICES_H
#define P2P_OVERLAY_TOOLS_NOTICES_H
#include "overlay/client/ask.h"
#include <jansson.h>

enum { NOTICES_KEPT = 64 };

/* Of jobs: what was lost, and what goes on in its place. */
struct notices_past {
    struct msg_local_notice at[NOTICES_KEPT];
    size_t count;
};

void notices_print(const struct msg_local_notice *n); /* a line, with its time */
/* Asks for them: they are there when the next question is answered. */
int notices_ask(struct notices_past *all, struct client *c, struct err *e);
/* Those of that job. */
void notices_print_job(const struct notices_past *all, const char *job);
json_t *notices_json_job(const struct notices_past *all, const char *job); /* an array */
#endif
