/* SPDX-License-Identifier: BSD-3-Clause */
/* roster.h -- the jobs of this daemon's user: what each mpirun says of its ranks and copies, for
 * programs that ask, and how to end, pause and resume them. */
#ifndef P2P_OVERLAY_BORROW_ROSTER_H
#define P2P_OVERLAY_BORROW_ROSTER_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include <stdbool.h>
#include <sys/types.h>

struct notices;
struct recent;
struct roster;
typedef void roster_say_fn(void *client, const struct message *m);
/* A job is over: what the history keeps of it, and the last of what it printed. */
typedef void roster_past_fn(void *ctx, const struct msg_local_past *past,
                            const struct recent *output);

/* How the job of that program waits for slots, which the roster does not know. */
typedef bool roster_waits_fn(void *ctx, const void *client, uint32_t *place, uint32_t *free);

struct roster *roster_new(struct notices *notices, roster_say_fn *say, roster_past_fn *past,
                          void *ctx);
void roster_ask_waits(struct roster *r, roster_waits_fn *waits, void *ctx);
void roster_free(struct roster *r);

/* What the program with this pid says of its job, first; again when it is over. */
void roster_job(struct roster *r, void *client, pid_t pid, const struct msg_local_job *job);
void roster_places(struct roster *r, const void *client, const struct msg_local_places *places);
/* The program's job prints: the last of it is kept until the job is over. */
void roster_output(struct roster *r, const void *client, const struct msg_local_output *said);
/* Answers, with local_done, of a job that is here. False: there is no such job. */
bool roster_printed(const struct roster *r, void *client, const struct msg_local_printed *question);
/* The program is gone, and its job with it. */
void roster_forget(struct roster *r, const void *client);
/* Each job, then its places. */
void roster_rows(const struct roster *r, void *client, uint32_t token);
/* The same as an answer, which ends with local_done. */
void roster_tell(const struct roster *r, void *client, uint32_t token);
size_t roster_count(const struct roster *r);
/* The nth job, for others; *is_host: that peer runs some of it. */
void roster_describe(const struct roster *r, size_t nth, const struct id *peer,
                     struct part_grid_job *out, bool *is_host);
/* -ENOENT: there is no such job. */
int roster_control(struct roster *r, const struct msg_local_control *order, struct err *e);
#endif
