/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.c -- zstd, where it helps. */
#include "pack.h"
#include <zstd.h>

/* Of its levels the one that keeps up with a link of 1 Gbit/s. */
enum { PACK_LEVEL = 1, PACK_LEAST = 512 };

size_t pack_most(size_t size)
{
    return size / 8 * 7;
}

size_t pack_make(uint8_t *out, const uint8_t *bytes, size_t size)
{
    if (size < PACK_LEAST)
        return 0;
    const size_t n = ZSTD_compress(out, pack_most(size), bytes, size, PACK_LEVEL);
    return ZSTD_isError(n) ? 0 : n;
}

bool pack_open(uint8_t *out, size_t size, const uint8_t *packed, size_t length)
{
    return ZSTD_decompress(out, size, packed, length) == size;
}
