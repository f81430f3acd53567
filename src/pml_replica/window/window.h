/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h -- one-sided communication by requests that the target serves in one order.
 *
 * osc_ompi4.c        windows: made and freed
 * operation_ompi4.c  the calls: every operation becomes a request to the target, also to oneself
 * epoch_ompi4.c      locks, fences, groups: when operations are done
 * reply_ompi4.c      replies: waited for, or gone on without
 * window_ompi4.c     the agent: takes requests from any source, one after the other, and replies
 * lock_queue.c       which of them have to wait for a lock
 *
 * The agent's receives are decided by the leader of the target like any from MPI_ANY_SOURCE, so all
 * copies of the target serve the same requests in the same order: puts, accumulates, locks. Nothing
 * else changes the window while others may look at it, so all copies of all ranks see the same.
 *
 * Memory is bounded on both sides. An origin waits, in the call, while more is on its way than its
 * budget allows; it serves its own window meanwhile. A target takes no request while too much of
 * what it replied has not left; an origin takes replies whenever it is in MPI, so that ends.
 *
 * Where another lane's replica is the origin it may be ahead of this lane (future.c). The engine
 * gives its request to the agent when the program is where it may be served (place.c), and the
 * program does not go on without what was served by then. Besides, a request says by how many
 * fences and by how many posts of the target it came, and waits at the target for those; so do all
 * behind it, none of which the other lane has needed to get there. */
#ifndef P2P_SRC_PML_REPLICA_WINDOW_WINDOW_H
#define P2P_SRC_PML_REPLICA_WINDOW_WINDOW_H
#include "budget.h"
#include "lock_queue.h"
#include "src/pml_replica/glue.h"
#include "ompi/mca/osc/osc.h"
#include "ompi/win/win.h"

/* Between copies of one program on one kind of machine: words are as memory has them. KIND has in
 * its upper half the lock that is to be had first (enum lock_type). */
enum request_word { KIND, WHERE, COUNT, OP, TYPE_BYTES, DATA_BYTES, EPOCH, LANE, REQUEST_WORDS };
/* A body of so many bytes comes within its request, one that is longer in a message of its own. */
enum { BODY_WITHIN = 4096 };
enum request_kind {
    PUT,
    GET, /* replied to with data */
    ACCUMULATE,
    GET_ACCUMULATE,   /* with the data before */
    COMPARE_AND_SWAP, /* the same; data: what to compare with, then what to put */
    UNLOCK,           /* replied to, and so is all before it done */
    FLUSH,            /* the same; a lock that it asks for is granted then */
    POST,
    COMPLETE,
    STOP, /* to oneself: the window goes */
};
enum { LOCK_SHIFT = 32 };
enum request_tag { TAG_REQUEST = 1, TAG_BODY, TAG_REPLY };

/* What gives access to a target. */
enum access {
    ACCESS_NONE,
    ACCESS_STARTED, /* no lock, but MPI_Win_start */
    ACCESS_TRUSTED, /* MPI_MODE_NOCHECK: no request was sent */
    ACCESS_WANTED,  /* a lock, which the next request asks for, */
    ACCESS_ASKED,   /* has asked for, */
    ACCESS_LOCKED,  /* and is known to be granted */
};

/* Of a target, to this process as an origin. Numbers are those of the requests there, from 1 on.
 * What is waited for, and where in the program, depends on its calls alone (reply_ompi4.c). */
struct replies {
    uint32_t expected; /* the youngest request that has a reply, */
    uint32_t here;     /* and the youngest whose reply has come */
    bool waits;        /* at the next flush or unlock: since it waited last, the program asked for
                        * data or a request, or gave a long body, which takes memory */
    bool owes;         /* it went on without, from a flush or an unlock: */
    uint32_t owed;     /* the youngest one that it waits for before others can know */
};

