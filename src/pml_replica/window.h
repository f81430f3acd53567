/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h -- one-sided communication by requests that the target serves in one order.
 *
 * osc_ompi4.c        windows: made and freed
 * operation_ompi4.c  the calls: every operation becomes a request to the target, also to oneself
 * epoch_ompi4.c      locks, fences, groups: when operations are done
 * window_ompi4.c     the agent: takes requests from any source, one after the other, and replies
 *
 * The agent's receives are decided by the leader of the target like any from MPI_ANY_SOURCE, so all
 * copies of the target serve the same requests in the same order: puts, accumulates, locks. Nothing
 * else changes the window while others may look at it, so all copies of all ranks see the same. */
#ifndef P2P_WINDOW_H
#define P2P_WINDOW_H
#include "glue.h"
#include "ompi/mca/osc/osc.h"
#include "ompi/win/win.h"

/* Between copies of one program on one kind of machine: words are as memory has them. */
enum request_word { KIND, WHERE, COUNT, OP, TYPE_BYTES, DATA_BYTES, REQUEST_WORDS };
enum request_kind {
    PUT,
    GET, /* replied to with data */
    ACCUMULATE,
    GET_ACCUMULATE,   /* with the data before */
    COMPARE_AND_SWAP, /* the same; data: what to compare with, then what to put */
    LOCK,             /* replied to when it is granted; OP: MPI_LOCK_SHARED or _EXCLUSIVE */
    UNLOCK,           /* replied to, and so is all before it done */
    FLUSH,            /* the same */
    POST,
    COMPLETE,
    STOP, /* to oneself: the window goes */
};
enum request_tag { TAG_REQUEST = 1, TAG_BODY, TAG_REPLY };

enum held { NOT_HELD, TRUSTED /* MPI_MODE_NOCHECK: no request was sent */, GRANTED };

struct waiting { /* for a lock */
    struct waiting *next;
    int source, type;
};

struct window {
    ompi_osc_base_module_t super;
    ompi_communicator_t *comm; /* for barriers */
    struct engine_comm *wire;  /* for requests and replies */
    int size;                  /* processes */
    char *base;
    size_t bytes;
    int unit;
    bool owned;    /* base is ours to free */
    bool anywhere; /* dynamic: the base is address 0, and all of memory is in it */
    /* the agent */
    struct transfer incoming;
    uint64_t head[REQUEST_WORDS];
    char *body; /* of the request that is being received */
    int source; /* its sender */
    bool arrived, running, stopped;
    /* locks of this window */
    int holders; /* -1: one, exclusively */
    struct waiting *first, **last;
    int *posts, *completes; /* by rank: heard, and not yet waited for */
    /* this process as an origin, by target */
    int *awaited; /* replies */
    bool *dirty;  /* requests without a reply were sent since the last one with */
    char *locked; /* enum held */
    int locks;    /* targets that are locked; -1: all, by one call */
    ompi_group_t *exposed, *accessed; /* post, start */
};

void window_listen(struct window *w);
static inline struct window *window_of(const ompi_win_t *win)
{
    return (struct window *)win->w_osc_module;
}

/* operation_ompi4.c */
void operations_fill(ompi_osc_base_module_t *calls);
/* A request without data; one that is replied to; until all replies of the target are here. */
void window_ask(struct window *w, int target, enum request_kind kind, int argument);
void window_ask_and_expect(struct window *w, int target, enum request_kind kind, int argument);
void window_await(struct window *w, int target);

/* epoch_ompi4.c */
void epochs_fill(ompi_osc_base_module_t *calls);
int epoch_fence(int assertion, ompi_win_t *win);

/* A message in memory of its own, let go when it is sent. */
struct outgoing {
    struct transfer transfer;
    _Alignas(16) char bytes[];
};
struct outgoing *outgoing_new(size_t length);
void outgoing_send(struct window *w, int to, int tag, struct outgoing *o, size_t length);

/* Data of a type, from and to one piece. */
void pack(const void *memory, int count, ompi_datatype_t *type, void *bytes);
void unpack(void *memory, int count, ompi_datatype_t *type, const void *bytes);
static inline size_t packed_length(int count, const ompi_datatype_t *type)
{
    return (size_t)count * type->super.size;
}
#endif
