/* SPDX-License-Identifier: BSD-3-Clause */
/* uri.c -- finds `;tcp://A,B:PORT` (then perhaps `;tcp6://[A],[B]:PORT`) after a digit, as ORTE
 * writes it. */
#include "uri.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char scheme[] = ";tcp://", scheme6[] = ";tcp6://";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One address part at `at`: how long it is, 0 if it is none. */
static size_t part(const char *at, const char *end, const char *begin, const char *letters,
                   uint16_t *port)
{
    size_t n = strlen(begin);
    if ((size_t)(end - at) <= n || memcmp(at, begin, n) != 0)
        return 0;
    const char *p = at + n, *colon = NULL;
    while (p < end && *p != '\0' && strchr(letters, *p) != NULL) {
        if (*p == ':')
            colon = p;
        p++;
    }
    unsigned number = 0;
    if (colon == NULL || colon == at + n)
        return 0;
    for (p = colon + 1; p < end && is_digit(*p) && number <= UINT16_MAX; p++)
        number = 10 * number + (unsigned)(*p - '0');
    if (number == 0 || number > UINT16_MAX)
        return 0;
    *port = (uint16_t)number;
    return (size_t)(p - at);
}

/* The next address at or behind `from`; its length with everything of IPv6 that follows; NULL at
 * the end. */
static const char *next(const char *text, const char *from, const char *end, size_t *length,
                        uint16_t *port)
{
    for (const char *at = from; at < end; at++) {
        uint16_t ignored;
        if (*at != ';' || at == text || !is_digit(at[-1]))
            continue;
        *length = part(at, end, scheme, "0123456789.,:", port);
        if (*length == 0)
            continue;
        *length += part(at + *length, end, scheme6, "0123456789abcdefABCDEF.,:[]", &ignored);
        return at;
    }
    return NULL;
}

uint16_t uri_port(const char *text, size_t length)
{
    size_t n;
    uint16_t port;
    return next(text, text, text + length, &n, &port) != NULL ? port : 0;
}

char *uri_rewrite(const char *text, uint16_t port)
{
    const char *from = text, *end = text + strlen(text), *at;
    char *out = NULL;
    size_t size, n;
    uint16_t ignored;
    if (uri_port(text, strlen(text)) == 0)
        return NULL;
    FILE *f = open_memstream(&out, &size);
    if (f == NULL)
        return NULL;
    while ((at = next(text, from, end, &n, &ignored)) != NULL) {
        fwrite(from, 1, (size_t)(at - from), f);
        fprintf(f, "%s127.0.0.1:%u", scheme, port);
        from = at + n;
    }
    fwrite(from, 1, (size_t)(end - from), f);
    return fclose(f) == 0 ? out : NULL;
}
