/* SPDX-License-Identifier: BSD-3-Clause */
/* request_ompi4.c -- MPI requests in the engine's terms: begun, done, completed, given back. */
#include "glue.h"
#include "opal/datatype/opal_convertor.h"
#include "ompi/mca/pml/base/pml_base_bsend.h"
#include "ompi/runtime/ompi_cr.h"

static void request_construct(replica_request_t *r)
{
    OBJ_CONSTRUCT(&r->base.req_convertor, opal_convertor_t);
}

static void request_destruct(replica_request_t *r)
{
    OBJ_DESTRUCT(&r->base.req_convertor);
}

OBJ_CLASS_INSTANCE(replica_request_t, mca_pml_base_request_t, request_construct, request_destruct);

static inline ompi_request_t *mpi_request(replica_request_t *r)
{
    return &r->base.req_ompi;
}

/* --- completion --- */

static void request_recycle(replica_request_t *r)
{
    mca_pml_base_request_t *b = &r->base;
    OMPI_REQUEST_FINI(&b->req_ompi);
    OBJ_RELEASE(b->req_comm);
    if (b->req_count > 0)
        OMPI_DATATYPE_RELEASE(b->req_datatype);
    opal_free_list_return_st(&replica.requests, (opal_free_list_item_t *)r);
}

static void request_complete(replica_request_t *r)
{
    r->base.req_pml_complete = true;
    ompi_request_complete(mpi_request(r), true);
    if (r->base.req_free_called)
        request_recycle(r);
}

/* Callbacks of other layers may call anything, so they are called after the engine was left. */
static void request_done(replica_request_t *r)
{
    if (replica.in_engine && mpi_request(r)->req_complete_cb != NULL)
        opal_list_append(&replica.completed, &mpi_request(r)->super.super);
    else
        request_complete(r);
}

void request_complete_later(void)
{
    opal_list_item_t *i;
    while ((i = opal_list_remove_first(&replica.completed)) != NULL)
        request_complete((replica_request_t *)i);
}

/* What the progress thread finds done stays as it is until the program's next call. */
static bool transfer_leave_for_later(struct transfer *t)
{
    if (replica.in_progress_thread)
        STAILQ_INSERT_TAIL(&replica.later, t, later);
    return replica.in_progress_thread;
}

void transfer_complete_later(void)
{
    struct transfer *t;
    while ((t = STAILQ_FIRST(&replica.later)) != NULL) {
        STAILQ_REMOVE_HEAD(&replica.later, later);
        if (t->is_send)
            transfer_sent(NULL, &t->send);
        else
            transfer_received(NULL, &t->receive);
    }
}

void transfer_sent(void *ctx, struct engine_send *s)
{
    (void)ctx;
    struct transfer *t = (struct transfer *)s;
    if (transfer_leave_for_later(t))
        return;
    if (t->done != NULL) {
        t->done(t);
        return;
    }
    transfer_give_packed(t);
    if (t->request == NULL)
        return;
    /* As of one that was done at once: lanes may differ in that. */
    mpi_request(t->request)->req_status = ompi_request_empty.req_status;
    request_done(t->request);
}

void transfer_received(void *ctx, struct engine_receive *r)
{
    (void)ctx;
    struct transfer *t = (struct transfer *)r;
    if (transfer_leave_for_later(t))
        return;
    if (t->done != NULL) {
        t->done(t);
        return;
    }
    if (t->packed != NULL) {
        size_t n = r->status.length < r->capacity ? r->status.length : r->capacity;
        if (n > 0 && !r->status.cancelled)
            transfer_convert(t->convertor, t->packed, n, false);
        transfer_give_packed(t);
        r->data = NULL; /* the bytes are in the user's buffer alone */
    }
    if (t->request == NULL)
        return;
    status_fill(&mpi_request(t->request)->req_status, &r->status, r->capacity);
    request_done(t->request);
}

/* --- requests --- */

