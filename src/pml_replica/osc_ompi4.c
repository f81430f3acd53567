/* SPDX-License-Identifier: BSD-3-Clause */
/* osc_ompi4.c -- one-sided calls, as requests to the target's agent (window.h).
 *
 * Data are packed when the call is made, so a put or an accumulate is complete for its caller at
 * once; what brings data back is complete when the reply is here. Replies of a target come in the
 * order of the requests, so one to a FLUSH says that all before it is done. */
#include "window.h"
#include "ompi/mca/osc/base/base.h"

enum { PRIORITY = 100 };

static inline struct window *window_of(const ompi_win_t *win)
{
    return (struct window *)win->w_osc_module;
}

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
    transfer_begin(&p->transfer);
}

/* A request to oneself is served at once, but not before all copies hold the order that it was
 * served in: who spins on its own window must not leave the others behind. */
static void await(struct window *w, int target)
{
    link_enter();
    link_progress();
    while (w->awaited[target] > 0 ||
           (target == w->comm->c_my_rank && !engine_committed(replica.engine)))
        link_wait();
    link_leave();
}

/* --- requests --- */

static void ask(struct window *w, int target, enum request_kind kind, int argument)
{
    struct outgoing *o = outgoing_new(REQUEST_WORDS * sizeof(uint64_t));
    uint64_t head[REQUEST_WORDS] = {[KIND] = kind, [OP] = (uint64_t)argument};
    memcpy(o->bytes, head, sizeof head);
    outgoing_send(w, target, TAG_REQUEST, o, sizeof head);
}

static void ask_and_expect(struct window *w, int target, enum request_kind kind, int argument)
{
    expect(w, target, NULL, 0, NULL, NULL);
    ask(w, target, kind, argument);
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
                                    [DATA_BYTES] = length};
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

/* --- passive target --- */

static int flush(int target, ompi_win_t *win)
{
    struct window *w = window_of(win);
    if (w->dirty[target])
        ask_and_expect(w, target, FLUSH, 0);
    await(w, target);
    return OMPI_SUCCESS;
}

static int flush_all(ompi_win_t *win)
{
    struct window *w = window_of(win);
    for (int i = 0; i < w->size; i++)
        if (w->dirty[i])
            ask_and_expect(w, i, FLUSH, 0);
    for (int i = 0; i < w->size; i++)
        await(w, i);
    return OMPI_SUCCESS;
}

static int lock(int type, int target, int assertion, ompi_win_t *win)
{
    struct window *w = window_of(win);
    w->locked[target] = !(assertion & MPI_MODE_NOCHECK);
    if (w->locked[target])
        ask_and_expect(w, target, LOCK, type);
    await(w, target);
    return OMPI_SUCCESS;
}

static int unlock(int target, ompi_win_t *win)
{
    struct window *w = window_of(win);
    if (!w->locked[target])
        return flush(target, win);
    w->locked[target] = false;
    ask_and_expect(w, target, UNLOCK, 0);
    await(w, target);
    return OMPI_SUCCESS;
}

/* In the order of ranks, so that nobody waits in a circle with one who locks exclusively. */
static int lock_all(int assertion, ompi_win_t *win)
{
    for (int i = 0; i < window_of(win)->size; i++)
        lock(MPI_LOCK_SHARED, i, assertion, win);
    return OMPI_SUCCESS;
}

static int unlock_all(ompi_win_t *win)
{
    struct window *w = window_of(win);
    for (int i = 0; i < w->size; i++)
        if (w->locked[i])
            ask_and_expect(w, i, UNLOCK, 0);
        else if (w->dirty[i])
            ask_and_expect(w, i, FLUSH, 0);
    for (int i = 0; i < w->size; i++) {
        w->locked[i] = false;
        await(w, i);
    }
    return OMPI_SUCCESS;
}

static int synchronize(ompi_win_t *win)
{
    (void)win;
    link_progress();
    return OMPI_SUCCESS;
}

/* --- active target --- */

static int fence(int assertion, ompi_win_t *win)
{
    (void)assertion;
    struct window *w = window_of(win);
    flush_all(win);
    return w->comm->c_coll->coll_barrier(w->comm, w->comm->c_coll->coll_barrier_module);
}

