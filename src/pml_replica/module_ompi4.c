/* SPDX-License-Identifier: BSD-3-Clause */
/* module_ompi4.c -- the calls of a PML: each a few lines that hand over to the engine. */
#include "glue.h"
#include "opal/runtime/opal_progress.h"

/* --- sends --- */

static int pml_isend_init(const void *buffer, size_t count, ompi_datatype_t *type, int to, int tag,
                          mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                          ompi_request_t **request)
{
    replica_request_t *r = request_new(true, buffer, count, type, to, tag, mode, comm, true);
    *request = (ompi_request_t *)r;
    return r != NULL ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

static int pml_isend(const void *buffer, size_t count, ompi_datatype_t *type, int to, int tag,
                     mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                     ompi_request_t **request)
{
    program_speaks();
    link_enter();
    if (request_send_at_once(buffer, count, type, to, tag, mode, comm)) {
        *request = &ompi_request_empty; /* active, so all lanes decide about it alike */
        link_leave();
        return OMPI_SUCCESS;
    }
    replica_request_t *r = request_new(true, buffer, count, type, to, tag, mode, comm, false);
    *request = (ompi_request_t *)r;
    int rc = r != NULL ? request_start(r) : OMPI_ERR_OUT_OF_RESOURCE;
    link_leave();
    return rc;
}

/* One that needs a request: the program waits for it here. */
static int send_blocking(const void *buffer, size_t count, ompi_datatype_t *type, int to, int tag,
                         mca_pml_base_send_mode_t mode, ompi_communicator_t *comm)
{
    opal_convertor_t convertor;
    struct transfer t;
    transfer_init(&t);
    t.send.comm = comm_of(comm);
    t.send.to = to;
    t.send.tag = tag;
    t.send.synchronous = mode == MCA_PML_BASE_SEND_SYNCHRONOUS;
    if (mode == MCA_PML_BASE_SEND_BUFFERED)
        return transfer_buffered(buffer, count, type, to, tag, comm);
    bool plain = transfer_in_one_piece(type, count);
    if (!plain)
        OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    transfer_to_send(&t, buffer, count, type, &convertor);
    transfer_begin(&t);
    engine_await_send(replica.engine, &t.send);
    while (!t.send.done)
        link_wait();
    if (!plain)
        OBJ_DESTRUCT(&convertor);
    return OMPI_SUCCESS;
}

static int pml_send(const void *buffer, size_t count, ompi_datatype_t *type, int to, int tag,
                    mca_pml_base_send_mode_t mode, ompi_communicator_t *comm)
{
    program_speaks();
    link_enter();
    int rc = request_send_at_once(buffer, count, type, to, tag, mode, comm)
                 ? OMPI_SUCCESS
                 : send_blocking(buffer, count, type, to, tag, mode, comm);
    link_leave();
    return rc;
}

/* --- receives --- */

static int pml_irecv_init(void *buffer, size_t count, ompi_datatype_t *type, int from, int tag,
                          ompi_communicator_t *comm, ompi_request_t **request)
{
    replica_request_t *r = request_new(false, buffer, count, type, from, tag, 0, comm, true);
    *request = (ompi_request_t *)r;
    return r != NULL ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

static int pml_irecv(void *buffer, size_t count, ompi_datatype_t *type, int from, int tag,
                     ompi_communicator_t *comm, ompi_request_t **request)
{
    program_speaks();
    link_enter();
    int rc = request_receive(buffer, count, type, from, tag, comm, request);
    link_leave();
    return rc;
}

/* message: taken by a probe, or NULL. */
static int receive_blocking(void *buffer, size_t count, ompi_datatype_t *type, int from, int tag,
                            ompi_communicator_t *comm, struct engine_message *message,
                            ompi_status_public_t *status)
{
    opal_convertor_t convertor;
    struct transfer t;
    transfer_init(&t);
    t.receive.comm = comm_of(comm);
    t.receive.from = from;
    t.receive.tag = tag;
    bool plain = transfer_in_one_piece(type, count);
    if (!plain)
        OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    program_speaks();
    link_enter();
    transfer_to_receive(&t, buffer, count, type, &convertor);
    if (message != NULL)
        engine_message_receive(replica.engine, message, &t.receive);
    else
        transfer_begin(&t);
    while (!t.receive.done)
        link_wait();
    link_catch_up();
    link_leave();
    if (!plain)
        OBJ_DESTRUCT(&convertor);
    ompi_status_public_t filled;
    status_fill(&filled, &t.receive.status, t.receive.capacity);
    if (status != MPI_STATUS_IGNORE)
        OMPI_COPY_STATUS(status, filled, false);
    return filled.MPI_ERROR;
}

static int pml_recv(void *buffer, size_t count, ompi_datatype_t *type, int from, int tag,
                    ompi_communicator_t *comm, ompi_status_public_t *status)
{
    return receive_blocking(buffer, count, type, from, tag, comm, NULL, status);
}

/* --- probes --- */

/* A follower of a leader that has looked in vain a thousand times need not look, nor give its turn
 * away, as often: it is told how often. What others want of it meanwhile the progress thread does.
 */
static int probe_for(int from, int tag, ompi_communicator_t *comm, bool wait, int *found,
                     struct engine_message **probe_take, ompi_status_public_t *status)
{
    struct engine_status s;
    int rc;
    link_enter();
    const bool looks = wait || !engine_follows(replica.engine);
    if (looks)
        link_progress();
    while ((rc = engine_probe(replica.engine, comm_of(comm), from, tag, wait, &s, probe_take)) ==
           -EAGAIN)
        link_wait();
    if (rc != 0)
        link_catch_up();
    else if (looks)
        opal_progress();
    link_keep_pace();
    link_leave();
    *found = rc == 1;
    if (rc == 1 && status != MPI_STATUS_IGNORE) {
        ompi_status_public_t filled;
        status_fill(&filled, &s, SIZE_MAX);
        OMPI_COPY_STATUS(status, filled, false);
    }
    return rc >= 0 ? OMPI_SUCCESS : OMPI_ERROR;
}

static int pml_iprobe(int from, int tag, ompi_communicator_t *comm, int *found,
                      ompi_status_public_t *status)
{
    return probe_for(from, tag, comm, false, found, NULL, status);
}

static int pml_probe(int from, int tag, ompi_communicator_t *comm, ompi_status_public_t *status)
{
    int found;
    return probe_for(from, tag, comm, true, &found, NULL, status);
}

static int probe_take(int from, int tag, ompi_communicator_t *comm, bool wait, int *found,
                      ompi_message_t **message, ompi_status_public_t *status)
{
    ompi_status_public_t own;
    struct engine_message *m = NULL;
    int rc = probe_for(from, tag, comm, wait, found, &m, &own);
    if (rc != OMPI_SUCCESS || !*found)
        return rc;
    *message = ompi_message_alloc();
    (*message)->comm = comm;
    (*message)->req_ptr = m;
    (*message)->peer = own.MPI_SOURCE;
    (*message)->count = own._ucount;
    if (status != MPI_STATUS_IGNORE)
        OMPI_COPY_STATUS(status, own, false);
    return OMPI_SUCCESS;
}

static int pml_improbe(int from, int tag, ompi_communicator_t *comm, int *found,
                       ompi_message_t **message, ompi_status_public_t *status)
{
    return probe_take(from, tag, comm, false, found, message, status);
}

static int pml_mprobe(int from, int tag, ompi_communicator_t *comm, ompi_message_t **message,
                      ompi_status_public_t *status)
{
    int found;
    return probe_take(from, tag, comm, true, &found, message, status);
}

static int pml_imrecv(void *buffer, size_t count, ompi_datatype_t *type, ompi_message_t **message,
                      ompi_request_t **request)
{
    ompi_message_t *m = *message;
    replica_request_t *r =
        request_new(false, buffer, count, type, m->peer, MPI_ANY_TAG, 0, m->comm, false);
    if (r == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    r->base.req_ompi.req_state = OMPI_REQUEST_ACTIVE;
    program_speaks();
    link_enter();
    transfer_to_receive(&r->transfer, buffer, count, type, &r->base.req_convertor);
    *request = (ompi_request_t *)r;
    engine_message_receive(replica.engine, m->req_ptr, &r->transfer.receive);
    link_leave();
    ompi_message_return(m);
    *message = MPI_MESSAGE_NULL;
    return OMPI_SUCCESS;
}

static int pml_mrecv(void *buffer, size_t count, ompi_datatype_t *type, ompi_message_t **message,
                     ompi_status_public_t *status)
{
    ompi_message_t *m = *message;
    int rc =
        receive_blocking(buffer, count, type, m->peer, MPI_ANY_TAG, m->comm, m->req_ptr, status);
    ompi_message_return(m);
    *message = MPI_MESSAGE_NULL;
    return rc;
}

/* --- the rest --- */

static int pml_enable(bool on)
{
    return on ? request_lists_init() : OMPI_SUCCESS;
}

static int pml_add_procs(ompi_proc_t **procs, size_t count)
{
    world_forget_locality(procs, count);
    return replica.engine != NULL ? OMPI_SUCCESS : link_start();
}

static int pml_del_procs(ompi_proc_t **procs, size_t count)
{
    (void)procs, (void)count;
    return OMPI_SUCCESS;
}

static int pml_dump(ompi_communicator_t *comm, int verbose)
{
    (void)comm, (void)verbose;
    const struct engine_counts *c = engine_counts(replica.engine);
    opal_output(
        0, "rank %d lane %d: %lu sent, %lu received, %lu resent, %lu decisions, %zu bytes logged",
        replica.rank, replica.lane, (unsigned long)c->sent, (unsigned long)c->received,
        (unsigned long)c->resent, (unsigned long)c->decisions, c->log_bytes);
    return OMPI_SUCCESS;
}

static int pml_ft_event(int state)
{
    (void)state;
    return OMPI_SUCCESS;
}

mca_pml_base_module_t replica_module = {
    .pml_add_procs = pml_add_procs,
    .pml_del_procs = pml_del_procs,
    .pml_enable = pml_enable,
    .pml_progress = link_progress,
    .pml_add_comm = comm_add,
    .pml_del_comm = comm_remove,
    .pml_irecv_init = pml_irecv_init,
    .pml_irecv = pml_irecv,
    .pml_recv = pml_recv,
    .pml_isend_init = pml_isend_init,
    .pml_isend = pml_isend,
    .pml_send = pml_send,
    .pml_iprobe = pml_iprobe,
    .pml_probe = pml_probe,
    .pml_start = requests_start,
    .pml_improbe = pml_improbe,
    .pml_mprobe = pml_mprobe,
    .pml_imrecv = pml_imrecv,
    .pml_mrecv = pml_mrecv,
    .pml_dump = pml_dump,
    .pml_ft_event = pml_ft_event,
    .pml_max_contextid = UINT16_MAX,
    .pml_max_tag = INT32_MAX,
    .pml_flags = MCA_PML_BASE_FLAG_REQUIRE_WORLD,
};