static bool request_is_pending(const replica_request_t *r)
{
    return r->base.req_ompi.req_state == OMPI_REQUEST_ACTIVE && !r->base.req_pml_complete;
}

static bool request_is_receive(const ompi_request_t *request)
{
    return request->req_type == OMPI_REQUEST_PML &&
           ((const replica_request_t *)request)->base.req_type == MCA_PML_REQUEST_RECV;
}

void request_await(ompi_request_t *request)
{
    replica_request_t *r = (replica_request_t *)request;
    if (request->req_type != OMPI_REQUEST_PML)
        return;
    const bool pending = request_is_pending(r);
    if (r->base.req_type == MCA_PML_REQUEST_RECV) {
        if (pending || r->transfer.receive.owed != NULL)
            engine_await(replica.engine, &r->transfer.receive);
    } else if (pending)
        engine_await_send(replica.engine, &r->transfer.send);
}

/* The program will not wait for it any more. */
static int request_free(ompi_request_t **request)
{
    replica_request_t *r = (replica_request_t *)*request;
    if (request_is_pending(r) || engine_owes(replica.engine)) {
        link_enter();
        request_await(*request);
        link_leave();
    }
    if (request_is_pending(r))
        r->base.req_free_called = true;
    else
        request_recycle(r);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

bool request_is_held(const ompi_request_t *request)
{
    const replica_request_t *r = (const replica_request_t *)request;
    return request->req_type == OMPI_REQUEST_PML && !request_is_receive(request) &&
           request_is_pending(r) && r->transfer.send.held && !r->transfer.send.awaited;
}

uint32_t request_what(const ompi_request_t *request)
{
    const mca_pml_base_request_t *b = (const mca_pml_base_request_t *)request;
    if (request->req_type != OMPI_REQUEST_PML || !request_is_active(request) ||
        b->req_type != MCA_PML_REQUEST_RECV)
        return 0;
    return ((uint32_t)b->req_tag * 31 + (uint32_t)b->req_peer) * 31 + 1;
}

bool request_is_ready(const ompi_request_t *request)
{
    const replica_request_t *r = (const replica_request_t *)request;
    return REQUEST_COMPLETE(request) ||
           (request_is_receive(request) && request_is_pending(r) && r->transfer.receive.withheld);
}

/* Only receives are withdrawn; a send that has been started is on its way. */
static int request_cancel(ompi_request_t *request, int flag)
{
    (void)flag;
    replica_request_t *r = (replica_request_t *)request;
    if (r->base.req_type != MCA_PML_REQUEST_RECV)
        return OMPI_SUCCESS;
    int rc;
    link_enter();
    while ((rc = engine_cancel(replica.engine, &r->transfer.receive)) == -EAGAIN)
        link_wait();
    link_leave();
    if (rc == 1)
        request->req_status._cancelled = true;
    return OMPI_SUCCESS;
}

static inline void transfer_name(struct transfer *t, bool is_send, int peer, int tag,
                                 mca_pml_base_send_mode_t mode, const ompi_communicator_t *comm)
{
    if (is_send) {
        t->send.comm = comm_of(comm);
        t->send.to = peer;
        t->send.tag = tag;
        t->send.synchronous = mode == MCA_PML_BASE_SEND_SYNCHRONOUS;
    } else {
        t->receive.comm = comm_of(comm);
        t->receive.from = peer;
        t->receive.tag = tag;
        t->receive.owed = NULL; /* it may be asked for before it begins */
    }
}

/* Inline: most of it is known where receives are posted. */
static inline replica_request_t *request_made(bool is_send, const void *buffer, size_t count,
                                              ompi_datatype_t *type, int peer, int tag,
                                              mca_pml_base_send_mode_t mode,
                                              ompi_communicator_t *comm, bool persistent)
{
    replica_request_t *r =
        (replica_request_t *)opal_free_list_get_st(&replica.requests); /* one thread at a time */
    if (r == NULL)
        return NULL;
    mca_pml_base_request_t *b = &r->base;
    OMPI_REQUEST_INIT(&b->req_ompi, persistent);
    b->req_ompi.req_mpi_object.comm = comm;
    b->req_ompi.req_status._cancelled = 0;
    b->req_ompi.req_status.MPI_ERROR = MPI_SUCCESS;
    b->req_type = is_send ? MCA_PML_REQUEST_SEND : MCA_PML_REQUEST_RECV;
    b->req_addr = (void *)buffer;
    b->req_count = count;
    b->req_datatype = type;
    b->req_peer = peer;
    b->req_tag = tag;
    b->req_comm = comm;
    b->req_pml_complete = persistent;
    b->req_free_called = false;
    r->mode = mode;
    r->transfer.done = NULL;
    r->transfer.convertor = NULL;
    r->transfer.packed = NULL;
    r->transfer.request = r;
    transfer_name(&r->transfer, is_send, peer, tag, mode, comm);
    OBJ_RETAIN(comm);
    if (count > 0)
        OMPI_DATATYPE_RETAIN(type);
    return r;
}

replica_request_t *request_new(bool is_send, const void *buffer, size_t count,
                               ompi_datatype_t *type, int peer, int tag,
                               mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                               bool persistent)
{
    return request_made(is_send, buffer, count, type, peer, tag, mode, comm, persistent);
}

void transfer_begin(struct transfer *t)
{
    link_enter();
    if (t->is_send)
        engine_send(replica.engine, &t->send);
    else
        engine_receive(replica.engine, &t->receive);
    link_leave();
}

bool request_send_bytes_at_once(const void *bytes, size_t length, int to, int tag,
                                struct engine_comm *comm)
{
    assert(replica.depth > 0);
    return !replica.in_progress_thread &&
           engine_send_now(replica.engine, comm, to, tag, bytes, length);
}

/* A request costs less than a copy of so much, which the other lanes may make unnecessary before
 * the program asks. Open MPI's own requests, with tags below 0, are not always asked for. */
static bool send_is_to_be_held(size_t length, int tag)
{
    enum { HELD_ABOVE = 16 * 1024 };
    return length > HELD_ABOVE && length <= engine_eager(replica.engine) && tag >= 0 &&
           replica.lanes > 1;
}

bool request_send_at_once(const void *buffer, size_t count, ompi_datatype_t *type, int to, int tag,
                          mca_pml_base_send_mode_t mode, ompi_communicator_t *comm)
{
    const size_t length = count * type->super.size;
    const char *bytes = length > 0 ? (const char *)buffer + type->super.true_lb : "";
    return mode != MCA_PML_BASE_SEND_SYNCHRONOUS && mode != MCA_PML_BASE_SEND_BUFFERED &&
           transfer_in_one_piece(type, count) && !send_is_to_be_held(length, tag) &&
           request_send_bytes_at_once(bytes, length, to, tag, comm_of(comm));
}

/* A message in a buffer of its own, freed when it is sent. */
struct detached {
    struct transfer transfer;
    void *buffer;
    replica_request_t *request;
};

static int detached_sent(ompi_request_t *request)
{
    struct detached *d = request->req_complete_cb_data;
    if (d->buffer != NULL)
        mca_pml_base_bsend_request_free(d->buffer);
    free(d);
    return 0;
}

int transfer_buffered(const void *buffer, size_t count, ompi_datatype_t *type, int to, int tag,
                      ompi_communicator_t *comm)
{
    size_t length = count * type->super.size;
    void *copy = length > 0 ? mca_pml_base_bsend_request_alloc_buf(length) : NULL;
    struct detached *d = copy != NULL || length == 0 ? malloc(sizeof *d) : NULL;
    replica_request_t *r = d != NULL ? request_new(true, copy, length, MPI_BYTE, to, tag,
                                                   MCA_PML_BASE_SEND_STANDARD, comm, false)
                                     : NULL;
    if (r == NULL) {
        free(d);
        return OMPI_ERR_BUFFER;
    }
    if (length > 0) {
        opal_convertor_t c;
        OBJ_CONSTRUCT(&c, opal_convertor_t);
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &type->super, count,
                                                 buffer, 0, &c);
        transfer_convert(&c, copy, length, true);
        OBJ_DESTRUCT(&c);
    }
    d->buffer = copy;
    mpi_request(r)->req_complete_cb = detached_sent;
    mpi_request(r)->req_complete_cb_data = d;
    r->base.req_free_called = true;
    return request_start(r);
}

