/* SPDX-License-Identifier: BSD-3-Clause */
/* needs.c -- noise as what a program needs of a system: the reader ends, and what it takes from the
 * text is the same when it is written and read again. */
#include "overlay/files/needs.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const struct needs *n, const char *machine)
{
    static struct needs back;
    char text[NEEDS_TEXT + 1] = "", name[16];
    bool last;
    needs_write(n, machine, "", text);
    const char *end = needs_read(&back, text, name, &last);
    if (end == NULL || *end != '\0' || !last || strcmp(name, machine) != 0 || back.count > n->count)
        abort();
    for (unsigned i = 0; i < back.count; i++) {
        if (strcmp(back.at[i].name, n->at[i].name) != 0 || back.at[i].count != n->at[i].count)
            abort();
        for (unsigned k = 0; k < back.at[i].count; k++)
            if (strcmp(back.at[i].version[k], n->at[i].version[k]) != 0)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct needs n;
    char text[NEEDS_TEXT + 1] = "", machine[16];
    bool last;
    memcpy(text, data, size < NEEDS_TEXT ? size : NEEDS_TEXT);
    for (const char *at = text; (at = needs_read(&n, at, machine, &last)) != NULL;)
        if (at > text + strlen(text) || n.count > NEEDS_MOST)
            abort();
        else
            again(&n, machine);
    return 0;
}
