/* SPDX-License-Identifier: BSD-3-Clause */
/* pattern.c -- noise as rules and names: the matcher ends, inside both. */
#include "overlay/files/pattern.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pattern_rules rules;
    const size_t half = size / 2;
    char *text = malloc(half + 1), *path = malloc(size - half + 1);
    if (text == NULL || path == NULL)
        abort();
    memcpy(text, data, half);
    memcpy(path, data + half, size - half);
    text[half] = path[size - half] = '\0';
    pattern_matches(text, path);
    if (pattern_rules(&rules, text) == 0)
        pattern_leaves_out(&rules, path, size % 2 == 0);
    free(rules.rule);
    free(text);
    free(path);
    return 0;
}
