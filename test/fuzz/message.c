/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c -- noise into the codec: no message may be read past its end or come out otherwise than
 * it went in. */
#include "overlay/wire/message.h"
#include "overlay/wire/version.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte chooses: noise as the stream brings it, or noise as the body of a frame whose
 * length is right, so that the fuzzer need not discover the header for every kind. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct message_whole said; /* not for the stack */
    const struct message *const m = &said.message;
    if (size < 2 || size > WIRE_MAX_FRAME - 4)
        return -1;
    size_t length = size - 1;
    bool framed = data[0] & 1;
    /* On the heap and exactly as long as the frame, so that the sanitizer sees one byte too many.
     */
    uint8_t *frame = malloc(length + 4), *again = malloc(WIRE_MAX_FRAME);
    if (frame == NULL || again == NULL)
        abort();
    size_t at = 0;
    if (framed) {
        struct wire_writer w = {.base = frame, .size = 4};
        wire_put_u32(&w, (uint32_t)length);
        at = 4;
    }
    memcpy(frame + at, data + 1, length);
    length += at;
    long whole = message_frame_length(frame, length);
    if (whole < -1 || whole > (long)WIRE_MAX_FRAME)
        abort();
    uint8_t *exact = malloc(length);
    if (exact == NULL)
        abort();
    memcpy(exact, frame, length);
    if (message_decode_whole(&said, exact, length, WIRE_HIGHEST)) {
        /* There is one way to write a message: what was read is written the same; except what a
         * later version may add to hello. */
        size_t written = message_encode(m, again, WIRE_MAX_FRAME);
        bool grown = m->kind == MSG_hello && written < length;
        if (!grown && (written != length || memcmp(again, exact, length) != 0))
            abort();
        if (message_name(m->kind)[0] == '?')
            abort();
    }
    free(exact);
    free(again);
    free(frame);
    return 0;
}