/* The rank in the window's communicator of each member, one after the other. */
static int member(const struct window *w, ompi_group_t *group, int i)
{
    int rank = MPI_UNDEFINED;
    ompi_group_translate_ranks(group, 1, &i, w->comm->c_local_group, &rank);
    return rank;
}

static int post(ompi_group_t *group, int assertion, ompi_win_t *win)
{
    (void)assertion;
    struct window *w = window_of(win);
    OBJ_RETAIN(group);
    w->exposed = group;
    for (int i = 0; i < group->grp_proc_count; i++)
        ask(w, member(w, group, i), POST, 0);
    return OMPI_SUCCESS;
}

static int start(ompi_group_t *group, int assertion, ompi_win_t *win)
{
    (void)assertion;
    struct window *w = window_of(win);
    OBJ_RETAIN(group);
    w->accessed = group;
    for (int i = 0; i < group->grp_proc_count; i++) {
        int target = member(w, group, i);
        while (w->posts[target] == 0)
            link_wait();
        w->posts[target]--;
    }
    return OMPI_SUCCESS;
}

static int complete(ompi_win_t *win)
{
    struct window *w = window_of(win);
    if (w->accessed == NULL)
        return OMPI_ERR_RMA_SYNC;
    for (int i = 0; i < w->accessed->grp_proc_count; i++) {
        int target = member(w, w->accessed, i);
        await(w, target);
        ask(w, target, COMPLETE, 0);
        w->dirty[target] = false;
    }
    OBJ_RELEASE(w->accessed);
    w->accessed = NULL;
    return OMPI_SUCCESS;
}

static bool all_completed(void *ctx)
{
    const struct window *w = ctx;
    for (int i = 0; i < w->exposed->grp_proc_count; i++)
        if (w->completes[member(w, w->exposed, i)] == 0)
            return false;
    return true;
}

static int wait_for_all(ompi_win_t *win)
{
    struct window *w = window_of(win);
    if (w->exposed == NULL)
        return OMPI_ERR_RMA_SYNC;
    while (!all_completed(w))
        link_wait();
    for (int i = 0; i < w->exposed->grp_proc_count; i++)
        w->completes[member(w, w->exposed, i)]--;
    OBJ_RELEASE(w->exposed);
    w->exposed = NULL;
    return OMPI_SUCCESS;
}

static int test_for_all(ompi_win_t *win, int *flag)
{
    struct window *w = window_of(win);
    *flag = w->exposed != NULL && outcome_test(all_completed, w);
    return *flag ? wait_for_all(win) : w->exposed != NULL ? OMPI_SUCCESS : OMPI_ERR_RMA_SYNC;
}

/* --- windows --- */

static int shared_query(ompi_win_t *win, int rank, size_t *size, int *unit, void *base)
{
    struct window *w = window_of(win);
    (void)rank;
    if (win->w_flavor != MPI_WIN_FLAVOR_SHARED)
        return MPI_ERR_WIN;
    *size = w->bytes;
    *unit = w->unit;
    *(void **)base = w->base;
    return OMPI_SUCCESS;
}

static int attach(ompi_win_t *win, void *base, size_t size)
{
    (void)win, (void)base, (void)size;
    return OMPI_SUCCESS;
}

static int detach(ompi_win_t *win, const void *base)
{
    (void)win, (void)base;
    return OMPI_SUCCESS;
}

static void window_release(struct window *w)
{
    if (w->owned)
        free(w->base);
    free(w->posts);
    free(w->completes);
    free(w->awaited);
    free(w->dirty);
    free(w->locked);
    free(w);
}

static int window_free(ompi_win_t *win)
{
    struct window *w = window_of(win);
    fence(0, win);
    ask(w, w->comm->c_my_rank, STOP, 0);
    link_enter();
    while (!w->stopped)
        link_wait();
    engine_comm_free(replica.engine, w->wire);
    link_leave();
    ompi_comm_free(&w->comm);
    window_release(w);
    win->w_osc_module = NULL;
    return OMPI_SUCCESS;
}

