/* SPDX-License-Identifier: BSD-3-Clause */
/* operation_ompi4.c -- one-sided operations, as requests to the target's agent (window.h).
 *
 * Data are packed when the call is made, so a put or an accumulate is complete for its caller when
 * it returns; what brings data back is complete when the reply is here. Replies of a target come in
 * the order of the requests, so one to a FLUSH says that all before it is done. A call waits while
 * too much is on its way (budget.h). */
#include "window.h"

/* --- replies --- */

struct pending {
    struct transfer transfer;
    struct window *window;
    int target;
    struct buffer result;    /* where the data go */
    size_t back;             /* to the budget */
    ompi_request_t *request; /* to complete, or NULL */
    _Alignas(16) char bytes[];
};

static int request_free(ompi_request_t **request)
{
    OMPI_REQUEST_FINI(*request);
    OBJ_RELEASE(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

static int request_cancel(ompi_request_t *request, int flag)
{
    (void)request, (void)flag;
    return MPI_ERR_REQUEST;
}

static ompi_request_t *request_make(ompi_win_t *win)
{
    ompi_request_t *r = OBJ_NEW(ompi_request_t);
    OMPI_REQUEST_INIT(r, false);
    r->req_type = OMPI_REQUEST_WIN;
    r->req_state = OMPI_REQUEST_ACTIVE;
    r->req_free = request_free;
    r->req_cancel = request_cancel;
    r->req_mpi_object.win = win;
    r->req_status = ompi_status_empty;
    r->req_status.MPI_ERROR = MPI_SUCCESS;
    return r;
}

static void replied(struct transfer *t)
{
    struct pending *p = (struct pending *)t;
    if (t->receive.capacity > 0) {
        unpack(&p->result, p->bytes, t->receive.status.length);
        OMPI_DATATYPE_RELEASE(p->result.type);
    }
    p->window->awaited[p->target]--;
    budget_give_back(&p->window->budget, p->back);
    if (p->request != NULL)
        ompi_request_complete(p->request, true);
    free(p);
}

/* The reply to the request that comes next, which costs so much. */
static void expect(struct window *w, int target, const struct buffer *result, size_t cost,
                   ompi_request_t *request)
{
    const size_t length = packed_length(result);
    struct pending *p = calloc(1, sizeof *p + length);
    if (p == NULL) {
        link_stop(NULL, 1, "no memory for one-sided communication");
        return;
    }
    p->window = w;
    p->target = target;
    p->result = *result;
    p->back = budget_ask(&w->budget, target, cost);
    p->request = request;
    if (length > 0)
        OMPI_DATATYPE_RETAIN(result->type);
    w->awaited[target]++;
    w->dirty[target] = false;
    p->transfer.done = replied;
    p->transfer.receive.comm = w->wire;
    p->transfer.receive.from = target;
    p->transfer.receive.tag = TAG_REPLY;
    p->transfer.receive.capacity = length;
    p->transfer.receive.data = p->bytes;
    p->transfer.receive.awaited = true;
    transfer_begin(&p->transfer);
}

/* A request to oneself is served at once, but not before all copies hold the order that it was
 * served in: who spins on its own window must not leave the others behind. */
void window_await(struct window *w, int target)
{
    link_enter();
    link_progress();
    while (w->awaited[target] > 0 ||
           (target == w->comm->c_my_rank && !engine_committed(replica.engine)))
        link_wait();
    link_catch_up();
    link_leave();
}

/* --- requests --- */

static void count(struct window *w, int target)
{
    w->asked[target]++;
    window_step();
}

void window_ask(struct window *w, int target, enum request_kind kind, int argument)
{
    struct outgoing *o = outgoing_new(REQUEST_WORDS * sizeof(uint64_t));
    uint64_t head[REQUEST_WORDS] = {
        [KIND] = kind, [OP] = (uint64_t)argument, [EPOCH] = window_epoch(w, target)};
    memcpy(o->bytes, head, sizeof head);
    count(w, target);
    outgoing_send(w, target, TAG_REQUEST, o, sizeof head);
}

void window_ask_and_expect(struct window *w, int target, enum request_kind kind, int argument)
{
    const struct buffer nothing = {.count = 0};
    expect(w, target, &nothing, 0, NULL);
    window_ask(w, target, kind, argument);
}

/* What an operation is about: at the target, the data that go there, and those that come back. */
struct operation {
    enum request_kind kind;
    ptrdiff_t where;
    struct buffer there; /* by displacement: where */
    MPI_Op op;
    struct buffer data[2], result;
    ompi_request_t *request; /* that is complete with the reply */
};

static size_t data_length(const struct operation *o)
{
    return packed_length(&o->data[0]) + packed_length(&o->data[1]);
}

static bool is_answered(const struct operation *o)
{
    return o->kind != PUT && o->kind != ACCUMULATE;
}

static void send_request(struct window *w, int target, const struct operation *o)
{
    const size_t described = ompi_datatype_pack_description_length(o->there.type);
    const size_t first = (described + 15) / 16 * 16, second = first + packed_length(&o->data[0]);
    const size_t length = data_length(o);
    const void *description;
    const uint64_t head[REQUEST_WORDS] = {[KIND] = o->kind,
                                          [WHERE] = (uint64_t)o->where,
                                          [COUNT] = (uint64_t)o->there.count,
                                          [OP] = (uint64_t)(o->op != NULL ? PMPI_Op_c2f(o->op) : 0),
                                          [TYPE_BYTES] = described,
                                          [DATA_BYTES] = length,
                                          [EPOCH] = window_epoch(w, target),
                                          [LANE] = (uint64_t)replica.lane};
    struct outgoing *h = outgoing_new(sizeof head), *b = outgoing_new(first + length);
    ompi_datatype_get_pack_description(o->there.type, &description);
    memcpy(h->bytes, head, sizeof head);
    memcpy(b->bytes, description, described);
    pack(&o->data[0], b->bytes + first);
    pack(&o->data[1], b->bytes + second);
    count(w, target);
    outgoing_send(w, target, TAG_REQUEST, h, sizeof head);
    outgoing_send(w, target, TAG_BODY, b, first + length);
}

/* What was answered here may still be needed for a lane that is behind. */
static bool has_room(const struct window *w, size_t cost)
{
    return budget_allows(&w->budget, cost) &&
           (w->requesting == 0 || w->requesting + cost <= w->budget.limit);
}

/* Others are served meanwhile, so that two who wait for each other go on. */
static void await_room(const struct window *w, size_t cost)
{
    link_enter();
    while (!has_room(w, cost))
        link_wait();
    link_leave();
}

static int issue(ompi_win_t *win, int target, const struct operation *o)
{
    enum { RECORDS = 1024 }; /* what a request takes beside the data, about, on each side */
    struct window *w = window_of(win);
    const size_t cost = RECORDS + data_length(o) + packed_length(&o->result);
    ompi_request_t *request = o->request;
    if (!epoch_allows(w, target)) {
        if (request != NULL)
            request_free(&request);
        return OMPI_ERR_RMA_SYNC;
    }
    await_room(w, cost);
    if (is_answered(o)) {
        expect(w, target, &o->result, cost, o->request);
        send_request(w, target, o);
        return OMPI_SUCCESS;
    }
    w->dirty[target] = true;
    send_request(w, target, o);
    if (budget_spend(&w->budget, target, cost))
        window_ask_and_expect(w, target, FLUSH, 0);
    return OMPI_SUCCESS;
}

/* --- the calls --- */

static int put(const void *origin, int origin_count, ompi_datatype_t *origin_type, int target,
               ptrdiff_t where, int count, ompi_datatype_t *type, ompi_win_t *win)
{
    const struct operation o = {.kind = PUT,
                                .where = where,
                                .there = {NULL, count, type},
                                .data = {{(void *)origin, origin_count, origin_type}}};
    return issue(win, target, &o);
}

static int accumulate(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                      int target, ptrdiff_t where, int count, ompi_datatype_t *type, MPI_Op op,
                      ompi_win_t *win)
{
    const struct operation o = {.kind = ACCUMULATE,
                                .where = where,
                                .there = {NULL, count, type},
                                .op = op,
                                .data = {{(void *)origin, origin_count, origin_type}}};
    return issue(win, target, &o);
}

static int get(void *origin, int origin_count, ompi_datatype_t *origin_type, int target,
               ptrdiff_t where, int count, ompi_datatype_t *type, ompi_win_t *win)
{
    const struct operation o = {.kind = GET,
                                .where = where,
                                .there = {NULL, count, type},
                                .result = {origin, origin_count, origin_type}};
    return issue(win, target, &o);
}

static int rget(void *origin, int origin_count, ompi_datatype_t *origin_type, int target,
                ptrdiff_t where, int count, ompi_datatype_t *type, ompi_win_t *win,
                ompi_request_t **request)
{
    const struct operation o = {.kind = GET,
                                .where = where,
                                .there = {NULL, count, type},
                                .result = {origin, origin_count, origin_type},
                                .request = *request = request_make(win)};
    return issue(win, target, &o);
}

/* With MPI_NO_OP the origin's buffer means nothing, nor its type. */
static int fetch(const void *origin, int origin_count, ompi_datatype_t *origin_type, void *result,
                 int result_count, ompi_datatype_t *result_type, int target, ptrdiff_t where,
                 int count, ompi_datatype_t *type, MPI_Op op, ompi_win_t *win,
                 ompi_request_t *request)
{
    const struct operation o = {
        .kind = GET_ACCUMULATE,
        .where = where,
        .there = {NULL, count, type},
        .op = op,
        .data = {{(void *)origin, op != MPI_NO_OP ? origin_count : 0, origin_type}},
        .result = {result, result_count, result_type},
        .request = request};
    return issue(win, target, &o);
}

static int get_accumulate(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                          void *result, int result_count, ompi_datatype_t *result_type, int target,
                          ptrdiff_t where, int count, ompi_datatype_t *type, MPI_Op op,
                          ompi_win_t *win)
{
    return fetch(origin, origin_count, origin_type, result, result_count, result_type, target,
                 where, count, type, op, win, NULL);
}

static int rget_accumulate(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                           void *result, int result_count, ompi_datatype_t *result_type, int target,
                           ptrdiff_t where, int count, ompi_datatype_t *type, MPI_Op op,
                           ompi_win_t *win, ompi_request_t **request)
{
    *request = request_make(win);
    return fetch(origin, origin_count, origin_type, result, result_count, result_type, target,
                 where, count, type, op, win, *request);
}

static int fetch_and_op(const void *origin, void *result, ompi_datatype_t *type, int target,
                        ptrdiff_t where, MPI_Op op, ompi_win_t *win)
{
    return fetch(origin, 1, type, result, 1, type, target, where, 1, type, op, win, NULL);
}

static int compare_and_swap(const void *origin, const void *compare, void *result,
                            ompi_datatype_t *type, int target, ptrdiff_t where, ompi_win_t *win)
{
    const struct operation o = {.kind = COMPARE_AND_SWAP,
                                .where = where,
                                .there = {NULL, 1, type},
                                .data = {{(void *)compare, 1, type}, {(void *)origin, 1, type}},
                                .result = {result, 1, type}};
    return issue(win, target, &o);
}

static int rput(const void *origin, int origin_count, ompi_datatype_t *origin_type, int target,
                ptrdiff_t where, int count, ompi_datatype_t *type, ompi_win_t *win,
                ompi_request_t **request)
{
    *request = &ompi_request_empty;
    return put(origin, origin_count, origin_type, target, where, count, type, win);
}

static int raccumulate(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                       int target, ptrdiff_t where, int count, ompi_datatype_t *type, MPI_Op op,
                       ompi_win_t *win, ompi_request_t **request)
{
    *request = &ompi_request_empty;
    return accumulate(origin, origin_count, origin_type, target, where, count, type, op, win);
}

void operations_fill(ompi_osc_base_module_t *calls)
{
    calls->osc_put = put;
    calls->osc_get = get;
    calls->osc_accumulate = accumulate;
    calls->osc_compare_and_swap = compare_and_swap;
    calls->osc_fetch_and_op = fetch_and_op;
    calls->osc_get_accumulate = get_accumulate;
    calls->osc_rput = rput;
    calls->osc_rget = rget;
    calls->osc_raccumulate = raccumulate;
    calls->osc_rget_accumulate = rget_accumulate;
}
