/* SPDX-License-Identifier: BSD-3-Clause */
/* draws.c -- random bytes from the job's secret. */
#include "draws.h"
#include "src/common/secret.h"
#include "src/survive/level.h"
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool number_read(const char *text, unsigned *out)
{
    char *end;
    if (text == NULL || *text < '0' || *text > '9')
        return false;
    errno = 0;
    const unsigned long value = strtoul(text, &end, 10);
    *out = (unsigned)value;
    return errno == 0 && *end == '\0' && value <= 1u << 30;
}

static bool rank_read(const struct draws_of *of, unsigned *rank)
{
    struct level level;
    unsigned process, processes, lane;
    return of->level != NULL && level_parse(&level, of->level, NULL) == 0 &&
           number_read(of->process, &process) && number_read(of->processes, &processes) &&
           process < processes &&
           level_place(&level, level_ranks(&level, processes), process, rank, &lane);
}

bool draws_begin(struct draws *d, const struct draws_of *of)
{
    uint8_t secret[SECRET_BYTES];
    char use[64];
    unsigned rank;
    if (of->secret == NULL || !secret_read(of->secret, secret) || !rank_read(of, &rank))
        return false;
    snprintf(use, sizeof use, "p2pgrid random numbers of rank %u", rank);
    d->count = 0;
    const bool made = crypto_generichash(d->key, sizeof d->key, (const uint8_t *)use, strlen(use),
                                         secret, sizeof secret) == 0;
    sodium_memzero(secret, sizeof secret);
    return made;
}

void draws_take(struct draws *d, void *out, size_t size)
{
    uint8_t nonce[crypto_stream_chacha20_ietf_NONCEBYTES] = {0};
    memcpy(nonce, &d->count, sizeof d->count);
    d->count++;
    crypto_stream_chacha20_ietf(out, size, nonce, d->key);
}
