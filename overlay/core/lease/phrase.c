/* SPDX-License-Identifier: BSD-3-Clause */
/* phrase.c -- a line out of words and numbers. */
#include "phrase.h"
#include <assert.h>
#include <string.h>

enum { DIGITS = 20 }; /* of the largest number */

void phrase_begin(struct phrase *p, char *out, size_t size)
{
    assert(size > 0);
    *p = (struct phrase){.out = out, .size = size};
    out[0] = '\0';
}

void phrase_add_part(struct phrase *p, const char *words, size_t length)
{
    const size_t most = p->size - 1 - p->at;
    const size_t n = length < most ? length : most;
    memcpy(p->out + p->at, words, n);
    p->at += n;
    p->out[p->at] = '\0';
}

void phrase_add(struct phrase *p, const char *words)
{
    phrase_add_part(p, words, strlen(words));
}

void phrase_add_number(struct phrase *p, uint64_t number)
{
    char digits[DIGITS];
    size_t at = DIGITS;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    phrase_add_part(p, digits + at, DIGITS - at);
}
