/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.c -- noise as the packed bytes of an object: nothing behind the object's size is written,
 * and what packing has made of any bytes is opened again. The first two bytes: the size. */
#include "overlay/files/pack.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Both buffers are as large as they must be, so that the sanitizer sees a byte too many. */
static void open_noise(size_t size, const uint8_t *packed, size_t length)
{
    uint8_t *out = malloc(size + (size == 0)), *in = malloc(length + (length == 0));
    memcpy(in, packed, length);
    pack_open(out, size, in, length);
    free(in);
    free(out);
}

static void there_and_back(const uint8_t *bytes, size_t size)
{
    uint8_t *packed = malloc(pack_most(size) + (pack_most(size) == 0));
    const size_t n = pack_make(packed, bytes, size);
    uint8_t *again = malloc(size + (size == 0));
    if (n > pack_most(size) ||
        (n > 0 && (!pack_open(again, size, packed, n) || memcmp(again, bytes, size) != 0)))
        abort();
    free(again);
    free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    open_noise(data[0] | (size_t)data[1] << 8, data + 2, size - 2);
    there_and_back(data + 2, size - 2);
    return 0;
}
