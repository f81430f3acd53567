/* SPDX-License-Identifier: BSD-3-Clause */
/* print_json.c -- what --json prints. */
#include "print_json.h"
#include <stdio.h>

void tool_print_json(json_t *all)
{
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}
