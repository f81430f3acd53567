/* SPDX-License-Identifier: BSD-3-Clause */
/* view.h -- what the user of `p2pctl top` has chosen to see, and how keys change it. */
#ifndef P2P_OVERLAY_TOP_VIEW_H
#define P2P_OVERLAY_TOP_VIEW_H
#include <stdbool.h>
#include <stddef.h>

enum top_tab { TAB_PEERS, TAB_JOBS, TAB_EVENTS, TAB_DESKTOP, TAB_HISTORY, TABS };
enum top_column { BY_NAME, BY_STATE, BY_MACHINE, BY_LOAD, BY_SLOTS, BY_DISTANCE, COLUMNS };

/* Keys that are no character. */
enum top_key {
    KEY_OF_UP = 0x110000,
    KEY_OF_DOWN,
    KEY_OF_LEFT,
    KEY_OF_RIGHT,
    KEY_OF_PAGE_UP,
    KEY_OF_PAGE_DOWN,
    KEY_OF_HOME,
    KEY_OF_END,
    KEY_OF_BACK_TAB,
    KEY_OF_BACKSPACE,
    KEY_OF_ESCAPE,
    KEY_OF_RESIZE,
};

enum { VIEW_FILTER = 40 };
struct top_view {
    enum top_tab tab;
    enum top_column column; /* by which peers are sorted */
    bool reverse, paused, help;
    bool typing;                /* keys go to the filter */
    char filter[VIEW_FILTER];   /* only rows that have it; "": all */
    size_t at[TABS], top[TABS]; /* the row of the cursor, and the first that is shown */
    size_t matrix;              /* the first rank of the job's that is shown */
    unsigned page;              /* rows that a page key goes on by; set by page_draw() */
};

void top_view_init(struct top_view *v);
/* False: the user wants to leave. */
bool top_view_key(struct top_view *v, int key);
#endif
