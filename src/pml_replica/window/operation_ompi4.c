/* SPDX-License-Identifier: BSD-3-Clause */
/* operation_ompi4.c -- one-sided operations, as requests to the target's agent (window.h).
 *
 * What brings data back is complete when the reply is here (reply_ompi4.c). Data are packed when
 * the call is made, except those of a long put whose both sides lie in one piece: these are sent
 * from where the program has them, and received where they go; the end of the epoch, or a flush,
 * waits until they are not read any more. A call waits while too much is on its way (budget.h). */
#include "window.h"

/* --- requests --- */

/* One that asks for a lock has that beside its kind. */
static uint64_t request_kind_at(struct window *w, int target, enum request_kind kind)
{
    if (w->locked[target] != ACCESS_WANTED)
        return (uint64_t)kind;
    w->locked[target] = ACCESS_ASKED;
    return (uint64_t)kind | (uint64_t)w->lock_type << LOCK_SHIFT;
}

static void request_count(struct window *w, int target)
{
    w->asked[target]++;
    w->ahead += target == w->lock_target;
    backoff_works(&replica.backoff);
    window_step();
}

void window_request(struct window *w, int target, enum request_kind kind)
{
    if (kind != FLUSH || w->locked[target] == ACCESS_WANTED) /* else others see nothing of it */
        window_turn_to(w, target);
    const uint64_t head[REQUEST_WORDS] = {
        [KIND] = request_kind_at(w, target, kind), [EPOCH] = window_epoch(w, target)};
    request_count(w, target);
    window_send(w, target, TAG_REQUEST, head, sizeof head);
}

void window_request_reply(struct window *w, int target, enum request_kind kind)
{
    const struct buffer nothing = {.count = 0};
    reply_expect(w, target, &nothing, 0, NULL);
    window_request(w, target, kind);
}

/* One at a time, in the order of the program's calls, so that there is no circle of waits that its
 * calls do not make. */
void window_await_lock(void)
{
    struct window *w = replica.ungranted;
    if (w == NULL)
        return;
    replica.ungranted = NULL;
    window_request_reply(w, w->lock_target, FLUSH);
    w->locked[w->lock_target] = ACCESS_LOCKED;
    link_progress();
    window_await_replies(w, w->lock_target);
}

/* What an operation is about: at the target, the data that go there, and those that come back. */
struct operation {
    enum request_kind kind;
    ptrdiff_t where;
    struct buffer there; /* by displacement: where */
    MPI_Op op;
    struct buffer data[2], result;
    bool may_wait; /* the program leaves its data alone until a flush, or the epoch's end */
    ompi_request_t *request; /* that is complete with the reply */
};

static size_t operation_data_length(const struct operation *o)
{
    return packed_length(&o->data[0]) + packed_length(&o->data[1]);
}

static bool operation_is_answered(const struct operation *o)
{
    return o->kind != PUT && o->kind != ACCUMULATE;
}

/* What goes to or comes from one piece there needs no description: bytes do. */
static struct buffer operation_there(const struct operation *o)
{
    const struct buffer *b = &o->there;
    const size_t length = packed_length(b);
    const bool plain = (o->kind == PUT || o->kind == GET) && length <= INT_MAX &&
                       (length == 0 || (transfer_in_one_piece(b->type, (size_t)b->count) &&
                                        b->type->super.true_lb == 0));
    return plain ? (struct buffer){NULL, (int)length, NULL} : *b;
}

static void body_fill(const struct operation *o, char *body, const void *description,
                      size_t described, size_t first)
{
    memcpy(body, description, described);
    memset(body + described, 0, first - described); /* lanes compare what they send */
    buffer_pack(&o->data[0], body + first);
    buffer_pack(&o->data[1], body + first + packed_length(&o->data[0]));
}

