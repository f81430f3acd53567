/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp.c -- frames on a TCP connection.
 *
 *     0          4             5      8       16
 *     | received | head length | zero | length | head ... | payload ...
 *
 * Numbers are little-endian. Frames are numbered from 0 by counting; `received` says how many of
 * the other direction have arrived whole. A frame stays in its queue until it is acknowledged, so
 * that after a broken connection the next one goes on with the first frame that is missing. A frame
 * with neither head nor payload only acknowledges. */
#include "overlay/base/bytes.h"
#include "endpoint.h"
#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { BUFFER = 256 * 1024, PIECES = 64, READS = 8 };
enum { TELL_FRAMES = 32, TELL_BYTES = 256 * 1024 };
_Static_assert(BUFFER >= AEAD_RECORD + TCP_HEADER + TRANSPORT_HEAD + TRANSPORT_SMALL,
               "a record fits beside what is left of a frame");
_Static_assert(BUFFER >= 2 * (TCP_HEADER + TRANSPORT_HEAD + TRANSPORT_SMALL), "a small frame fits");

int tcp_prepare(struct endpoint *e)
{
    if (e->buffer == NULL)
        e->buffer = malloc(BUFFER);
    return e->buffer != NULL ? 0 : -ENOMEM;
}

/* --- out --- */

static void tcp_header_write(struct endpoint *e, struct out_frame *f)
{
    bytes_put_u32(f->bytes, e->received);
    f->bytes[4] = (uint8_t)f->head_length;
    memset(f->bytes + 5, 0, 3);
    bytes_put_u64(f->bytes + 8, f->length);
    e->told = e->received;
    e->untold_bytes = 0;
}

static size_t tcp_frame_size(const struct out_frame *f)
{
    return TCP_HEADER + f->head_length + f->length;
}

static int iovec_add(struct iovec *v, const uint8_t *from, size_t length, size_t *skip)
{
    if (*skip >= length) {
        *skip -= length;
        return 0;
    }
    *v = (struct iovec){(void *)(from + *skip), length - *skip};
    *skip = 0;
    return 1;
}

static int tcp_gather(struct endpoint *e, struct iovec *v, size_t *total)
{
    int n = 0;
    size_t skip = e->offset;
    *total = 0;
    for (struct out_frame *f = e->unwritten; f != NULL && n + 2 <= PIECES; f = f->next) {
        if (f != e->unwritten || e->offset == 0)
            tcp_header_write(e, f);
        bool copied = f->payload == f->bytes + TCP_HEADER + f->head_length;
        size_t front = (size_t)TCP_HEADER + f->head_length + (copied ? f->length : 0);
        *total += tcp_frame_size(f) - (f == e->unwritten ? e->offset : 0);
        n += iovec_add(v + n, f->bytes, front, &skip);
        if (!copied && f->length > 0)
            n += iovec_add(v + n, f->payload, f->length, &skip);
    }
    return n;
}

static void tcp_written(struct endpoint *e, size_t n)
{
    while (n > 0) {
        size_t rest = tcp_frame_size(e->unwritten) - e->offset;
        if (n < rest) {
            e->offset += n;
            return;
        }
        n -= rest;
        e->unwritten = e->unwritten->next;
        e->offset = 0;
    }
}

