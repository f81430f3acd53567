/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.h -- mpirun's one connection to the local daemon. It holds every lease of the job: when it
 * closes, whatever the reason, all of them end. Asking takes seconds, so a thread of its own does
 * it; mpirun goes on answering signals. */
#ifndef P2P_SRC_COMMON_GRID_H
#define P2P_SRC_COMMON_GRID_H
#include "overlay/client/p2pgrid.h"

struct grid;

struct answer {
    struct grid_lease *leases; /* owned; nearest first, the spares last */
    size_t count;              /* spares included */
    size_t spares;
    struct err err; /* err.code 0: served */
};

void answer_clear(struct answer *answer);

/* socket NULL: where the daemon listens by default. */
int grid_open(struct grid **out, const char *socket, struct err *e);

/* Ends every lease. While a question is on its way the connection is left to the end of the
 * process, which is near then. */
void grid_close(struct grid *g);

/* The connection, for everything but asking; not to be touched while grid_busy(). */
struct client *grid_client(struct grid *g);

/* Copies the request, and what it points to. -EBUSY while another question is on its way. */
int grid_ask(struct grid *g, const struct request *request, struct err *e);
bool grid_busy(const struct grid *g);

/* While a question is on its way that waits for slots: the last line on how it does. False: there
 * is none. */
bool grid_waiting(struct grid *g, char *line, size_t size);

/* Something else that takes its time: `work` has the connection, in the thread. -EBUSY. Once
 * grid_answer_fd() is readable, grid_worked() gives the connection back. */
typedef void grid_work_fn(struct client *client, void *ctx);
int grid_work(struct grid *g, grid_work_fn *work, void *ctx, struct err *e);
void grid_worked(struct grid *g);

/* Readable once the answer is there; then grid_answer() hands it over, and the caller owns it. */
int grid_answer_fd(const struct grid *g);
void grid_answer(struct grid *g, struct answer *answer);
#endif
