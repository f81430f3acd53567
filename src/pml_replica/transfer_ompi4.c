/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer_ompi4.c -- the user's buffers, as the engine sees them: bytes in one piece, or packed.
 */
#include "glue.h"
#include "opal/datatype/opal_convertor.h"

bool transfer_in_one_piece(const ompi_datatype_t *type, size_t count)
{
    return count == 0 || ompi_datatype_is_contiguous_memory_layout(type, count == 1 ? 1 : 2);
}

size_t transfer_convert(opal_convertor_t *c, void *bytes, size_t length, bool pack)
{
    struct iovec v = {bytes, length};
    uint32_t pieces = 1;
    size_t moved = length;
    if (pack)
        opal_convertor_pack(c, &v, &pieces, &moved);
    else
        opal_convertor_unpack(c, &v, &pieces, &moved);
    return moved;
}

/* Where in memory they are, from the first byte to the last. */
static struct engine_span transfer_span(const void *buffer, size_t count,
                                        const ompi_datatype_t *type)
{
    const opal_datatype_t *d = &type->super;
    if (count == 0 || d->size == 0)
        return (struct engine_span){NULL, 0};
    return (struct engine_span){(const char *)buffer + d->true_lb,
                                (size_t)(d->true_ub - d->true_lb) +
                                    (count - 1) * (size_t)(d->ub - d->lb)};
}

/* What is not in one piece is packed at once: a convertor cannot stop in the middle of an element.
 */
void transfer_to_send(struct transfer *t, const void *buffer, size_t count, ompi_datatype_t *type,
                      opal_convertor_t *convertor)
{
    t->packed = NULL;
    t->convertor = NULL;
    t->is_send = true;
    t->send.held = false;
    t->send.length = count * type->super.size;
    t->send.span = transfer_span(buffer, count, type);
    t->send.data = t->send.length > 0 ? (const char *)buffer + type->super.true_lb : "";
    if (transfer_in_one_piece(type, count) || t->send.length == 0)
        return;
    opal_convertor_cleanup(convertor);
    opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &type->super, count, buffer,
                                             0, convertor);
    if (t->send.length <= engine_eager(replica.engine)) {
        t->convertor = convertor;
        t->send.data = NULL;
        return;
    }
    t->packed = engine_take(replica.engine, 0, t->send.length);
    transfer_convert(convertor, t->packed, t->send.length, true);
    t->send.data = t->packed;
    t->send.span = (struct engine_span){NULL, 0};
}

void transfer_to_receive(struct transfer *t, void *buffer, size_t count, ompi_datatype_t *type,
                         opal_convertor_t *convertor)
{
    t->packed = NULL;
    t->convertor = NULL;
    t->is_send = false;
    const bool awaited = t->request == NULL;
    const bool inner = !awaited && t->receive.tag < ENGINE_ANY_TAG;
    t->receive.awaited = awaited;
    t->receive.agents = false;
    t->receive.inner = inner;
    t->receive.firm = awaited || inner; /* no user's request */
    t->receive.span = transfer_span(buffer, count, type);
    t->receive.capacity = count * type->super.size;
    t->receive.data = t->receive.capacity > 0 ? (char *)buffer + type->super.true_lb : (void *)t;
    if (transfer_in_one_piece(type, count) || t->receive.capacity == 0)
        return;
    opal_convertor_cleanup(convertor);
    opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &type->super, count, buffer,
                                             0, convertor);
    t->convertor = convertor;
    t->packed = engine_take(replica.engine, 0, t->receive.capacity);
    t->receive.data = t->packed;
}

void transfer_give_packed(struct transfer *t)
{
    if (t->packed != NULL)
        engine_give(replica.engine, t->packed, 0,
                    t->is_send ? t->send.length : t->receive.capacity);
    t->packed = NULL;
}

void transfer_pack(void *ctx, struct engine_send *s, size_t offset, void *bytes, size_t length)
{
    (void)ctx;
    struct transfer *t = (struct transfer *)s;
    opal_convertor_set_position(t->convertor, &offset);
    transfer_convert(t->convertor, bytes, length, true);
}

/* Receives always have a buffer in one piece. */
void transfer_unpack(void *ctx, struct engine_receive *r, size_t offset, const void *bytes,
                     size_t length)
{
    (void)ctx, (void)r, (void)offset, (void)bytes, (void)length;
    assert(false);
}

/* A receive that is cancelled gives back what was unpacked already: pack it again. */
void transfer_repack(void *ctx, struct engine_receive *r, size_t offset, void *bytes, size_t length)
{
    (void)ctx;
    const mca_pml_base_request_t *b = &((struct transfer *)r)->request->base;
    opal_convertor_t convertor;
    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &b->req_datatype->super,
                                             b->req_count, b->req_addr, 0, &convertor);
    opal_convertor_set_position(&convertor, &offset);
    transfer_convert(&convertor, bytes, length, true);
    OBJ_DESTRUCT(&convertor);
}

void status_fill(ompi_status_public_t *status, const struct engine_status *s, size_t capacity)
{
    status->MPI_SOURCE = s->source;
    status->MPI_TAG = s->tag;
    status->_ucount = s->length < capacity ? s->length : capacity;
    status->_cancelled = s->cancelled;
    status->MPI_ERROR = s->length > capacity ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}
