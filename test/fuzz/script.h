/* SPDX-License-Identifier: BSD-3-Clause */
/* script.h -- how the fuzzers of the state machines read their input: a byte at a time, and zeros
 * after its end. */
#ifndef P2P_SCRIPT_H
#define P2P_SCRIPT_H
#include <stddef.h>
#include <stdint.h>

struct script {
    const uint8_t *at;
    size_t left;
};

static inline unsigned script_next(struct script *s)
{
    if (s->left == 0)
        return 0;
    s->left--;
    return *s->at++;
}
#endif
