/* SPDX-License-Identifier: BSD-3-Clause */
/* quantity.c -- numbers with units, as people write them. */
#include "quantity.h"
#include <string.h>

static bool is(const char *unit, size_t length, const char *other)
{
    return strlen(other) == length && memcmp(unit, other, length) == 0;
}

bool quantity_number(const char *word, size_t length, uint64_t *millionths, size_t *used)
{
    size_t i = 0, digits = 0;
    uint64_t n = 0, unit = QUANTITY_ONE;
    for (; i < length && quantity_digit(word[i]); i++, digits++)
        if (digits < 9)
            n = n * 10 + (uint64_t)(word[i] - '0');
    if (digits == 0 || digits > 9)
        return false;
    n *= QUANTITY_ONE;
    if (i < length && word[i] == '.') {
        size_t point = i++;
        for (; i < length && quantity_digit(word[i]); i++)
            n += (unit /= 10) * (uint64_t)(word[i] - '0');
        if (i == point + 1)
            return false;
    }
    *millionths = n;
    *used = i;
    return true;
}

static bool size_unit(const char *unit, size_t length, unsigned *shift)
{
    static const char letters[] = "KMGT";
    const char *letter = length > 0 ? strchr(letters, unit[0]) : NULL;
    if (letter == NULL || *letter == '\0')
        return false;
    *shift = 10 * (unsigned)(letter - letters + 1);
    return length == 1 || is(unit + 1, length - 1, "B") || is(unit + 1, length - 1, "iB");
}

bool quantity_size(const char *word, size_t length, uint64_t *bytes)
{
    size_t used;
    unsigned shift;
    uint64_t n;
    if (!quantity_number(word, length, &n, &used) || !size_unit(word + used, length - used, &shift))
        return false;
    uint64_t whole = n / QUANTITY_ONE, rest = n % QUANTITY_ONE;
    if (whole > UINT64_MAX >> (shift + 1))
        return false;
    *bytes = (whole << shift) + (rest << shift) / QUANTITY_ONE;
    return true;
}

bool quantity_rate(const char *word, size_t length, uint64_t *rate)
{
    size_t used;
    uint64_t n;
    if (!quantity_number(word, length, &n, &used) || used + 1 != length)
        return false;
    switch (word[used]) {
    case 'K':
        *rate = n / 1000;
        return true;
    case 'M':
        *rate = n;
        return true;
    case 'G':
        *rate = n * 1000;
        return true;
    }
    return false;
}

bool quantity_time(const char *word, size_t length, uint64_t *us)
{
    size_t used;
    uint64_t n;
    if (!quantity_number(word, length, &n, &used))
        return false;
    const char *unit = word + used;
    length -= used;
    if (is(unit, length, "us"))
        *us = n / QUANTITY_ONE;
    else if (is(unit, length, "ms"))
        *us = n / 1000;
    else if (is(unit, length, "s"))
        *us = n;
    else
        return false;
    return true;
}
