/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c -- names of peers in one text. */
#include "names.h"
#include <stdio.h>
#include <string.h>

static bool names_have(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (size_t n; *list != '\0'; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (n == length && memcmp(list, name, n) == 0)
            return true;
    }
    return false;
}

bool names_add(char *list, size_t size, const char *name)
{
    const size_t used = strlen(list), more = strlen(name) + (used > 0);
    if (name[0] == '\0' || names_have(list, name))
        return true;
    if (used + more >= size)
        return false;
    snprintf(list + used, size - used, "%s%s", used > 0 ? " " : "", name);
    return true;
}

void names_text(const char *list, size_t all, size_t width, char *out, size_t size)
{
    size_t shown = 0, used = 0;
    snprintf(out, size, "none");
    for (size_t n; *list != '\0'; list += n + (list[n] == ' '), shown++) {
        n = strcspn(list, " ");
        if (used >= size || (shown > 0 && used + 2 + n > width))
            break;
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", shown > 0 ? ", " : "", (int)n,
                                 list);
    }
    if (shown == 0 && all > 0)
        snprintf(out, size, "%zu peer%s", all, all == 1 ? "" : "s");
    else if (shown < all && used < size)
        snprintf(out + used, size - used, " and %zu more", all - shown);
}
