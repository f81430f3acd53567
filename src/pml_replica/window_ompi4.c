/* SPDX-License-Identifier: BSD-3-Clause */
/* window_ompi4.c -- the target's side of one-sided communication: serves one request after the
 * other, whatever the program does meanwhile. Called by the engine; nothing here waits. */
#include "window.h"
#include "opal/datatype/opal_convertor.h"

/* Its header needs one that the packages leave out. */
int ompi_osc_base_process_op(void *memory, void *data, size_t length, ompi_datatype_t *type,
                             int count, MPI_Op op);

/* --- bytes --- */

static void convert_all(void *memory, int count, ompi_datatype_t *type, void *bytes, bool out)
{
    opal_convertor_t c;
    struct iovec v = {bytes, packed_length(count, type)};
    uint32_t pieces = 1;
    size_t moved = v.iov_len;
    if (moved == 0)
        return;
    OBJ_CONSTRUCT(&c, opal_convertor_t);
    if (out) {
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &type->super,
                                                 (size_t)count, memory, 0, &c);
        opal_convertor_pack(&c, &v, &pieces, &moved);
    } else {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &type->super,
                                                 (size_t)count, memory, 0, &c);
        opal_convertor_unpack(&c, &v, &pieces, &moved);
    }
    OBJ_DESTRUCT(&c);
}

void pack(const void *memory, int count, ompi_datatype_t *type, void *bytes)
{
    convert_all((void *)memory, count, type, bytes, true);
}

void unpack(void *memory, int count, ompi_datatype_t *type, const void *bytes)
{
    convert_all(memory, count, type, (void *)bytes, false);
}

struct outgoing *outgoing_new(size_t length)
{
    struct outgoing *o = calloc(1, sizeof *o + length);
    if (o == NULL)
        link_stop(NULL, 1, "no memory for one-sided communication");
    return o;
}

static void outgoing_sent(struct transfer *t)
{
    free(t);
}

void outgoing_send(struct window *w, int to, int tag, struct outgoing *o, size_t length)
{
    struct engine_send *s = &o->transfer.send;
    o->transfer.is_send = true;
    o->transfer.done = outgoing_sent;
    s->comm = w->wire;
    s->to = to;
    s->tag = tag;
    s->length = length;
    s->data = o->bytes;
    transfer_begin(&o->transfer);
}

static void reply(struct window *w, int to, struct outgoing *o, size_t length)
{
    outgoing_send(w, to, TAG_REPLY, o != NULL ? o : outgoing_new(0), length);
}

/* --- data --- */

/* What a request is about, here. */
struct target {
    char *memory;
    int count;
    ompi_datatype_t *type;
    MPI_Op op;
    char *data; /* that came with it */
    size_t length;
};

static bool inside(const struct window *w, const struct target *t)
{
    const opal_datatype_t *d = &t->type->super;
    ptrdiff_t extent = d->ub - d->lb, begin = t->memory - w->base + d->true_lb;
    ptrdiff_t end = t->memory - w->base + d->true_ub + (t->count - 1) * extent;
    return w->anywhere || t->count == 0 || d->size == 0 ||
           (begin >= 0 && end <= (ptrdiff_t)w->bytes);
}

static struct target target_of(const struct window *w)
{
    void *description = w->body;
    struct target t = {.memory = w->base + (ptrdiff_t)w->head[WHERE] * w->unit,
                       .count = (int)w->head[COUNT],
                       .op = PMPI_Op_f2c((int)w->head[OP]),
                       .data = w->body + (w->head[TYPE_BYTES] + 15) / 16 * 16,
                       .length = w->head[DATA_BYTES]};
    t.type = ompi_datatype_create_from_packed_description(&description, ompi_proc_local());
    return t;
}

static void accumulate(struct target *t)
{
    if (t->op == MPI_REPLACE)
        unpack(t->memory, t->count, t->type, t->data);
    else if (t->op != MPI_NO_OP && t->length > 0)
        ompi_osc_base_process_op(t->memory, t->data, t->length, t->type, t->count, t->op);
}

static void serve_data(struct window *w)
{
    struct target t = target_of(w);
    size_t length = packed_length(t.count, t.type);
    struct outgoing *before = NULL;
    if (!inside(w, &t)) {
        char line[160];
        snprintf(line, sizeof line, "rank %d reaches beyond the window of rank %d", w->source,
                 w->comm->c_my_rank);
        link_stop(NULL, 1, line);
        return;
    }
    if (w->head[KIND] == GET || w->head[KIND] == GET_ACCUMULATE ||
        w->head[KIND] == COMPARE_AND_SWAP) {
        before = outgoing_new(length);
        pack(t.memory, t.count, t.type, before->bytes);
    }
    if (w->head[KIND] == PUT)
        unpack(t.memory, t.count, t.type, t.data);
    else if (w->head[KIND] == COMPARE_AND_SWAP && memcmp(before->bytes, t.data, length) == 0)
        unpack(t.memory, t.count, t.type, t.data + length);
    else if (w->head[KIND] == ACCUMULATE || w->head[KIND] == GET_ACCUMULATE)
        accumulate(&t);
    if (before != NULL)
        reply(w, w->source, before, length);
    if (!ompi_datatype_is_predefined(t.type))
        OBJ_RELEASE(t.type);
}

