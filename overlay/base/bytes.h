/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.h -- numbers as they travel between ranks: little endian, at any address. */
#ifndef P2P_OVERLAY_BASE_BYTES_H
#define P2P_OVERLAY_BASE_BYTES_H
#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void bytes_put_u32(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof v);
}

static inline void bytes_put_u64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof v);
}

static inline uint32_t bytes_get_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static inline uint64_t bytes_get_u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}
#endif
