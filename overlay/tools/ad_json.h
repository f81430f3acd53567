/* SPDX-License-Identifier: BSD-3-Clause */
/* ad_json.h -- what a peer offers, as JSON. */
#ifndef P2P_OVERLAY_TOOLS_AD_JSON_H
#define P2P_OVERLAY_TOOLS_AD_JSON_H
#include "overlay/wire/message.h"
#include <jansson.h>

json_t *tool_json_confinement(unsigned bits);   /* ["files", ...] */
json_t *tool_json_ad(const struct part_ad *ad); /* a new object; the caller may add to it */
void tool_print_json(json_t *all);              /* to stdout; takes the reference */
/* An array with an element for each line of the text. */
json_t *tool_json_lines(const char *text);
#endif
