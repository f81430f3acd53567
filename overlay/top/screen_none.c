/* SPDX-License-Identifier: BSD-3-Clause */
/* screen_none.c -- in place of screen.c where there was no ncurses. */
#include "screen.h"
#include <errno.h>
#include <stddef.h>

int screen_open(struct screen **out, struct err *e)
{
    *out = NULL;
    return err_set(e, ENOSYS,
                   "this p2pctl was built without ncurses: install libncurses-dev, run configure "
                   "and make again; `p2pctl top --once` needs none");
}

void screen_close(struct screen *s)
{
    (void)s;
}

void screen_size(const struct screen *s, unsigned *width, unsigned *height)
{
    (void)s;
    *width = *height = 0;
}

bool screen_ascii(const struct screen *s)
{
    (void)s;
    return true;
}

void screen_show(struct screen *s, const struct sheet *sheet)
{
    (void)s, (void)sheet;
}

int screen_key(struct screen *s)
{
    (void)s;
    return 0;
}
