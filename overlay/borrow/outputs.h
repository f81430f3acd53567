/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.h -- the last words of jobs that are over: a file for each in the state folder, for as
 * long as the history has the job, and of 32 MiB together at most. */
#ifndef P2P_OVERLAY_BORROW_OUTPUTS_H
#define P2P_OVERLAY_BORROW_OUTPUTS_H
#include "overlay/node/history.h"
#include "overlay/base/recent.h"
#include <stdbool.h>

enum {
    OUTPUTS_PIECE = 32768, /* of one local_output */
    OUTPUTS_MOST = 32 << 20,
};

typedef void outputs_say_fn(void *client, const struct message *m);

/* What is kept of a job's output, from byte `from` on, as rows of local_output: one at least. */
void outputs_say(const struct recent *output, const struct msg_local_output *row, uint64_t from,
                 outputs_say_fn *say, void *client);

/* Keeps the output of a job that has just come into the history, and removes what is of none that
 * it has, or too much. folder: the state folder. */
int outputs_add(const char *folder, const struct history *h, const struct msg_local_past *past,
                const struct recent *output, struct err *e);
void outputs_sweep(const char *folder, const struct history *h);
/* The last job of that name, or with that number in it; as outputs_say. False: nothing of it is
 * kept. */
bool outputs_tell(const char *folder, const struct history *h,
                  const struct msg_local_printed *question, outputs_say_fn *say, void *client);
/* Does the word name this job: "mpirun-4711", or "4711"? */
bool outputs_named(const char *job, const char *word);
#endif
