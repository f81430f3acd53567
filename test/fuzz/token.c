/* SPDX-License-Identifier: BSD-3-Clause */
/* token.c -- what a person pastes: an invitation, whole except what it says, or any text; an
 * address; a place to connect to. What is taken is written again, and then it is the same. */
#include "overlay/membership/token.h"
#include "overlay/base/addr.h"
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK = 4, BYTES = 128 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const char *text)
{
    struct token t, again;
    char out[TOKEN_TEXT + 1];
    if (token_parse(&t, text, NULL) != 0)
        return;
    token_text(&t, out);
    if (token_parse(&again, out, NULL) != 0 || memcmp(&t, &again, sizeof t) != 0)
        abort();
}

/* Noise that ends with the right checksum, or it would hardly ever be read any further. */
static void parse_checked(const uint8_t *data, size_t size)
{
    uint8_t bytes[BYTES + CHECK], hash[crypto_generichash_BYTES];
    char text[2 * sizeof bytes] = "p2pgrid-";
    size_t length = size < BYTES ? size : BYTES, head = strlen(text);
    memcpy(bytes, data, length);
    crypto_generichash(hash, sizeof hash, bytes, length, NULL, 0);
    memcpy(bytes + length, hash, CHECK);
    sodium_bin2base64(text + head, sizeof text - head, bytes, length + CHECK,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    parse(text);
}

static void parse_address(const char *text)
{
    struct addr a, again;
    struct err e = {0};
    char out[ADDR_TEXT + 1], host[ADDR_HOST + 1];
    uint16_t port;
    if (addr_parse(&a, text, 7117, &e) == 0) {
        addr_text(&a, out);
        if (addr_parse(&again, out, 0, NULL) != 0 || !addr_equal(&a, &again))
            abort();
    }
    if (addr_split(text, 7117, host, &port, &e) == 0 && host[0] == '\0')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return -1;
    char *text = malloc(size);
    if (text == NULL)
        abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] % 4 == 0)
        parse_checked(data + 1, size - 1);
    else if (data[0] % 4 == 1)
        parse(text);
    else
        parse_address(text);
    free(text);
    return 0;
}
