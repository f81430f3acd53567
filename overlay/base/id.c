/* SPDX-License-Identifier: BSD-3-Clause */
/* id.c -- arithmetic on the circle of ids. */
#include "id.h"
#include <assert.h>
#include <string.h>

bool id_equal(const struct id *a, const struct id *b)
{
    return memcmp(a->b, b->b, ID_BYTES) == 0;
}

int id_compare(const struct id *a, const struct id *b)
{
    return memcmp(a->b, b->b, ID_BYTES);
}

bool id_between(const struct id *x, const struct id *from, const struct id *to)
{
    if (id_compare(from, to) < 0)
        return id_compare(from, x) < 0 && id_compare(x, to) < 0;
    return id_compare(from, x) < 0 || id_compare(x, to) < 0;
}

bool id_between_or_at(const struct id *x, const struct id *from, const struct id *to)
{
    return id_equal(x, to) || id_equal(from, to) || id_between(x, from, to);
}

struct id id_plus_power(const struct id *a, unsigned bit)
{
    assert(bit < ID_BITS);
    struct id r = *a;
    unsigned carry = 1u << (bit % 8);
    for (int i = ID_BYTES - 1 - (int)(bit / 8); i >= 0 && carry != 0; i--) {
        carry += r.b[i];
        r.b[i] = (uint8_t)carry;
        carry >>= 8;
    }
    return r;
}

struct id id_distance(const struct id *from, const struct id *to)
{
    struct id r;
    int borrow = 0;
    for (int i = ID_BYTES - 1; i >= 0; i--) {
        int d = to->b[i] - from->b[i] - borrow;
        borrow = d < 0;
        r.b[i] = (uint8_t)d;
    }
    return r;
}

bool id_is_zero(const struct id *a)
{
    for (int i = 0; i < ID_BYTES; i++)
        if (a->b[i] != 0)
            return false;
    return true;
}

void id_text(const struct id *a, char out[ID_TEXT + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < ID_BYTES; i++) {
        out[2 * i] = digits[a->b[i] >> 4];
        out[2 * i + 1] = digits[a->b[i] & 15];
    }
    out[ID_TEXT] = '\0';
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool id_parse(struct id *a, const char *text)
{
    for (int i = 0; i < ID_TEXT; i++) {
        int d = digit(text[i]); /* a short text fails at its NUL */
        if (d < 0)
            return false;
        if (i % 2 == 0)
            a->b[i / 2] = (uint8_t)(d << 4);
        else
            a->b[i / 2] = (uint8_t)(a->b[i / 2] | d);
    }
    return text[ID_TEXT] == '\0';
}

bool addr_equal(const struct addr *a, const struct addr *b)
{
    return a->port == b->port && memcmp(a->ip, b->ip, sizeof a->ip) == 0;
}
