/* SPDX-License-Identifier: BSD-3-Clause */
/* window_ompi4.c -- the target's side of one-sided communication: serves one request after the
 * other, whatever the program does meanwhile. Called by the engine; nothing here waits. */
#include "window.h"
#include "opal/datatype/opal_convertor.h"

/* Its header needs one that the packages leave out. */
int ompi_osc_base_process_op(void *memory, void *data, size_t length, ompi_datatype_t *type,
                             int count, MPI_Op op);

/* --- bytes --- */

static void buffer_convert(const struct buffer *b, void *bytes, size_t length, bool out)
{
    opal_convertor_t c;
    const size_t all = packed_length(b);
    struct iovec v = {bytes, length < all ? length : all};
    uint32_t pieces = 1;
    size_t moved = v.iov_len;
    if (moved == 0)
        return;
    OBJ_CONSTRUCT(&c, opal_convertor_t);
    if (out) {
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &b->type->super,
                                                 (size_t)b->count, b->at, 0, &c);
        opal_convertor_pack(&c, &v, &pieces, &moved);
    } else {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &b->type->super,
                                                 (size_t)b->count, b->at, 0, &c);
        opal_convertor_unpack(&c, &v, &pieces, &moved);
    }
    OBJ_DESTRUCT(&c);
}

void buffer_pack(const struct buffer *b, void *bytes)
{
    buffer_convert(b, bytes, packed_length(b), true);
}

void buffer_unpack(const struct buffer *b, const void *bytes, size_t length)
{
    buffer_convert(b, (void *)bytes, length, false);
}

struct outgoing *outgoing_new(size_t length)
{
    struct outgoing *o = calloc(1, sizeof *o + length);
    if (o == NULL)
        link_stop(NULL, 1, "no memory for one-sided communication");
    return o;
}

static void agent_listen(struct window *w);

static void outgoing_sent(struct transfer *t)
{
    struct outgoing *o = (struct outgoing *)t;
    struct window *w = o->of;
    *o->account -= o->weight;
    free(o);
    if (w->full)
        agent_listen(w);
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
    o->of = w;
    o->account = tag == TAG_REPLY ? &w->replying : &w->requesting;
    o->weight = sizeof *o + length;
    *o->account += o->weight;
    transfer_begin(&o->transfer);
}

static void agent_reply_nothing(struct window *w, int to)
{
    outgoing_send(w, to, TAG_REPLY, outgoing_new(0), 0);
}

/* --- data --- */

/* What a request is about, here. */
struct target {
    struct buffer memory;
    MPI_Op op;
    char *data; /* that came with it */
    size_t length;
};

/* Of a dynamic window the origin says where its own lane has it. */
static bool target_is_attached(const struct window *w, struct target *t, ptrdiff_t begin,
                               ptrdiff_t end)
{
    struct engine_place place;
    if (!engine_region(replica.engine, w->wire, (int)w->head[LANE], (uint64_t)begin, &place) ||
        place.left < (uint64_t)(end - begin))
        return false;
    t->memory.at = (char *)t->memory.at + ((ptrdiff_t)place.at - begin);
    return true;
}

static bool target_is_inside(const struct window *w, struct target *t)
{
    const opal_datatype_t *d = &t->memory.type->super;
    const ptrdiff_t at = (char *)t->memory.at - w->base, extent = d->ub - d->lb;
    const ptrdiff_t begin = at + d->true_lb, end = at + d->true_ub + (t->memory.count - 1) * extent;
    if (packed_length(&t->memory) == 0)
        return true;
    return w->dynamic ? target_is_attached(w, t, begin, end)
                      : begin >= 0 && end <= (ptrdiff_t)w->bytes;
}

static struct target target_of(const struct window *w)
{
    void *description = w->body;
    struct target t = {.memory = {.at = w->base + (ptrdiff_t)w->head[WHERE] * w->unit,
                                  .count = (int)w->head[COUNT]},
                       .op = w->head[KIND] == ACCUMULATE || w->head[KIND] == GET_ACCUMULATE
                                 ? PMPI_Op_f2c((int)w->head[OP])
                                 : NULL,
                       .data = w->body + (w->head[TYPE_BYTES] + 15) / 16 * 16,
                       .length = w->head[DATA_BYTES]};
    t.memory.type = ompi_datatype_create_from_packed_description(&description, ompi_proc_local());
    return t;
}

static bool target_computes(const struct target *t)
{
    return t->op != NULL && t->op != MPI_REPLACE && t->op != MPI_NO_OP && t->length > 0;
}

static void target_accumulate(const struct target *t)
{
    const struct buffer *m = &t->memory;
    if (target_computes(t))
        ompi_osc_base_process_op(m->at, t->data, t->length, m->type, m->count, t->op);
    else if (t->op == MPI_REPLACE)
        buffer_unpack(m, t->data, t->length);
}

/* Why it cannot be served, or NULL. */
static const char *target_complaint(const struct window *w, struct target *t)
{
    if (!target_is_inside(w, t))
        return "reaches beyond";
    if (target_computes(t) && t->length != packed_length(&t->memory))
        return "accumulates more or less data than it names in";
    return NULL;
}