static void operation_send(struct window *w, int target, const struct operation *o)
{
    const struct buffer there = operation_there(o);
    const void *description = "";
    const size_t described =
        there.type != NULL ? ompi_datatype_pack_description_length(there.type) : 0;
    const size_t length = operation_data_length(o), first = description_room(described);
    struct request request;
    const uint64_t head[REQUEST_WORDS] = {[KIND] = request_kind_at(w, target, o->kind),
                                          [WHERE] = (uint64_t)o->where,
                                          [COUNT] = (uint64_t)there.count,
                                          [OP] = (uint64_t)(o->op != NULL ? PMPI_Op_c2f(o->op) : 0),
                                          [TYPE_BYTES] = described,
                                          [DATA_BYTES] = length,
                                          [EPOCH] = window_epoch(w, target),
                                          [LANE] = w->dynamic ? (uint64_t)replica.lane : 0};
    if (there.type != NULL)
        ompi_datatype_get_pack_description(there.type, &description);
    memcpy(request.head, head, sizeof head);
    request_count(w, target);
    if (first + length <= BODY_WITHIN) {
        body_fill(o, request.within, description, described, first);
        window_send(w, target, TAG_REQUEST, &request, sizeof head + first + length);
        return;
    }
    window_send(w, target, TAG_REQUEST, head, sizeof head);
    w->replies[target].waits = true;
    if (first == 0 && o->may_wait && buffer_piece(&o->data[0]) != NULL) {
        window_send_in_place(w, target, TAG_BODY, buffer_piece(&o->data[0]), length);
        return;
    }
    struct outgoing *body = outgoing_new(first + length);
    body_fill(o, body->bytes, description, described, first);
    outgoing_send(w, target, TAG_BODY, body, first + length);
}

/* A request that was answered here may still be needed by a lane that is behind. */
static bool budget_has_room(const struct window *w, size_t cost)
{
    return budget_allows(&w->budget, cost) &&
           (w->requesting == 0 || w->requesting + cost <= w->budget.limit);
}

/* Others are served meanwhile, so that two that wait for each other go on. */
static void budget_await_room(const struct window *w, size_t cost)
{
    link_enter();
    while (!budget_has_room(w, cost))
        link_wait();
    link_leave();
}

/* The program waits for it by a flush, or at the epoch's end: requests of one target go together.
 */
static void operation_send_soon(struct window *w, int target, const struct operation *o)
{
    link_enter();
    replica.more_follows = true;
    operation_send(w, target, o);
    replica.more_follows = false;
    link_leave();
}

/* The target keeps what comes before the lock is granted: not too much, and no long body. */
static bool operation_needs_grant(const struct window *w, int target, const struct operation *o)
{
    if (replica.ungranted != w || w->lock_target != target)
        return false;
    const struct buffer there = operation_there(o);
    const size_t described =
        there.type != NULL ? ompi_datatype_pack_description_length(there.type) : 0;
    return w->ahead >= LOCK_AHEAD ||
           description_room(described) + operation_data_length(o) > BODY_WITHIN;
}

static int operation_issue(ompi_win_t *win, int target, const struct operation *o)
{
    enum { RECORDS = 1024 }; /* what a request takes beside the data, about, on each side */
    struct window *w = window_of(win);
    const size_t cost = RECORDS + operation_data_length(o) + packed_length(&o->result);
    ompi_request_t *request = o->request;
    if (!epoch_allows(w, target)) {
        if (request != NULL)
            reply_request_free(&request);
        return OMPI_ERR_RMA_SYNC;
    }
    window_turn_to(w, target);
    if (operation_needs_grant(w, target, o))
        window_await_lock();
    budget_await_room(w, cost);
    if (operation_is_answered(o)) {
        reply_expect(w, target, &o->result, cost, o->request);
        operation_send_soon(w, target, o);
        return OMPI_SUCCESS;
    }
    w->dirty[target] = true;
    operation_send_soon(w, target, o);
    if (budget_spend(&w->budget, target, cost))
        window_request_reply(w, target, FLUSH);
    return OMPI_SUCCESS;
}

/* --- the calls --- */

static int operation_put(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                         int target, ptrdiff_t where, int count, ompi_datatype_t *type,
                         ompi_win_t *win)
{
    const struct operation o = {.kind = PUT,
                                .where = where,
                                .there = {NULL, count, type},
                                .data = {{(void *)origin, origin_count, origin_type}},
                                .may_wait = true};
    return operation_issue(win, target, &o);
}

static int operation_accumulate(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                                int target, ptrdiff_t where, int count, ompi_datatype_t *type,
                                MPI_Op op, ompi_win_t *win)
{
    const struct operation o = {.kind = ACCUMULATE,
                                .where = where,
                                .there = {NULL, count, type},
                                .op = op,
                                .data = {{(void *)origin, origin_count, origin_type}}};
    return operation_issue(win, target, &o);
}

static int operation_get(void *origin, int origin_count, ompi_datatype_t *origin_type, int target,
                         ptrdiff_t where, int count, ompi_datatype_t *type, ompi_win_t *win)
{
    const struct operation o = {.kind = GET,
                                .where = where,
                                .there = {NULL, count, type},
                                .result = {origin, origin_count, origin_type}};
    return operation_issue(win, target, &o);
}

