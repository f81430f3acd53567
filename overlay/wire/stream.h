/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h -- frames one after the other: in a buffer of libevent, and in a file. */
#ifndef P2P_OVERLAY_WIRE_STREAM_H
#define P2P_OVERLAY_WIRE_STREAM_H
#include "message.h"
#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>

/* The length of the frame at the buffer's start, and where it is, in one piece: to be drained when
 * it is handled. 0: not all of it is here. -EMSGSIZE: no frame may be that long. -ENOMEM. */
static inline long stream_next(struct evbuffer *in, uint8_t **frame)
{
    uint8_t head[4];
    const ssize_t have = evbuffer_copyout(in, head, sizeof head);
    const long length = message_frame_length(head, have > 0 ? (size_t)have : 0);
    if (length < 0)
        return -EMSGSIZE;
    if (length == 0 || evbuffer_get_length(in) < (size_t)length)
        return 0;
    *frame = evbuffer_pullup(in, length);
    return *frame != NULL ? length : -ENOMEM;
}

/* The next message of a file; `frame` is room for it, to which its BYTES point. False: there is
 * none; what follows is, at most, the rest of what was written when the power went. */
static inline bool stream_read(FILE *f, uint8_t *frame, size_t size, struct message *m)
{
    if (fread(frame, 1, 4, f) != 4)
        return false;
    const long length = message_frame_length(frame, 4);
    return length >= 4 && (size_t)length <= size &&
           fread(frame + 4, 1, (size_t)length - 4, f) == (size_t)length - 4 &&
           message_decode(m, frame, (size_t)length);
}
#endif
