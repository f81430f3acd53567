/* SPDX-License-Identifier: BSD-3-Clause */
/* wire_ompi4.c -- two ways to carry a home's requests: the engine's twin of MPI_COMM_WORLD, where
 * leaders decide in which order they are served; or plain messages of that communicator, with tags
 * that neither programs nor Open MPI's collectives have. */
#include "wire.h"
#include "opal/runtime/opal_progress.h"
#include "ompi/runtime/mpiruntime.h"

/* Those of nonblocking collectives, the lowest in use, end at -1073741821. */
enum { LOWEST_TAG = -1073742000 };

/* --- with the engine --- */

static void engine_done(struct transfer *t)
{
    struct wire_message *m = (struct wire_message *)t;
    if (!t->is_send) {
        m->source = t->receive.status.source;
        m->length = t->receive.status.length;
    }
    m->done(m);
}

static void engine_sends(const struct wire *w, struct wire_message *m, int to, int tag,
                         const void *bytes, size_t length)
{
    m->transfer.is_send = true;
    m->transfer.done = engine_done;
    m->transfer.send.comm = w->comm;
    m->transfer.send.to = to;
    m->transfer.send.tag = tag;
    m->transfer.send.length = length;
    m->transfer.send.data = bytes;
    transfer_begin(&m->transfer);
}

static void engine_receives(const struct wire *w, struct wire_message *m, int from, int tag,
                            void *bytes, size_t capacity, bool agents)
{
    struct engine_receive *r = &m->transfer.receive;
    m->transfer.is_send = false;
    m->transfer.done = engine_done;
    r->comm = w->comm;
    r->from = from;
    r->tag = tag;
    r->capacity = capacity;
    r->data = bytes;
    r->awaited = true;
    r->agents = agents;
    r->done = false;
    transfer_begin(&m->transfer);
}

/* --- without --- */

static void pending_add(struct wire *w, struct wire_message *m)
{
    pthread_mutex_lock(&w->lock);
    TAILQ_INSERT_TAIL(&w->pending, m, pending);
    pthread_mutex_unlock(&w->lock);
}

static struct wire_message *pending_complete(struct wire *w)
{
    struct wire_message *m;
    pthread_mutex_lock(&w->lock);
    TAILQ_FOREACH (m, &w->pending, pending)
        if (REQUEST_COMPLETE(m->request))
            break;
    if (m != NULL)
        TAILQ_REMOVE(&w->pending, m, pending);
    pthread_mutex_unlock(&w->lock);
    return m;
}

/* Called whenever Open MPI makes progress. */
static int wire_poll(void)
{
    struct wire *w = replica.wire;
    struct wire_message *m;
    int done = 0;
    if (w == NULL || TAILQ_EMPTY(&w->pending) || atomic_flag_test_and_set(&w->polls))
        return 0;
    while ((m = pending_complete(w)) != NULL) {
        m->source = m->request->req_status.MPI_SOURCE;
        m->length = m->request->req_status._ucount;
        ompi_request_free(&m->request);
        m->done(m);
        done++;
    }
    atomic_flag_clear(&w->polls);
    return done;
}

static void plain_failed(int rc)
{
    if (rc != OMPI_SUCCESS)
        link_stop(NULL, 1, "a request to a file's home cannot be sent");
}

/* --- both --- */

void wire_open(struct wire *w)
{
    pthread_mutex_init(&w->lock, NULL);
    pthread_mutex_init(&w->order, NULL);
    TAILQ_INIT(&w->pending);
    atomic_flag_clear(&w->polls);
    replica.wire = w;
    w->comm = replica.engine != NULL ? replica.world_twin : NULL;
    if (w->comm == NULL) {
        opal_progress_register(wire_poll);
        return;
    }
    link_enter();
    engine_by_place(replica.engine, w->comm);
    link_leave();
}

void wire_close(struct wire *w)
{
    if (w->comm == NULL)
        opal_progress_unregister(wire_poll);
    replica.wire = NULL;
    pthread_mutex_destroy(&w->order);
    pthread_mutex_destroy(&w->lock);
}

int wire_self(const struct wire *w)
{
    return w->comm != NULL ? replica.rank : ompi_comm_rank(&ompi_mpi_comm_world.comm);
}

int wire_size(const struct wire *w)
{
    return w->comm != NULL ? replica.ranks : ompi_comm_size(&ompi_mpi_comm_world.comm);
}

void wire_send(struct wire *w, struct wire_message *m, int to, enum wire_tag tag, const void *bytes,
               size_t length)
{
    if (w->comm != NULL) {
        engine_sends(w, m, to, (int)tag, bytes, length);
        return;
    }
    plain_failed(
        MCA_PML_CALL(isend(bytes, length, MPI_BYTE, to, LOWEST_TAG - (int)tag,
                           MCA_PML_BASE_SEND_STANDARD, &ompi_mpi_comm_world.comm, &m->request)));
    pending_add(w, m);
}

void wire_receive(struct wire *w, struct wire_message *m, int from, enum wire_tag tag, void *bytes,
                  size_t capacity, bool agents)
{
    if (w->comm != NULL) {
        engine_receives(w, m, from, (int)tag, bytes, capacity, agents);
        return;
    }
    plain_failed(MCA_PML_CALL(
        irecv(bytes, capacity, MPI_BYTE, from == ENGINE_ANY_SOURCE ? OMPI_ANY_SOURCE : from,
              LOWEST_TAG - (int)tag, &ompi_mpi_comm_world.comm, &m->request)));
    pending_add(w, m);
}

void wire_enter(const struct wire *w)
{
    if (w->comm != NULL)
        link_enter();
}

void wire_leave(const struct wire *w)
{
    if (w->comm != NULL)
        link_leave();
}

void wire_wait(const struct wire *w)
{
    if (w->comm != NULL)
        link_wait();
    else
        opal_progress();
}

void wire_step(const struct wire *w)
{
    if (w->comm == NULL)
        return;
    program_speaks();
    link_enter();
    engine_step(replica.engine);
    link_leave();
}

void wire_serves(const struct wire *w, bool serves)
{
    if (w->comm != NULL)
        engine_serves(w->comm, serves);
}

void wire_settle(const struct wire *w, bool from_self)
{
    if (w->comm == NULL)
        return;
    while (from_self && !engine_committed(replica.engine))
        link_wait();
    link_catch_up();
}