static int operation_rget(void *origin, int origin_count, ompi_datatype_t *origin_type, int target,
                          ptrdiff_t where, int count, ompi_datatype_t *type, ompi_win_t *win,
                          ompi_request_t **request)
{
    const struct operation o = {.kind = GET,
                                .where = where,
                                .there = {NULL, count, type},
                                .result = {origin, origin_count, origin_type},
                                .request = *request = reply_request_make(win)};
    return operation_issue(win, target, &o);
}

/* With MPI_NO_OP the origin's buffer means nothing, nor its type. */
static int operation_fetch(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                           void *result, int result_count, ompi_datatype_t *result_type, int target,
                           ptrdiff_t where, int count, ompi_datatype_t *type, MPI_Op op,
                           ompi_win_t *win, ompi_request_t *request)
{
    const struct operation o = {
        .kind = GET_ACCUMULATE,
        .where = where,
        .there = {NULL, count, type},
        .op = op,
        .data = {{(void *)origin, op != MPI_NO_OP ? origin_count : 0, origin_type}},
        .result = {result, result_count, result_type},
        .request = request};
    return operation_issue(win, target, &o);
}

static int operation_get_accumulate(const void *origin, int origin_count,
                                    ompi_datatype_t *origin_type, void *result, int result_count,
                                    ompi_datatype_t *result_type, int target, ptrdiff_t where,
                                    int count, ompi_datatype_t *type, MPI_Op op, ompi_win_t *win)
{
    return operation_fetch(origin, origin_count, origin_type, result, result_count, result_type,
                           target, where, count, type, op, win, NULL);
}

static int operation_rget_accumulate(const void *origin, int origin_count,
                                     ompi_datatype_t *origin_type, void *result, int result_count,
                                     ompi_datatype_t *result_type, int target, ptrdiff_t where,
                                     int count, ompi_datatype_t *type, MPI_Op op, ompi_win_t *win,
                                     ompi_request_t **request)
{
    *request = reply_request_make(win);
    return operation_fetch(origin, origin_count, origin_type, result, result_count, result_type,
                           target, where, count, type, op, win, *request);
}

static int operation_fetch_and_op(const void *origin, void *result, ompi_datatype_t *type,
                                  int target, ptrdiff_t where, MPI_Op op, ompi_win_t *win)
{
    return operation_fetch(origin, 1, type, result, 1, type, target, where, 1, type, op, win, NULL);
}

static int operation_compare_and_swap(const void *origin, const void *compare, void *result,
                                      ompi_datatype_t *type, int target, ptrdiff_t where,
                                      ompi_win_t *win)
{
    const struct operation o = {.kind = COMPARE_AND_SWAP,
                                .where = where,
                                .there = {NULL, 1, type},
                                .data = {{(void *)compare, 1, type}, {(void *)origin, 1, type}},
                                .result = {result, 1, type}};
    return operation_issue(win, target, &o);
}

static int operation_rput(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                          int target, ptrdiff_t where, int count, ompi_datatype_t *type,
                          ompi_win_t *win, ompi_request_t **request)
{
    const struct operation o = {.kind = PUT,
                                .where = where,
                                .there = {NULL, count, type},
                                .data = {{(void *)origin, origin_count, origin_type}}};
    *request = &ompi_request_empty;
    return operation_issue(win, target, &o);
}

static int operation_raccumulate(const void *origin, int origin_count, ompi_datatype_t *origin_type,
                                 int target, ptrdiff_t where, int count, ompi_datatype_t *type,
                                 MPI_Op op, ompi_win_t *win, ompi_request_t **request)
{
    *request = &ompi_request_empty;
    return operation_accumulate(origin, origin_count, origin_type, target, where, count, type, op,
                                win);
}

void operations_fill(ompi_osc_base_module_t *calls)
{
    calls->osc_put = operation_put;
    calls->osc_get = operation_get;
    calls->osc_accumulate = operation_accumulate;
    calls->osc_compare_and_swap = operation_compare_and_swap;
    calls->osc_fetch_and_op = operation_fetch_and_op;
    calls->osc_get_accumulate = operation_get_accumulate;
    calls->osc_rput = operation_rput;
    calls->osc_rget = operation_rget;
    calls->osc_raccumulate = operation_raccumulate;
    calls->osc_rget_accumulate = operation_rget_accumulate;
}