void tcp_flush(struct transport *t, struct endpoint *e)
{
    while (e->unwritten != NULL) {
        struct iovec v[PIECES];
        size_t total;
        struct msghdr m = {.msg_iov = v};
        m.msg_iovlen = (size_t)tcp_gather(e, v, &total);
        ssize_t n = e->aead != NULL ? aead_write(e->aead, e->fd, m.msg_iov, (int)m.msg_iovlen)
                                    : sendmsg(e->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            /* Broken: epoll reports it too, and then from within poll. */
            endpoint_watch(t, e, errno == EAGAIN ? EPOLLIN | EPOLLOUT : EPOLLIN);
            return;
        }
        t->moved++;
        tcp_written(e, (size_t)n);
        if (e->aead == NULL ? (size_t)n < total : !aead_is_out(e->aead)) {
            endpoint_watch(t, e, EPOLLIN | EPOLLOUT);
            return;
        }
    }
    bool rest = e->aead != NULL && aead_write(e->aead, e->fd, NULL, 0) < 0 && errno == EAGAIN;
    endpoint_watch(t, e, rest ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

bool tcp_is_there(const struct endpoint *e)
{
    int waiting = 0;
    return (e->aead == NULL || aead_is_out(e->aead)) && ioctl(e->fd, SIOCOUTQ, &waiting) == 0 &&
           waiting == 0;
}

/* --- in --- */

/* Takes what the buffer has of the payload that is under way. */
static void tcp_take_payload(struct transport *t, struct endpoint *e)
{
    const uint8_t *bytes = e->buffer + e->begin;
    size_t n = e->end - e->begin, left = e->in.length - e->in.got;
    if (n > left)
        n = left;
    e->begin += n;
    frame_goes_on(t, e, bytes, n);
}

/* Takes the frame at the front of the buffer; false when more has to come first. */
static bool tcp_take_frame(struct transport *t, struct endpoint *e)
{
    uint8_t *p = e->buffer + e->begin;
    size_t have = e->end - e->begin;
    if (have < TCP_HEADER || have < (size_t)TCP_HEADER + p[4])
        return false;
    size_t head_length = p[4], front = TCP_HEADER + head_length;
    uint64_t length = bytes_get_u64(p + 8);
    bool small = length <= TRANSPORT_SMALL;
    if (head_length > TRANSPORT_HEAD || (small && have < front + length))
        return false;
    endpoint_acknowledged(t, e, bytes_get_u32(p));
    e->untold_bytes += front + length;
    e->begin += front;
    if (!small) {
        frame_begins(t, e, p + TCP_HEADER, head_length, length);
        return true;
    }
    e->begin += length;
    if (head_length + length > 0)
        frame_small(t, e, p + TCP_HEADER, head_length, p + front, length);
    else
        e->received++;
    return true;
}

static void tcp_take_all(struct transport *t, struct endpoint *e)
{
    bool more = true;
    while (more && e->state == LINK_OPEN)
        if (e->in.active && e->end > e->begin)
            tcp_take_payload(t, e);
        else if (!e->in.active)
            more = tcp_take_frame(t, e);
        else
            more = false;
    if (e->state != LINK_OPEN)
        return;
    if (e->begin == e->end) {
        e->begin = e->end = 0;
    } else if (e->begin > 0) {
        memmove(e->buffer, e->buffer + e->begin, e->end - e->begin);
        e->end -= e->begin;
        e->begin = 0;
    }
}

/* epoll does not know of what is decrypted, or ready to be. */
static bool tcp_has_more(const struct endpoint *e)
{
    return e->aead != NULL && aead_is_ready(e->aead);
}

/* One read: the rest of the payload right to its place, what follows into the buffer. True: there
 * may be more. */
static bool tcp_read(struct transport *t, struct endpoint *e)
{
    struct in_frame *in = &e->in;
    struct iovec v[2];
    int n = 0;
    size_t direct = in->active && in->place != NULL ? in->length - in->got : 0;
    if (direct > 0)
        v[n++] = (struct iovec){in->place + in->got, direct};
    size_t room = BUFFER - e->end;
    v[n++] = (struct iovec){e->buffer + e->end, room};
    ssize_t got = e->aead != NULL ? aead_read(e->aead, e->fd, v, n) : readv(e->fd, v, n);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0) {
        endpoint_broken(t, e,
                        got == 0           ? "it closed the connection"
                        : errno == EBADMSG ? "somebody tampered with the connection"
                                           : "the connection broke");
        return false;
    }
    size_t placed = (size_t)got < direct ? (size_t)got : direct;
    in->got += placed;
    e->end += (size_t)got - placed;
    if (direct > 0 && placed == direct)
        frame_ends(t, e);
    else if (direct > 0)
        t->moved++;
    if (e->state == LINK_OPEN)
        tcp_take_all(t, e);
    return ((size_t)got == direct + room || tcp_has_more(e)) && e->state == LINK_OPEN;
}

void tcp_ready(struct transport *t, struct endpoint *e, uint32_t events)
{
    if (events & EPOLLOUT)
        tcp_flush(t, e);
    if (!(events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
        return;
    uint64_t large = TRANSPORT_SMALL;
    bool more = true;
    for (int i = 0; more && (i < READS || tcp_has_more(e)); i++) {
        t->reading = true;
        more = tcp_read(t, e);
        t->reading = false;
        answers_go(t);
    }
    if (e->state == LINK_OPEN &&
        (e->received - e->told >= TELL_FRAMES || e->untold_bytes >= TELL_BYTES ||
         (e->untold_bytes > large && !e->in.active)))
        tcp_acknowledge(t, e);
}
