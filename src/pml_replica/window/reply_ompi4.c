/* SPDX-License-Identifier: BSD-3-Clause */
/* reply_ompi4.c -- replies of targets: expected, waited for, and where the program goes on without
 * them. Those of a target come in the order of the requests, so one to a FLUSH says that all before
 * it is done. */
#include "window.h"

struct expected_reply {
    struct transfer transfer;
    struct window *window;
    int target;
    struct buffer result;    /* where the data go, if they are not received there */
    size_t back;             /* to the budget */
    ompi_request_t *request; /* to complete, or NULL */
    uint32_t number;         /* of the request */
    _Alignas(16) char bytes[];
};

int reply_request_free(ompi_request_t **request)
{
    OMPI_REQUEST_FINI(*request);
    OBJ_RELEASE(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

static int reply_request_cancel(ompi_request_t *request, int flag)
{
    (void)request, (void)flag;
    return MPI_ERR_REQUEST;
}

ompi_request_t *reply_request_make(ompi_win_t *win)
{
    ompi_request_t *r = OBJ_NEW(ompi_request_t);
    OMPI_REQUEST_INIT(r, false);
    r->req_type = OMPI_REQUEST_WIN;
    r->req_state = OMPI_REQUEST_ACTIVE;
    r->req_free = reply_request_free;
    r->req_cancel = reply_request_cancel;
    r->req_mpi_object.win = win;
    r->req_status = ompi_status_empty;
    r->req_status.MPI_ERROR = MPI_SUCCESS;
    return r;
}

static void reply_arrived(struct transfer *t)
{
    struct expected_reply *p = (struct expected_reply *)t;
    if (t->receive.data == p->bytes && t->receive.capacity > 0) {
        buffer_unpack(&p->result, p->bytes, t->receive.status.length);
        OMPI_DATATYPE_RELEASE(p->result.type);
    }
    struct replies *r = &p->window->replies[p->target];
    p->window->awaited[p->target]--;
    if ((int32_t)(p->number - r->here) > 0) /* a long one may be here later than the next */
        r->here = p->number;
    budget_give_back(&p->window->budget, p->back);
    if (p->request != NULL)
        ompi_request_complete(p->request, true);
    free(p);
}

void reply_expect(struct window *w, int target, const struct buffer *result, size_t cost,
                  ompi_request_t *request)
{
    const size_t length = packed_length(result);
    char *piece = length > 0 ? buffer_piece(result) : NULL;
    struct expected_reply *p = malloc(sizeof *p + (piece == NULL ? length : 0));
    if (p == NULL) {
        link_stop(NULL, 1, "no memory for one-sided communication");
        return;
    }
    p->transfer = (struct transfer){.done = reply_arrived};
    p->window = w;
    p->target = target;
    p->result = *result;
    p->back = budget_ask(&w->budget, target, cost);
    p->request = request;
    p->number = w->asked[target] + 1;
    if (piece == NULL && length > 0)
        OMPI_DATATYPE_RETAIN(result->type);
    w->awaited[target]++;
    struct replies *r = &w->replies[target];
    r->expected = p->number;
    r->waits |= length > 0 || request != NULL;
    w->dirty[target] = false;
    p->transfer.receive.comm = w->wire;
    p->transfer.receive.from = target;
    p->transfer.receive.tag = TAG_REPLY;
    p->transfer.receive.capacity = length;
    p->transfer.receive.data = piece != NULL ? piece : p->bytes;
    p->transfer.receive.awaited = true;
    transfer_begin(&p->transfer);
}

/* A request to oneself is served at once, but not before all replicas hold the order that it was
 * served in: a rank that spins on its own window must not leave the others behind. */
void window_await_replies(struct window *w, int target)
{
    link_enter();
    while (w->awaited[target] > 0 || w->reading[target] > 0 ||
           (target == w->comm->c_my_rank && !engine_committed(replica.engine)))
        link_wait();
    link_catch_up();
    link_leave();
    struct replies *r = &w->replies[target];
    r->waits = r->owes = false;
}

/* --- what the program need not wait for yet --- */

/* That a flush or an unlock is over can be known only by what this process does next. As long as it
 * goes on with the same target, to which all comes in order, it waits for nothing.
 *
 * Where it waits, and for which replies, is the same in all lanes, whether they have come or not:
 * one that is not the leader's may wait for no more than the leader's did. The target serves in
 * the order of its leader's lane, in which a request that this process had sent there, without that
 * wait, comes before what the reply takes: the lock that another origin gives back, say. */

static uint32_t replies_missing(const struct window *w, int target)
{
    return w->awaited[target] > 0 ? w->asked[target] - w->replies[target].here : 0;
}

void window_await_room_at(struct window *w, int target)
{
    link_enter();
    while (replies_missing(w, target) >= LOCK_AHEAD)
        link_wait();
    link_leave();
}

static void replies_await_owed(struct window *w, int target)
{
    struct replies *r = &w->replies[target];
    link_enter();
    while (r->owes && (int32_t)(r->here - r->owed) < 0)
        link_wait();
    link_catch_up();
    link_leave();
    r->owes = false;
}

/* All of them except one, or SEVERAL: all. */
static void window_settle_except(struct window *w, int target)
{
    for (int i = 0; i < w->size; i++)
        if (i != target && (w->unsettled == SEVERAL || w->unsettled == i))
            replies_await_owed(w, i);
    w->unsettled = target;
    if (target == SEVERAL || !w->replies[target].owes)
        replica.unsettled = NULL;
}

void window_settle(void)
{
    if (replica.unsettled != NULL)
        window_settle_except(replica.unsettled, SEVERAL);
}

void window_turn_to(struct window *w, int target)
{
    if (replica.unsettled == NULL || (replica.unsettled == w && w->unsettled == target))
        return;
    window_settle_except(replica.unsettled, replica.unsettled == w ? target : SEVERAL);
}

/* So many replies of a target may be under way: each has a receive, and a request that comes is
 * looked for among them. */
enum { REPLIES_AHEAD = 32 };

/* The program waits for what it sees something of; for itself, since it sees its own window; and
 * for what is long: to go on would take fresh memory each time, which is not in the cache. */
void window_leave(struct window *w, int target)
{
    struct replies *r = &w->replies[target];
    if (r->waits || target == w->comm->c_my_rank) {
        window_await_replies(w, target);
        return;
    }
    if (replica.unsettled != NULL && replica.unsettled != w)
        window_settle();
    w->unsettled = replica.unsettled == NULL || w->unsettled == target ? target : SEVERAL;
    replica.unsettled = w;
    r->owes = true;
    r->owed = r->expected;
    link_enter();
    while (w->awaited[target] > REPLIES_AHEAD)
        link_wait();
    link_leave();
}
