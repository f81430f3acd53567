/* SPDX-License-Identifier: BSD-3-Clause */
/* screen.h -- a terminal, driven by ncurses: shows sheets, gives keys. screen_none.c stands in
 * where this was built without ncurses. */
#ifndef P2P_OVERLAY_TOP_SCREEN_H
#define P2P_OVERLAY_TOP_SCREEN_H
#include "overlay/base/err.h"
#include "sheet.h"

struct screen;

/* -ENOSYS: without ncurses; -ENOTTY: the terminal is of a kind that is not known here. */
int screen_open(struct screen **out, struct err *e);
void screen_close(struct screen *s); /* the terminal is as before */
void screen_size(const struct screen *s, unsigned *width, unsigned *height);
bool screen_ascii(const struct screen *s); /* it shows nothing else */
void screen_show(struct screen *s, const struct sheet *sheet);
/* A character, a KEY_OF_... of view.h, or 0 when none waits. */
int screen_key(struct screen *s);
#endif
