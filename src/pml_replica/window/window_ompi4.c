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
    char *piece = moved > 0 ? buffer_piece(b) : NULL;
    if (moved == 0)
        return;
    if (piece != NULL) {
        memcpy(out ? bytes : piece, out ? piece : bytes, moved);
        return;
    }
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
    link_enter();
    struct outgoing *o = engine_take(replica.engine, sizeof *o, length);
    link_leave();
    o->room = length;
    return o;
}

static void agent_listen(struct window *w);

static void outgoing_sent(struct transfer *t)
{
    struct outgoing *o = (struct outgoing *)t;
    struct window *w = o->of;
    *o->account -= sizeof *o + o->room;
    if (o->reading != NULL)
        --*o->reading;
    engine_give(replica.engine, o, sizeof *o, o->room);
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
    s->data = s->data != NULL ? s->data : o->bytes;
    o->of = w;
    o->account = tag == TAG_REPLY ? &w->replying : &w->requesting;
    *o->account += sizeof *o + o->room;
    transfer_begin(&o->transfer);
}

void window_send(struct window *w, int to, int tag, const void *bytes, size_t length)
{
    link_enter();
    const bool sent = request_send_bytes_at_once(bytes, length, to, tag, w->wire);
    link_leave();
    if (sent)
        return;
    struct outgoing *o = outgoing_new(length);
    memcpy(o->bytes, bytes, length);
    outgoing_send(w, to, tag, o, length);
}

void window_send_in_place(struct window *w, int to, int tag, const void *bytes, size_t length)
{
    struct outgoing *o = outgoing_new(0);
    o->transfer.send.data = bytes;
    o->transfer.send.span = (struct engine_span){bytes, length};
    o->reading = &w->reading[to];
    w->reading[to]++;
    outgoing_send(w, to, tag, o, length);
}

