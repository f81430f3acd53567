/* SPDX-License-Identifier: BSD-3-Clause */
/* list.c -- noise as a list of files: it is refused with a line, or all in it is inside the bounds
 * and written the same again. */
#include "overlay/files/list.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct list_entry *one = &l->entries[i];
        if (!list_path_is_good(one->path, one->kind) || one->mode > 0777 ||
            one->first_chunk + one->chunk_count > l->chunk_count ||
            list_is_link(one) != (one->target != NULL) || list_find(l, one->path) != one)
            abort();
    }
    for (size_t i = 0; i < l->chunk_count; i++)
        if (l->object_of[i] >= l->object_count ||
            !hash_equal(&l->objects[l->object_of[i]].hash, &l->chunks[i]))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct list *l;
    struct err e = {0};
    uint8_t *again = NULL;
    size_t length;
    if (list_decode(&l, data, size, &e) != 0) {
        if (e.text[0] == '\0')
            abort();
        return 0;
    }
    look_at(l);
    if (list_encode(l, &again, &length, &e) != 0 || length != size ||
        memcmp(again, data, size) != 0)
        abort();
    free(again);
    list_free(l);
    return 0;
}
