/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h -- what may be shown on a terminal: UTF-8 (RFC 3629) without control characters, so that
 * text of other peers cannot move the cursor or colour the screen. */
#ifndef P2P_OVERLAY_BASE_TEXT_H
#define P2P_OVERLAY_BASE_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* lines: line feeds and tabs are text, too. */
bool text_is_shown(const uint8_t *text, size_t length, bool lines);
/* In place, and as long as before: what may not be shown becomes '?', a line feed or tab a blank.
 */
void text_clean(uint8_t *text, size_t length, bool lines);
#endif