static inline int request_start_receive(replica_request_t *r)
{
    mca_pml_base_request_t *b = &r->base;
    transfer_to_receive(&r->transfer, b->req_addr, b->req_count, b->req_datatype,
                        &b->req_convertor);
    engine_receive(replica.engine, &r->transfer.receive);
    return OMPI_SUCCESS;
}

static int request_start_send(replica_request_t *r)
{
    mca_pml_base_request_t *b = &r->base;
    struct transfer *t = &r->transfer;
    if (r->mode == MCA_PML_BASE_SEND_BUFFERED) {
        int rc = transfer_buffered(b->req_addr, b->req_count, b->req_datatype, b->req_peer,
                                   b->req_tag, b->req_comm);
        b->req_ompi.req_status.MPI_ERROR = MPI_SUCCESS;
        if (rc == OMPI_SUCCESS)
            request_complete(r);
        return rc;
    }
    transfer_to_send(t, b->req_addr, b->req_count, b->req_datatype, &b->req_convertor);
    t->send.held = t->convertor == NULL && send_is_to_be_held(t->send.length, b->req_tag);
    engine_send(replica.engine, &t->send);
    return OMPI_SUCCESS;
}

int request_start(replica_request_t *r)
{
    mca_pml_base_request_t *b = &r->base;
    b->req_pml_complete = false;
    b->req_ompi.req_complete = REQUEST_PENDING;
    b->req_ompi.req_state = OMPI_REQUEST_ACTIVE;
    b->req_ompi.req_status._cancelled = 0;
    return b->req_type == MCA_PML_REQUEST_RECV ? request_start_receive(r) : request_start_send(r);
}