struct window {
    ompi_osc_base_module_t super;
    ompi_communicator_t *comm; /* for barriers */
    struct engine_comm *wire;  /* for requests and replies */
    int size;                  /* processes */
    char *base;
    size_t bytes;
    int unit;
    bool owned;   /* base is ours to free */
    bool dynamic; /* the base is address 0, and what is attached is in it */
    /* the agent */
    struct transfer incoming;
    struct request { /* that is being received */
        uint64_t head[REQUEST_WORDS];
        _Alignas(16) char within[BODY_WITHIN];
    } request;
    char *body;     /* of the request: within it, in its place in the window, or */
    char *own_body; /* in memory of its own */
    int source;     /* its sender */
    bool arrived, running, stopped;
    size_t replying; /* bytes of replies that have not left, */
    bool full;       /* so many that no request is taken meanwhile */
    struct lock_queue lock_queue;
    int *posts, *completes; /* by rank: heard, and not yet waited for */
    /* this process as an origin, by target */
    struct budget budget;
    size_t requesting; /* bytes of requests that have not left, as other lanes lack them, say */
    int *awaited;      /* replies, */
    struct replies *replies;
    int *reading; /* and puts that are sent from the program's memory, and are still read there */
    bool *dirty;  /* requests without a reply were sent since the last one with */
    char *locked; /* enum access */
    int locks;    /* targets that are locked; -1: all, by one call */
    enum lock_type lock_type;         /* of the lock that is not known to be granted, */
    int lock_target;                  /* where, */
    unsigned ahead;                   /* and how many requests were sent there since */
    int unsettled;                    /* the one target that it is unsettled with, or SEVERAL */
    bool fence_open;                  /* the last fence has opened all of them */
    uint32_t *asked;                  /* requests sent, */
    uint32_t served;                  /* and, as a target, taken: in all, as the next */
    ompi_group_t *exposed, *accessed; /* post, start */
    /* How many times: a fence was begun, and was over; by rank, it was posted to, and started. */
    uint32_t fences, fenced, *posted, *started;
    bool early; /* the agent has a request that comes before this process's epoch */
};

void window_listen(struct window *w);
void window_step(void);               /* the program comes further, */
void window_resume(struct window *w); /* so far that what was early may not be any more */
/* For the request's EPOCH. */
static inline uint64_t window_epoch(const struct window *w, int target)
{
    return (uint64_t)w->fenced << 32 | w->started[target];
}
/* In a body, of a description of so many bytes: what follows is aligned. */
static inline size_t description_room(size_t described)
{
    return (described + 15) / 16 * 16;
}
static inline struct window *window_of(const ompi_win_t *win)
{
    return (struct window *)win->w_osc_module;
}

/* Memory as a call names it. NULL is an address like any other: MPI_BOTTOM, where the type has the
 * addresses. There are no data where they have no length, and the type may be none then. */
struct buffer {
    void *at;
    int count;
    ompi_datatype_t *type;
};

/* operation_ompi4.c */
void operations_fill(ompi_osc_base_module_t *calls);
/* A request without data; one that is replied to. */
void window_request(struct window *w, int target, enum request_kind kind);
void window_request_reply(struct window *w, int target, enum request_kind kind);
/* The lock that MPI_Win_lock was called for last is granted when this returns. */
void window_await_lock(void);

/* reply_ompi4.c */
ompi_request_t *reply_request_make(ompi_win_t *win);
int reply_request_free(ompi_request_t **request);
/* The reply to the request that comes next, which costs so much. request: to complete, or NULL. */
void reply_expect(struct window *w, int target, const struct buffer *result, size_t cost,
                  ompi_request_t *request);
/* Until all replies of the target are here, and the program's memory is its own again; until so few
 * requests have no reply that the target may keep them all for a lock. */
void window_await_replies(struct window *w, int target);
void window_await_room_at(struct window *w, int target);
/* A flush or an unlock is over for the program; and the program turns to a target. */
enum { SEVERAL = -1 };
void window_leave(struct window *w, int target);
void window_turn_to(struct window *w, int target);

/* epoch_ompi4.c */
void epochs_fill(ompi_osc_base_module_t *calls);
int epoch_fence(int assertion, ompi_win_t *win);
bool epoch_allows(const struct window *w, int target); /* an operation there, now */

/* A message in memory of its own, freed when it is sent. Its bytes are for the caller to fill. */
struct outgoing {
    struct transfer transfer;
    struct window *of;
    size_t *account; /* of the window: where it is counted until it has left */
    size_t room;     /* bytes */
    int *reading;    /* of the window, where the bytes are the program's; or NULL */
    _Alignas(16) char bytes[];
};
struct outgoing *outgoing_new(size_t length);
void outgoing_send(struct window *w, int to, int tag, struct outgoing *o, size_t length);
/* Bytes of the caller's, which may change as soon as this returns; from the program's memory, where
 * they may when w->reading[to] is 0. */
void window_send(struct window *w, int to, int tag, const void *bytes, size_t length);
void window_send_in_place(struct window *w, int to, int tag, const void *bytes, size_t length);

static inline size_t packed_length(const struct buffer *b)
{
    return b->count > 0 ? (size_t)b->count * b->type->super.size : 0;
}
/* Where they begin, if they lie in one piece; or NULL. */
static inline char *buffer_piece(const struct buffer *b)
{
    return transfer_in_one_piece(b->type, (size_t)b->count) ? (char *)b->at + b->type->super.true_lb
                                                            : NULL;
}
/* To and from one piece; as many of its bytes as there are. */
void buffer_pack(const struct buffer *b, void *bytes);
void buffer_unpack(const struct buffer *b, const void *bytes, size_t length);
#endif
