/* SPDX-License-Identifier: BSD-3-Clause */
/* certificate.c -- what a peer shows of itself: what OpenSSL reads as a certificate, whatever
 * signed it, is read for its name, owner, grid, groups and times. Whatever is taken is bounded
 * text. */
#include "overlay/crypto/identity.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t bound)
{
    size_t length = strnlen(text, bound);
    if (length == bound || length == 0)
        abort();
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct identity_card card;
    struct err e = {0};
    X509 *certificate = d2i_X509(NULL, &data, (long)size);
    if (certificate == NULL)
        return -1;
    if (identity_read(&card, certificate, &e) == 0) {
        check_text(card.name, sizeof card.name);
        check_text(card.grid, sizeof card.grid);
        if (card.group_count > IDENTITY_GROUPS)
            abort();
        for (size_t i = 0; i < card.group_count; i++)
            check_text(card.groups[i], sizeof card.groups[i]);
    }
    X509_free(certificate);
    return 0;
}
