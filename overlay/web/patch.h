/* SPDX-License-Identifier: BSD-3-Clause */
/* patch.h -- what has changed from one JSON value to another, as a merge patch (RFC 7386): an
 * object of the members that are other ones now; null where one is gone. */
#ifndef P2P_OVERLAY_WEB_PATCH_H
#define P2P_OVERLAY_WEB_PATCH_H
#include <jansson.h>

/* NULL: nothing. */
json_t *patch_make(json_t *was, json_t *is);
#endif