/* --- locks --- */

static bool grant(struct window *w, int source, int type)
{
    if (type == MPI_LOCK_EXCLUSIVE ? w->holders != 0 : w->holders < 0)
        return false;
    w->holders = type == MPI_LOCK_EXCLUSIVE ? -1 : w->holders + 1;
    reply(w, source, NULL, 0);
    return true;
}

/* First come, first served: a shared lock waits behind an exclusive one that waits. */
static void lock(struct window *w, int source, int type)
{
    struct waiting *one;
    if (w->first == NULL && grant(w, source, type))
        return;
    one = malloc(sizeof *one);
    if (one == NULL) {
        link_stop(NULL, 1, "no memory for a lock of a window");
        return;
    }
    *one = (struct waiting){NULL, source, type};
    *w->last = one;
    w->last = &one->next;
}

static void unlock(struct window *w, int source)
{
    struct waiting *one;
    w->holders = w->holders < 0 ? 0 : w->holders - 1;
    reply(w, source, NULL, 0);
    while ((one = w->first) != NULL && grant(w, one->source, one->type)) {
        w->first = one->next;
        if (w->first == NULL)
            w->last = &w->first;
        free(one);
    }
}

/* --- the agent --- */

static void serve(struct window *w)
{
    switch ((enum request_kind)w->head[KIND]) {
    case PUT:
    case GET:
    case ACCUMULATE:
    case GET_ACCUMULATE:
    case COMPARE_AND_SWAP:
        serve_data(w);
        break;
    case LOCK:
        lock(w, w->source, (int)w->head[OP]);
        break;
    case UNLOCK:
        unlock(w, w->source);
        break;
    case FLUSH:
        reply(w, w->source, NULL, 0);
        break;
    case POST:
        w->posts[w->source]++;
        break;
    case COMPLETE:
        w->completes[w->source]++;
        break;
    case STOP:
        w->stopped = true;
        break;
    }
    free(w->body);
    w->body = NULL;
}

static size_t body_length(const struct window *w)
{
    return (w->head[TYPE_BYTES] + 15) / 16 * 16 + w->head[DATA_BYTES];
}

static void post_receive(struct window *w, int from, int tag, void *data, size_t length)
{
    struct engine_receive *r = &w->incoming.receive;
    r->comm = w->wire;
    r->from = from;
    r->tag = tag;
    r->capacity = length;
    r->data = data;
    r->awaited = true;
    r->done = false;
    engine_receive(replica.engine, r);
}

static bool is_later(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* It comes from an epoch that the program has yet to open. */
static bool is_early(const struct window *w)
{
    return is_later((uint32_t)(w->head[EPOCH] >> 32), w->fences) ||
           is_later((uint32_t)w->head[EPOCH], w->posted[w->source]);
}

/* A request or its body is here. What is there already arrives while it is asked for: a loop, not a
 * recursion as deep as the queue is long. */
static void agent_heard(struct transfer *t)
{
    struct window *w = (struct window *)((char *)t - offsetof(struct window, incoming));
    w->arrived = true;
    if (w->running)
        return;
    w->running = true;
    while (w->arrived) {
        w->arrived = false;
        if (t->receive.tag == TAG_REQUEST) {
            w->source = t->receive.status.source;
            w->early = is_early(w);
            if (w->early)
                break;
            size_t length = body_length(w);
            if (length > 0 && (w->body = malloc(length)) == NULL) {
                link_stop(NULL, 1, "no memory for one-sided communication");
                return;
            }
            if (length > 0) {
                post_receive(w, w->source, TAG_BODY, w->body, length);
                continue;
            }
        }
        serve(w);
        if (!w->stopped)
            post_receive(w, ENGINE_ANY_SOURCE, TAG_REQUEST, w->head, sizeof w->head);
    }
    w->running = false;
}

void window_resume(struct window *w)
{
    link_enter();
    if (w->early)
        agent_heard(&w->incoming);
    link_leave();
}

void window_listen(struct window *w)
{
    w->last = &w->first;
    w->incoming.done = agent_heard;
    post_receive(w, ENGINE_ANY_SOURCE, TAG_REQUEST, w->head, sizeof w->head);
}
