/* SPDX-License-Identifier: BSD-3-Clause */
/* rotation.c -- a change of the authority's key, as any member may send one: whole except what it
 * says. What is taken is a whole one, and is the same when it is written again. */
#include "overlay/crypto/rotation.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 128 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct rotation *r)
{
    struct rotation *again;
    if (r->said.good_length % ROTATION_HASH != 0 || id_equal(&r->from, &r->to) ||
        rotation_take(&again, &r->said, NULL) < 0)
        abort();
    if (again->length != r->length || memcmp(again->frame, r->frame, r->length) != 0)
        abort();
    rotation_lets_in(again, again->cross, 1);
    rotation_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rotation *r = NULL;
    size_t rest = size + 1;
    if (size > MOST)
        return -1;
    uint8_t *frame = malloc(size + WIRE_HEADER);
    if (frame == NULL)
        abort();
    for (int i = 0; i < 4; i++)
        frame[i] = (uint8_t)(rest >> (24 - 8 * i));
    frame[4] = MSG_rotation;
    memcpy(frame + WIRE_HEADER, data, size);
    if (rotation_read(&r, frame, size + WIRE_HEADER, NULL) == 0)
        check(r);
    rotation_free(r);
    free(frame);
    return 0;
}
