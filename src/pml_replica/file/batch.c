/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.c -- pieces of memory to and from requests. */
#include "batch.h"
#include <string.h>

/* The next piece of at most so many bytes; the cursor goes behind it. */
static struct batch_entry batch_next(const struct batch_list *l, struct batch_cursor *c,
                                     size_t most)
{
    struct batch_entry e = {.length = 0};
    while (c->entry < l->count && e.length == 0) {
        e = l->entry(l->list, c->entry);
        const size_t left = e.length - c->done;
        e.memory += c->done;
        e.at += c->done;
        e.length = left < most ? left : most;
        c->done += e.length;
        if (e.length == left) {
            c->entry++;
            c->done = 0;
        }
    }
    return e;
}

struct batch_size batch_gather(const struct batch_list *l, struct batch_cursor *c,
                               struct home_extent *extents, char *data)
{
    struct batch_size size = {0, 0};
    while (size.bytes < HOME_PIECE) {
        const struct batch_cursor before = *c;
        const struct batch_entry e = batch_next(l, c, HOME_PIECE - size.bytes);
        struct home_extent *last = size.extents > 0 ? &extents[size.extents - 1] : NULL;
        if (e.length == 0)
            break;
        if (last != NULL && last->at + last->length == e.at) {
            last->length += e.length;
        } else if (size.extents < HOME_MAX_EXTENTS) {
            extents[size.extents++] = (struct home_extent){e.at, e.length};
        } else {
            *c = before;
            break;
        }
        if (data != NULL)
            memcpy(data + size.bytes, e.memory, e.length);
        size.bytes += e.length;
    }
    return size;
}

void batch_scatter(const struct batch_list *l, struct batch_cursor *c, const char *data,
                   size_t bytes)
{
    while (bytes > 0) {
        const struct batch_entry e = batch_next(l, c, bytes);
        if (e.length == 0)
            break;
        memcpy(e.memory, data, e.length);
        data += e.length;
        bytes -= e.length;
    }
}