static const ompi_osc_base_module_t calls = {.osc_win_shared_query = shared_query,
                                             .osc_win_attach = attach,
                                             .osc_win_detach = detach,
                                             .osc_free = window_free,
                                             .osc_put = put,
                                             .osc_get = get,
                                             .osc_accumulate = accumulate,
                                             .osc_compare_and_swap = compare_and_swap,
                                             .osc_fetch_and_op = fetch_and_op,
                                             .osc_get_accumulate = get_accumulate,
                                             .osc_rput = rput,
                                             .osc_rget = rget,
                                             .osc_raccumulate = raccumulate,
                                             .osc_rget_accumulate = rget_accumulate,
                                             .osc_fence = fence,
                                             .osc_start = start,
                                             .osc_complete = complete,
                                             .osc_post = post,
                                             .osc_wait = wait_for_all,
                                             .osc_test = test_for_all,
                                             .osc_lock = lock,
                                             .osc_unlock = unlock,
                                             .osc_lock_all = lock_all,
                                             .osc_unlock_all = unlock_all,
                                             .osc_sync = synchronize,
                                             .osc_flush = flush,
                                             .osc_flush_all = flush_all,
                                             .osc_flush_local = flush,
                                             .osc_flush_local_all = flush_all};

static struct window *window_new(int size)
{
    struct window *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    w->size = size;
    w->posts = calloc((size_t)size, sizeof *w->posts);
    w->completes = calloc((size_t)size, sizeof *w->completes);
    w->awaited = calloc((size_t)size, sizeof *w->awaited);
    w->dirty = calloc((size_t)size, sizeof *w->dirty);
    w->locked = calloc((size_t)size, sizeof *w->locked);
    if (w->posts && w->completes && w->awaited && w->dirty && w->locked)
        return w;
    window_release(w);
    return NULL;
}

static int query(ompi_win_t *win, void **base, size_t size, int unit, ompi_communicator_t *comm,
                 opal_info_t *info, int flavor)
{
    (void)win, (void)base, (void)size, (void)unit, (void)comm, (void)info, (void)flavor;
    return replica.engine != NULL ? PRIORITY : OMPI_ERR_NOT_SUPPORTED;
}

static int choose(ompi_win_t *win, void **base, size_t size, int unit, ompi_communicator_t *comm,
                  opal_info_t *info, int flavor, int *model)
{
    (void)info;
    if (flavor == MPI_WIN_FLAVOR_SHARED && ompi_comm_size(comm) > 1)
        return comm_refuse(comm, 0, MPI_ERR_RMA_SHARED, "MPI_Win_allocate_shared");
    if (flavor == MPI_WIN_FLAVOR_DYNAMIC && replica.params.verify)
        return comm_refuse(comm, 0, MPI_ERR_WIN,
                           "MPI_Win_create_dynamic with pml_replica_verify 1");
    struct window *w = window_new(ompi_comm_size(comm));
    if (w == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    w->super = calls;
    w->bytes = size;
    w->unit = unit;
    w->anywhere = flavor == MPI_WIN_FLAVOR_DYNAMIC;
    w->owned = flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED;
    if (w->owned)
        *base = calloc(1, size > 0 ? size : 1);
    w->base = w->anywhere ? NULL : *base;
    int rc = w->owned && *base == NULL ? OMPI_ERR_OUT_OF_RESOURCE : ompi_comm_dup(comm, &w->comm);
    if (rc != OMPI_SUCCESS) {
        window_release(w);
        return rc;
    }
    link_enter();
    w->wire = engine_comm_twin(replica.engine, comm_of(w->comm), true);
    window_listen(w);
    link_leave();
    win->w_osc_module = &w->super;
    *model = MPI_WIN_UNIFIED;
    return w->comm->c_coll->coll_barrier(w->comm, w->comm->c_coll->coll_barrier_module);
}

static int init(bool progress_threads, bool threads)
{
    (void)progress_threads, (void)threads;
    return OMPI_SUCCESS;
}

static int finalize(void)
{
    return OMPI_SUCCESS;
}

extern ompi_osc_base_component_2_0_0_t mca_osc_replica_component;
ompi_osc_base_component_2_0_0_t mca_osc_replica_component = {
    .osc_version = {OMPI_OSC_BASE_VERSION_3_0_0, .mca_component_name = "replica",
                    MCA_BASE_MAKE_VERSION(component, 0, 1, 0)},
    .osc_data = {MCA_BASE_METADATA_PARAM_NONE},
    .osc_init = init,
    .osc_query = query,
    .osc_select = choose,
    .osc_finalize = finalize,
};