static void agent_reply_nothing(struct window *w, int to)
{
    window_send(w, to, TAG_REPLY, "", 0);
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
    if (!engine_region(replica.engine, w->wire, (int)w->request.head[LANE], (uint64_t)begin,
                       &place) ||
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

static enum request_kind request_kind(const struct window *w)
{
    return (enum request_kind)(uint32_t)w->request.head[KIND];
}

static enum lock_type request_lock(const struct window *w)
{
    return (enum lock_type)(w->request.head[KIND] >> LOCK_SHIFT);
}

static struct target target_of(const struct window *w)
{
    const uint64_t *head = w->request.head;
    void *description = w->body;
    struct target t = {.memory = {.at = w->base + (ptrdiff_t)head[WHERE] * w->unit,
                                  .count = (int)head[COUNT],
                                  .type = MPI_BYTE},
                       .op = request_kind(w) == ACCUMULATE || request_kind(w) == GET_ACCUMULATE
                                 ? PMPI_Op_f2c((int)head[OP])
                                 : NULL,
                       .data = w->body + description_room(head[TYPE_BYTES]),
                       .length = head[DATA_BYTES]};
    if (head[TYPE_BYTES] > 0)
        t.memory.type =
            ompi_datatype_create_from_packed_description(&description, ompi_proc_local());
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

/* False: a line has said why it cannot be served. */
static bool target_is_good(const struct window *w, struct target *t)
{
    char line[160];
    const char *wrong = target_complaint(w, t);
    if (wrong == NULL)
        return true;
    snprintf(line, sizeof line, "rank %d %s the window of rank %d", w->source, wrong,
             w->comm->c_my_rank);
    link_stop(NULL, 1, line);
    return false;
}

static bool request_is_answered_with_data(const struct window *w)
{
    const enum request_kind kind = request_kind(w);
    return kind == GET || kind == GET_ACCUMULATE || kind == COMPARE_AND_SWAP;
}

static void target_change(const struct window *w, const struct target *t, const char *before,
                          size_t length)
{
    const struct buffer *m = &t->memory;
    const enum request_kind kind = request_kind(w);
    if (kind == PUT && t->data != m->at) /* it is not received there */
        buffer_unpack(m, t->data, t->length);
    else if (kind == COMPARE_AND_SWAP && memcmp(before, t->data, length) == 0)
        buffer_unpack(m, t->data + length, length);
    else if (kind == ACCUMULATE || kind == GET_ACCUMULATE)
        target_accumulate(t);
}

static void agent_serve_data(struct window *w)
{
    struct target t = target_of(w);
    const size_t length = packed_length(&t.memory);
    const bool answers = request_is_answered_with_data(w);
    char little[BODY_WITHIN], *before = little;
    struct outgoing *large = NULL;
    if (!target_is_good(w, &t))
        return;
    if (answers && length > sizeof little) {
        large = outgoing_new(length);
        before = large->bytes;
    }
    if (answers)
        buffer_pack(&t.memory, before);
    target_change(w, &t, before, length);
    if (large != NULL)
        outgoing_send(w, w->source, TAG_REPLY, large, length);
    else if (answers)
        window_send(w, w->source, TAG_REPLY, little, length);
    if (!ompi_datatype_is_predefined(t.memory.type))
        OBJ_RELEASE(t.memory.type);
}

/* --- the agent --- */

static size_t request_body_length(const struct window *w)
{
    return description_room(w->request.head[TYPE_BYTES]) + w->request.head[DATA_BYTES];
}

static void agent_serve(struct window *w)
{
    switch (request_kind(w)) {
    case PUT:
    case GET:
    case ACCUMULATE:
    case GET_ACCUMULATE:
    case COMPARE_AND_SWAP:
        agent_serve_data(w);
        break;
    case UNLOCK:
        lock_queue_release(&w->lock_queue);
        agent_reply_nothing(w, w->source);
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
    if (w->own_body != NULL)
        engine_give(replica.engine, w->own_body, 0, request_body_length(w));
    w->own_body = NULL;
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
        agent_receive(w, ENGINE_ANY_SOURCE, TAG_REQUEST, &w->request, sizeof w->request);
}

static bool epoch_is_later(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* It comes from an epoch that the program has yet to open. */
static bool request_is_early(const struct window *w)
{
    return epoch_is_later((uint32_t)(w->request.head[EPOCH] >> 32), w->fences) ||
           epoch_is_later((uint32_t)w->request.head[EPOCH], w->posted[w->source]);
}

/* A put of bytes in one piece goes where it belongs, as many as were named there; all else goes
 * into memory of its own. */
static bool agent_receive_body(struct window *w, size_t length)
{
    if (request_kind(w) == PUT && w->request.head[TYPE_BYTES] == 0) {
        struct target t = target_of(w);
        const size_t named = packed_length(&t.memory);
        if (!target_is_good(w, &t))
            return false;
        w->body = t.memory.at;
        length = length < named ? length : named;
    } else {
        w->body = w->own_body = engine_take(replica.engine, 0, length);
    }
    agent_receive(w, w->source, TAG_BODY, w->body, length);
    return true;
}

/* False: it waits for a lock, or cannot be served at all. */
static bool agent_may_serve(struct window *w, size_t body)
{
    const bool within = body <= BODY_WITHIN;
    int rc = LOCK_SERVE;
    if (within)
        rc = lock_queue_request(&w->lock_queue, w->source, request_lock(w), &w->request,
                                offsetof(struct request, within) + body);
    else if (request_lock(w) != LOCK_NONE || lock_queue_waits(&w->lock_queue, w->source))
        rc = -E2BIG;
    if (rc < 0)
        link_stop(NULL, 1,
                  rc == -ENOMEM ? "no memory for a lock of a window"
                                : "too much was sent to a window before its lock was granted");
    return rc == LOCK_SERVE;
}

/* What has waited for a lock that is free now. */
static void agent_serve_kept(struct window *w)
{
    struct kept_request *k;
    while ((k = lock_queue_next(&w->lock_queue, &w->source)) != NULL) {
        memcpy(&w->request, k->bytes, k->length);
        free(k);
        w->body = w->request.within;
        agent_serve(w);
    }
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
            const size_t length = request_body_length(w);
            w->body = w->request.within;
            if (!agent_may_serve(w, length)) {
                engine_serves(w->wire, false);
                agent_listen(w);
                continue;
            }
            if (length > BODY_WITHIN) {
                if (!agent_receive_body(w, length))
                    return;
                continue;
            }
        }
        agent_serve(w);
        agent_serve_kept(w);
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
    w->incoming.done = agent_heard;
    agent_listen(w);
}