int requests_start(size_t count, ompi_request_t **requests)
{
    int rc = OMPI_SUCCESS;
    program_speaks();
    link_enter();
    for (size_t i = 0; i < count && rc == OMPI_SUCCESS; i++)
        if (requests[i] != NULL && requests[i]->req_type == OMPI_REQUEST_PML)
            rc = request_start((replica_request_t *)requests[i]);
    link_leave();
    return rc;
}

int request_receive(void *buffer, size_t count, ompi_datatype_t *type, int from, int tag,
                    ompi_communicator_t *comm, ompi_request_t **request)
{
    replica_request_t *r = request_made(false, buffer, count, type, from, tag, 0, comm, false);
    *request = (ompi_request_t *)r;
    if (r == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    r->base.req_ompi.req_state = OMPI_REQUEST_ACTIVE;
    return request_start_receive(r);
}

static int request_prepare(opal_free_list_item_t *item, void *ctx)
{
    (void)ctx;
    ompi_request_t *r = (ompi_request_t *)item;
    r->req_type = OMPI_REQUEST_PML;
    r->req_start = requests_start;
    r->req_free = request_free;
    r->req_cancel = request_cancel;
    return OPAL_SUCCESS;
}

int request_lists_init(void)
{
    OBJ_CONSTRUCT(&replica.completed, opal_list_t);
    OBJ_CONSTRUCT(&replica.requests, opal_free_list_t);
    STAILQ_INIT(&replica.later);
    return opal_free_list_init(&replica.requests, sizeof(replica_request_t), opal_cache_line_size,
                               OBJ_CLASS(replica_request_t), 0, opal_cache_line_size, 64, -1, 64,
                               NULL, 0, NULL, request_prepare, NULL);
}
