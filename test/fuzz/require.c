/* SPDX-License-Identifier: BSD-3-Clause */
/* require.c -- noise as a requirement: it is refused with a column inside the text, or can be
 * evaluated. */
#include "overlay/core/lease/require.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct require r;
    struct require_error e;
    struct part_ad ad = {.cores = 4, .memory = 1ull << 33, .labels_count = 1, .confinement = 5};
    strcpy(ad.ompi, "4.1.4");
    strcpy(ad.libc, "glibc 2.36");
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (require_parse(&r, text, &e))
        require_fits(&r, &ad, 1000);
    else if (e.what == NULL || e.column == 0 || e.column > strlen(text) + 1)
        abort();
    free(text);
    return 0;
}
