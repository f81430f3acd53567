/* SPDX-License-Identifier: BSD-3-Clause */
/* recent.c -- byte n of the stream is at n % room. */
#include "recent.h"
#include <string.h>

void recent_add(struct recent *r, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    if (count > r->most) {
        from += count - r->most;
        r->all += count - r->most;
        count = r->most;
    }
    while (count > 0) {
        const size_t at = (size_t)(r->all % r->most), left = r->most - at;
        const size_t n = count < left ? count : left;
        memcpy(r->at + at, from, n);
        from += n;
        r->all += n;
        count -= n;
    }
}

void recent_skip(struct recent *r, uint64_t to)
{
    if (to > r->all)
        r->all = r->known = to;
}

uint64_t recent_first(const struct recent *r)
{
    const uint64_t first = r->all > r->most ? r->all - r->most : 0;
    return first > r->known ? first : r->known;
}

size_t recent_read(const struct recent *r, uint64_t *from, void *out, size_t most)
{
    uint8_t *to = out;
    size_t count = 0;
    if (*from < recent_first(r))
        *from = recent_first(r);
    for (uint64_t at = *from; at < r->all && count < most;) {
        const size_t left = r->most - (size_t)(at % r->most);
        size_t n = (size_t)(r->all - at) < left ? (size_t)(r->all - at) : left;
        n = n < most - count ? n : most - count;
        memcpy(to + count, r->at + at % r->most, n);
        count += n;
        at += n;
    }
    return count;
}
