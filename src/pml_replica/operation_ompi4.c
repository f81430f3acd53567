/* SPDX-License-Identifier: BSD-3-Clause */
/* operation_ompi4.c -- one-sided operations, as requests to the target's agent (window.h).
 *
 * Data are packed when the call is made, so a put or an accumulate is complete for its caller at
 * once; what brings data back is complete when the reply is here. Replies of a target come in the
 * order of the requests, so one to a FLUSH says that all before it is done. */
#include "window.h"

/* --- replies --- */

struct pending {
    struct transfer transfer;
    struct window *window;
    int target;
    void *memory; /* where the data go, NULL: there are none */
    int count;
    ompi_datatype_t *type;
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
    if (p->memory != NULL) {
        unpack(p->memory, p->count, p->type, p->bytes);
        OMPI_DATATYPE_RELEASE(p->type);
    }
    p->window->awaited[p->target]--;
    if (p->request != NULL)
        ompi_request_complete(p->request, true);
    free(p);
}

/* The reply to the request that comes next. */
static void expect(struct window *w, int target, void *memory, int count, ompi_datatype_t *type,
                   ompi_request_t *request)
{
    size_t length = memory != NULL ? packed_length(count, type) : 0;
    struct pending *p = calloc(1, sizeof *p + length);
    if (p == NULL) {
        link_stop(NULL, 1, "no memory for one-sided communication");
        return;
    }
    p->window = w;
    p->target = target;
    p->memory = memory;
    p->count = count;
    p->type = type;
    p->request = request;
    if (memory != NULL)
        OMPI_DATATYPE_RETAIN(type);
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
    link_leave();
}

/* --- requests --- */

void window_ask(struct window *w, int target, enum request_kind kind, int argument)
{
    struct outgoing *o = outgoing_new(REQUEST_WORDS * sizeof(uint64_t));
    uint64_t head[REQUEST_WORDS] = {
        [KIND] = kind, [OP] = (uint64_t)argument, [EPOCH] = window_epoch(w, target)};
    memcpy(o->bytes, head, sizeof head);
    outgoing_send(w, target, TAG_REQUEST, o, sizeof head);
}

void window_ask_and_expect(struct window *w, int target, enum request_kind kind, int argument)
{
    expect(w, target, NULL, 0, NULL, NULL);
    window_ask(w, target, kind, argument);
}

/* What an operation is about: at the target, and the data that go there. */
struct operation {
    enum request_kind kind;
    ptrdiff_t where;
    int count;
    ompi_datatype_t *type;
    MPI_Op op;
    const void *data[2];
    int data_count;
    ompi_datatype_t *data_type;
};

static void issue(struct window *w, int target, const struct operation *o)
{
    size_t described = ompi_datatype_pack_description_length(o->type);
    size_t at = (described + 15) / 16 * 16, length = 0;
    const void *description;
    for (int i = 0; i < 2; i++)
        length += o->data[i] != NULL ? packed_length(o->data_count, o->data_type) : 0;
    uint64_t head[REQUEST_WORDS] = {[KIND] = o->kind,
                                    [WHERE] = (uint64_t)o->where,
                                    [COUNT] = (uint64_t)o->count,
                                    [OP] = (uint64_t)(o->op != NULL ? PMPI_Op_c2f(o->op) : 0),
                                    [TYPE_BYTES] = described,
                                    [DATA_BYTES] = length,
                                    [EPOCH] = window_epoch(w, target)};
    struct outgoing *h = outgoing_new(sizeof head), *b = outgoing_new(at + length);
    ompi_datatype_get_pack_description(o->type, &description);
    memcpy(h->bytes, head, sizeof head);
    memcpy(b->bytes, description, described);
    for (int i = 0; i < 2 && o->data[i] != NULL; i++) {
        pack(o->data[i], o->data_count, o->data_type, b->bytes + at);
        at += packed_length(o->data_count, o->data_type);
    }
    if (o->kind == PUT || o->kind == ACCUMULATE)
        w->dirty[target] = true;
    outgoing_send(w, target, TAG_REQUEST, h, sizeof head);
    outgoing_send(w, target, TAG_BODY, b, at);
}

static int put(const void *origin, int origin_count, ompi_datatype_t *origin_type, int target,
               ptrdiff_t where, int count, ompi_datatype_t *type, ompi_win_t *win)
{
    issue(window_of(win), target,
          &(struct operation){PUT, where, count, type, NULL, {origin}, origin_count, origin_type});
    return OMPI_SUCCESS;
}

static int accumulate(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                      int target, ptrdiff_t where, int count, ompi_datatype_t *type, MPI_Op op,
                      ompi_win_t *win)
{
    issue(window_of(win), target,
          &(struct operation){
              ACCUMULATE, where, count, type, op, {origin}, origin_count, origin_type});
    return OMPI_SUCCESS;
}

static int fetch(enum request_kind kind, const void *data[2], int data_count,
                 ompi_datatype_t *data_type, void *result, int result_count,
                 ompi_datatype_t *result_type, int target, ptrdiff_t where, int count,
                 ompi_datatype_t *type, MPI_Op op, ompi_win_t *win, ompi_request_t **request)
{
    struct window *w = window_of(win);
    if (request != NULL)
        *request = request_make(win);
    expect(w, target, result, result_count, result_type, request != NULL ? *request : NULL);
    struct operation o = {kind, where, count, type, op, {data[0], data[1]}, data_count, data_type};
    issue(w, target, &o);
    return OMPI_SUCCESS;
}

static int rget(void *origin, int origin_count, ompi_datatype_t *origin_type, int target,
                ptrdiff_t where, int count, ompi_datatype_t *type, ompi_win_t *win,
                ompi_request_t **request)
{
    const void *none[2] = {NULL, NULL};
    return fetch(GET, none, 0, NULL, origin, origin_count, origin_type, target, where, count, type,
                 NULL, win, request);
}

static int get(void *origin, int origin_count, ompi_datatype_t *origin_type, int target,
               ptrdiff_t where, int count, ompi_datatype_t *type, ompi_win_t *win)
{
    return rget(origin, origin_count, origin_type, target, where, count, type, win, NULL);
}

static int rget_accumulate(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                           void *result, int result_count, ompi_datatype_t *result_type, int target,
                           ptrdiff_t where, int count, ompi_datatype_t *type, MPI_Op op,
                           ompi_win_t *win, ompi_request_t **request)
{
    const void *data[2] = {op != MPI_NO_OP ? origin : NULL, NULL};
    return fetch(GET_ACCUMULATE, data, origin_count, origin_type, result, result_count, result_type,
                 target, where, count, type, op, win, request);
}

static int get_accumulate(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                          void *result, int result_count, ompi_datatype_t *result_type, int target,
                          ptrdiff_t where, int count, ompi_datatype_t *type, MPI_Op op,
                          ompi_win_t *win)
{
    return rget_accumulate(origin, origin_count, origin_type, result, result_count, result_type,
                           target, where, count, type, op, win, NULL);
}

static int fetch_and_op(const void *origin, void *result, ompi_datatype_t *type, int target,
                        ptrdiff_t where, MPI_Op op, ompi_win_t *win)
{
    return get_accumulate(origin, 1, type, result, 1, type, target, where, 1, type, op, win);
}

static int compare_and_swap(const void *origin, const void *compare, void *result,
                            ompi_datatype_t *type, int target, ptrdiff_t where, ompi_win_t *win)
{
    const void *data[2] = {compare, origin};
    return fetch(COMPARE_AND_SWAP, data, 1, type, result, 1, type, target, where, 1, type, NULL,
                 win, NULL);
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
