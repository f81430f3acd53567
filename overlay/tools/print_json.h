/* SPDX-License-Identifier: BSD-3-Clause */
/* print_json.h -- one object on the standard output, which is what --json prints. */
#ifndef P2P_OVERLAY_TOOLS_PRINT_JSON_H
#define P2P_OVERLAY_TOOLS_PRINT_JSON_H
#include "overlay/json/rows.h"

/* Takes the object over. */
void tool_print_json(json_t *all);
#endif
