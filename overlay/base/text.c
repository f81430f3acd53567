/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c -- checks and cleans text for a terminal. */
#include "text.h"

/* The smallest character of so many bytes: a longer encoding of a smaller one is invalid. */
static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

static size_t bytes_of(uint8_t first)
{
    return first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
}

static bool is_shown(uint32_t character, size_t bytes)
{
    bool control = character < 0x20 || (character >= 0x7f && character < 0xa0);
    bool none = character > 0x10ffff || (character >= 0xd800 && character < 0xe000);
    return character >= least[bytes] && !control && !none;
}

/* Bytes of the character that begins here; 0: it may not be shown. */
static size_t character_at(const uint8_t *p, size_t left, bool lines)
{
    size_t bytes = bytes_of(p[0]);
    if (lines && (p[0] == '\n' || p[0] == '\t'))
        return 1;
    if (bytes == 0 || bytes > left)
        return 0;
    uint32_t character = bytes == 1 ? p[0] : p[0] & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        character = character << 6 | (p[i] & 0x3f);
    }
    return is_shown(character, bytes) ? bytes : 0;
}

bool text_is_shown(const uint8_t *text, size_t length, bool lines)
{
    size_t at = 0, bytes;
    while (at < length && (bytes = character_at(text + at, length - at, lines)) > 0)
        at += bytes;
    return at == length;
}

void text_clean(uint8_t *text, size_t length, bool lines)
{
    for (size_t at = 0; at < length;) {
        size_t bytes = character_at(text + at, length - at, lines);
        if (bytes == 0)
            text[at] = text[at] == '\n' || text[at] == '\t' ? ' ' : '?';
        at += bytes > 0 ? bytes : 1;
    }
}
