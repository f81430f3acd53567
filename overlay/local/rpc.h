/* SPDX-License-Identifier: BSD-3-Clause */
/* rpc.h -- calls of programs on the local socket, except allocating and launching: reservations,
 * the roster of jobs, notices, topologies, lines for the log. */
#ifndef P2P_OVERLAY_LOCAL_RPC_H
#define P2P_OVERLAY_LOCAL_RPC_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include <stdbool.h>
#include <sys/types.h>

struct node;
struct borrowed;
struct searches;
struct grant;
struct notices;
struct walks;
struct rpc;
struct link_peer;
typedef void rpc_say_fn(void *client, const struct message *m);

/* What it is given of the daemon's other parts. */
struct rpc_parts {
    struct borrowed *borrowed;
    struct searches *searches;
    struct walks *walks;
    const struct grant *grant;
};

int rpc_open(struct rpc **out, struct node *node, const struct rpc_parts *parts, rpc_say_fn *say,
             struct err *e);
void rpc_close(struct rpc *x);
/* pid: of the program. */
/* False: the message is not for it. */
bool rpc_take(struct rpc *x, void *client, pid_t pid, const struct message *m);
/* Another daemon's topology, or its question for this one's; what it says of results and jobs. */
void rpc_hear(struct rpc *x, const struct link_peer *from, const struct message *m);
void rpc_forget(struct rpc *x, const void *client);
/* The holder of the leases to be found: the client itself, or a reservation. NULL: there is no such
 * reservation. */
void *rpc_holder(struct rpc *x, void *client, const struct msg_local_allocate *want, struct err *e);
struct notices *rpc_notices(const struct rpc *x); /* until it is closed */
/* The rows of the user's jobs, said to that client; and what was counted since the daemon began. */
void rpc_jobs(const struct rpc *x, void *client, uint32_t token);
void rpc_totals(const struct rpc *x, struct msg_local_totals *out);
/* An event for a reservation; false: the owner is a program. */
bool rpc_event(struct rpc *x, const void *owner, const struct msg_local_event *event);
#endif
