/* SPDX-License-Identifier: BSD-3-Clause */
/* part.h -- the parts of a page. Each is drawn into rows of a sheet and returns how many it took.
 */
#ifndef P2P_OVERLAY_TOP_PART_H
#define P2P_OVERLAY_TOP_PART_H
#include "sheet.h"
#include "state.h"
#include "view.h"

struct part_area {
    struct sheet *sheet;
    unsigned row, rows;
};

unsigned part_peers(const struct top_state *s, struct top_view *v, uint64_t now_ms,
                    const struct part_area *a);
unsigned part_jobs(const struct top_state *s, struct top_view *v, uint64_t now_ms,
                   const struct part_area *a);
/* One job from that rank on. */
unsigned part_job(const struct own_job *j, size_t from, uint64_t now_ms, const struct part_area *a);
unsigned part_others(const struct top_state *s, const struct part_area *a);
unsigned part_events(const struct top_state *s, struct top_view *v, const struct part_area *a);
unsigned part_desktop(const struct top_state *s, struct top_view *v, const struct part_area *a);
unsigned part_history(const struct top_state *s, struct top_view *v, uint64_t now_ms,
                      const struct part_area *a);
/* A heading and the last events. */
unsigned part_news(const struct top_state *s, const struct part_area *a);

/* Of a list of so many rows, so many of which are shown: brings the cursor and the first row that
 * is shown within bounds. */
void part_bound(struct top_view *v, size_t count, unsigned shown);
/* The filter is empty or in the text, in upper or lower case. */
bool part_shows(const struct top_view *v, const char *text);
#endif
