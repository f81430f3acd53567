/* SPDX-License-Identifier: BSD-3-Clause */
/* screen.c -- a terminal, driven by ncurses. */
#include "screen.h"
#include "view.h"
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

enum { ESCAPE_MS = 100, ESCAPE = 27, DELETE = 127, BACKSPACE = 8 };
enum { PAIR_GOOD = 1, PAIR_BAD };

struct screen {
    SCREEN *curses;
    bool colours;
    char line[SHEET_WIDTH_MAX * CELL_BYTES + 1];
};

static void screen_colours(struct screen *s)
{
    const char *no = getenv("NO_COLOR");
    if (!has_colors() || (no != NULL && no[0] != '\0') || start_color() == ERR)
        return;
    use_default_colors();
    s->colours =
        init_pair(PAIR_GOOD, COLOR_GREEN, -1) == OK && init_pair(PAIR_BAD, COLOR_RED, -1) == OK;
}

int screen_open(struct screen **out, struct err *e)
{
    const char *term = getenv("TERM");
    struct screen *s = calloc(1, sizeof *s);
    *out = s;
    if (s == NULL)
        return err_set(e, ENOMEM, "out of memory");
    s->curses = newterm(NULL, stdout, stdin);
    if (s->curses == NULL) {
        free(s);
        *out = NULL;
        return err_set(e, ENOTTY,
                       "the terminal TERM=%.60s is not known on this desktop: try TERM=vt100, or "
                       "`p2pctl top --once`",
                       term != NULL ? term : "");
    }
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, true);
    nodelay(stdscr, true);
    set_escdelay(ESCAPE_MS);
    curs_set(0);
    screen_colours(s);
    return 0;
}

void screen_close(struct screen *s)
{
    if (s == NULL)
        return;
    endwin();
    delscreen(s->curses);
    free(s);
}

void screen_size(const struct screen *s, unsigned *width, unsigned *height)
{
    (void)s;
    *width = (unsigned)COLS;
    *height = (unsigned)LINES;
}

bool screen_ascii(const struct screen *s)
{
    (void)s;
    return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

static void screen_tint(const struct screen *s, enum tint tint)
{
    attr_t a = A_NORMAL;
    short pair = 0;
    switch (tint) {
    case TINT_PLAIN:
        break;
    case TINT_BOLD:
        a = A_BOLD;
        break;
    case TINT_DIM:
        a = A_DIM;
        break;
    case TINT_GOOD:
        pair = s->colours ? PAIR_GOOD : 0;
        break;
    case TINT_BAD: /* to be seen without colours, too */
        a = A_BOLD;
        pair = s->colours ? PAIR_BAD : 0;
        break;
    case TINT_MARKED:
        a = A_REVERSE;
        break;
    }
    attr_set(a, pair, NULL);
}

void screen_show(struct screen *s, const struct sheet *sheet)
{
    for (unsigned row = 0; row < sheet->height; row++) {
        enum tint tint;
        unsigned cells;
        for (unsigned column = 0; (cells = sheet_run(sheet, row, column, &tint, s->line)) > 0;
             column += cells) {
            screen_tint(s, tint);
            mvaddstr((int)row, (int)column, s->line);
        }
    }
    refresh();
}

int screen_key(struct screen *s)
{
    (void)s;
    const int key = getch();
    switch (key) {
    case ERR:
        return 0;
    case KEY_UP:
        return KEY_OF_UP;
    case KEY_DOWN:
        return KEY_OF_DOWN;
    case KEY_LEFT:
        return KEY_OF_LEFT;
    case KEY_RIGHT:
        return KEY_OF_RIGHT;
    case KEY_PPAGE:
        return KEY_OF_PAGE_UP;
    case KEY_NPAGE:
        return KEY_OF_PAGE_DOWN;
    case KEY_HOME:
        return KEY_OF_HOME;
    case KEY_END:
        return KEY_OF_END;
    case KEY_BTAB:
        return KEY_OF_BACK_TAB;
    case KEY_BACKSPACE:
    case BACKSPACE:
    case DELETE:
        return KEY_OF_BACKSPACE;
    case ESCAPE:
        return KEY_OF_ESCAPE;
    case KEY_RESIZE:
        clear();
        return KEY_OF_RESIZE;
    }
    return key;
}