static void agent_serve_data(struct window *w)
{
    struct target t = target_of(w);
    const size_t length = packed_length(&t.memory);
    const char *wrong = target_complaint(w, &t);
    struct outgoing *before = NULL;
    if (wrong != NULL) {
        char line[160];
        snprintf(line, sizeof line, "rank %d %s the window of rank %d", w->source, wrong,
                 w->comm->c_my_rank);
        link_stop(NULL, 1, line);
        return;
    }
    if (w->head[KIND] == GET || w->head[KIND] == GET_ACCUMULATE ||
        w->head[KIND] == COMPARE_AND_SWAP) {
        before = outgoing_new(length);
        buffer_pack(&t.memory, before->bytes);
    }
    if (w->head[KIND] == PUT)
        buffer_unpack(&t.memory, t.data, t.length);
    else if (w->head[KIND] == COMPARE_AND_SWAP && memcmp(before->bytes, t.data, length) == 0)
        buffer_unpack(&t.memory, t.data + length, length);
    else if (w->head[KIND] == ACCUMULATE || w->head[KIND] == GET_ACCUMULATE)
        target_accumulate(&t);
    if (before != NULL)
        outgoing_send(w, w->source, TAG_REPLY, before, length);
    if (!ompi_datatype_is_predefined(t.memory.type))
        OBJ_RELEASE(t.memory.type);
}

/* --- locks --- */

static bool lock_grant(struct window *w, int source, int type)
{
    if (type == MPI_LOCK_EXCLUSIVE ? w->holders != 0 : w->holders < 0)
        return false;
    w->holders = type == MPI_LOCK_EXCLUSIVE ? -1 : w->holders + 1;
    agent_reply_nothing(w, source);
    return true;
}

/* First come, first served: a shared lock waits behind an exclusive one that waits. */
static void lock_request(struct window *w, int source, int type)
{
    struct lock_waiter *one;
    if (w->first == NULL && lock_grant(w, source, type))
        return;
    one = malloc(sizeof *one);
    if (one == NULL) {
        link_stop(NULL, 1, "no memory for a lock of a window");
        return;
    }
    *one = (struct lock_waiter){NULL, source, type};
    *w->last = one;
    w->last = &one->next;
}

static void lock_release(struct window *w, int source)
{
    struct lock_waiter *one;
    w->holders = w->holders < 0 ? 0 : w->holders - 1;
    agent_reply_nothing(w, source);
    while ((one = w->first) != NULL && lock_grant(w, one->source, one->type)) {
        w->first = one->next;
        if (w->first == NULL)
            w->last = &w->first;
        free(one);
    }
}

/* --- the agent --- */

static void agent_serve(struct window *w)
{
    switch ((enum request_kind)w->head[KIND]) {
    case PUT:
    case GET:
    case ACCUMULATE:
    case GET_ACCUMULATE:
    case COMPARE_AND_SWAP:
        agent_serve_data(w);
        break;
    case LOCK:
        lock_request(w, w->source, (int)w->head[OP]);
        break;
    case UNLOCK:
        lock_release(w, w->source);
        break;
    case FLUSH:
        agent_reply_nothing(w, w->source);
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
    w->served++;
    free(w->body);
    w->body = NULL;
}

static size_t request_body_length(const struct window *w)
{
    return (w->head[TYPE_BYTES] + 15) / 16 * 16 + w->head[DATA_BYTES];
}

static void agent_receive(struct window *w, int from, int tag, void *data, size_t length)
{
    struct engine_receive *r = &w->incoming.receive;
    r->comm = w->wire;
    r->from = from;
    r->tag = tag;
    r->capacity = length;
    r->data = data;
    r->awaited = r->agents = true;
    r->done = false;
    engine_receive(replica.engine, r);
}

/* Takes the next request, unless too many replies wait: then when some have left. */
static void agent_listen(struct window *w)
{
    w->full = w->replying > replica.params.window_limit;
    if (!w->full)
        agent_receive(w, ENGINE_ANY_SOURCE, TAG_REQUEST, w->head, sizeof w->head);
}

static bool epoch_is_later(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* It comes from an epoch that the program has yet to open. */
static bool request_is_early(const struct window *w)
{
    return epoch_is_later((uint32_t)(w->head[EPOCH] >> 32), w->fences) ||
           epoch_is_later((uint32_t)w->head[EPOCH], w->posted[w->source]);
}

/* A request or its body is here. If one is there already it arrives while it is asked for: a loop,
 * not a recursion as deep as the queue is long. */
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
            w->early = request_is_early(w);
            engine_serves(w->wire, !w->early);
            if (w->early)
                break;
            size_t length = request_body_length(w);
            if (length > 0 && (w->body = malloc(length)) == NULL) {
                link_stop(NULL, 1, "no memory for one-sided communication");
                return;
            }
            if (length > 0) {
                agent_receive(w, w->source, TAG_BODY, w->body, length);
                continue;
            }
        }
        agent_serve(w);
        engine_serves(w->wire, false);
        if (!w->stopped)
            agent_listen(w);
    }
    w->running = false;
}

void window_step(void)
{
    link_enter();
    engine_step(replica.engine);
    link_leave();
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
    agent_listen(w);
}
