/* SPDX-License-Identifier: BSD-3-Clause */
/* core_list.c -- checks a list of cores more strictly than hwloc, which takes "-3" and "2-". */
#include "core_list.h"
#include <string.h>

static bool core_list_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool core_list_has_numbers(const char *list)
{
    while (core_list_is_digit(*list)) {
        list += strspn(list, "0123456789");
        if (*list == '-' && core_list_is_digit(list[1]))
            list += 1 + strspn(list + 1, "0123456789");
        if (*list == '\0')
            return true;
        list += *list == ',';
    }
    return false;
}

bool core_list_is_valid(const char *list)
{
    return strcmp(list, "all") == 0 || strcmp(list, "none") == 0 ||
           (strlen(list) <= CORE_LIST_TEXT && core_list_has_numbers(list));
}
