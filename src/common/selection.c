/* SPDX-License-Identifier: BSD-3-Clause */
/* selection.c -- reads an MCA selection list as Open MPI does. */
#include "selection.h"
#include <string.h>

bool selection_names(const char *list, const char *component)
{
    if (list == NULL || list[0] == '^')
        return false;
    const size_t length = strlen(component);
    for (const char *word = list; *word != '\0';) {
        const size_t span = strcspn(word, ",");
        if (span == length && memcmp(word, component, length) == 0)
            return true;
        word += span + (word[span] == ',');
    }
    return false;
}
