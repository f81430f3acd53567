/* SPDX-License-Identifier: BSD-3-Clause */
/* reservations.h -- reservations of this daemon's programs: slots held together for a time, which
 * any of the user's jobs may use by the reservation's id. The slots themselves are leases in
 * borrowed.c. */
#ifndef P2P_OVERLAY_BORROW_RESERVATIONS_H
#define P2P_OVERLAY_BORROW_RESERVATIONS_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include <stdbool.h>

struct node;
struct borrowed;
struct searches;
struct notices;
struct reserves;

enum { RESERVE_SECONDS_MAX = 365 * 24 * 3600 };

/* Says something to a program. */
typedef void reserve_say_fn(void *client, const struct message *m);

int reserves_open(struct reserves **out, struct node *node, struct borrowed *borrowed,
                  struct searches *searches, struct notices *notices, reserve_say_fn *say,
                  struct err *e);
void reserves_close(struct reserves *r); /* ends them all */

/* Answers the program, with a row or a refusal. */
void reserve_serve(struct reserves *r, void *client, const struct msg_local_reserve *wish);
/* The holder of the leases of that reservation; NULL: there is none. */
void *reserve_holder(struct reserves *r, const struct id *reservation);
/* The nth one, for others; false: there are fewer. */
bool reserve_describe(const struct reserves *r, size_t nth, struct part_grid_job *out);
/* The program is gone, and with it those of its reservations that do not stay. */
void reserve_forget(struct reserves *r, const void *client);
/* A lease had that owner; false: the owner is no reservation. */
bool reserve_hears(struct reserves *r, const void *owner, const struct msg_local_event *event);
#endif
