/* SPDX-License-Identifier: BSD-3-Clause */
/* page.h -- what `p2pctl top` shows of a state: rows of text of a given width and height. */
#ifndef P2P_OVERLAY_TOP_PAGE_H
#define P2P_OVERLAY_TOP_PAGE_H
#include "sheet.h"
#include "state.h"
#include "view.h"

/* Fills the sheet, which is blank. Brings the view's places within bounds. */
void page_draw(const struct top_state *s, struct top_view *v, uint64_t now_ms, struct sheet *out);
/* Everything, one below the other, on a sheet of its own that is as high as it takes; NULL: no
 * memory. */
struct sheet *page_all(const struct top_state *s, unsigned width, bool ascii, uint64_t now_ms);
#endif
