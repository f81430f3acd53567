/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c -- how keys change what is shown. Places are brought within bounds when it is drawn. */
#include "view.h"
#include <stdint.h>
#include <string.h>

enum { ENTER = '\n', RETURN = '\r' };

void top_view_init(struct top_view *v)
{
    *v = (struct top_view){.column = BY_DISTANCE, .page = 1};
}

static void view_type(struct top_view *v, int key)
{
    const size_t length = strlen(v->filter);
    if (key == ENTER || key == RETURN) {
        v->typing = false;
    } else if (key == KEY_OF_ESCAPE) {
        v->typing = false;
        v->filter[0] = '\0';
    } else if (key == KEY_OF_BACKSPACE && length > 0) {
        v->filter[length - 1] = '\0';
    } else if (key >= ' ' && key < 0x7f && length + 1 < sizeof v->filter) {
        v->filter[length] = (char)key;
        v->filter[length + 1] = '\0';
    }
}

static void view_turn(struct top_view *v, int by)
{
    v->tab = (enum top_tab)((v->tab + TABS + by) % TABS);
}

static void view_move(struct top_view *v, size_t by, bool up)
{
    size_t *at = &v->at[v->tab];
    *at = !up ? *at + by : *at > by ? *at - by : 0;
}

/* In a job's matrix the page keys move the ranks, as the arrows choose the job. */
static void view_page(struct top_view *v, bool up)
{
    if (v->tab != TAB_JOBS)
        view_move(v, v->page, up);
    else
        v->matrix = !up ? v->matrix + v->page : v->matrix > v->page ? v->matrix - v->page : 0;
}

static void view_move_key(struct top_view *v, int key)
{
    switch (key) {
    case KEY_OF_UP:
    case 'k':
    case KEY_OF_DOWN:
    case 'j':
        view_move(v, 1, key == KEY_OF_UP || key == 'k');
        v->matrix = v->tab == TAB_JOBS ? 0 : v->matrix;
        break;
    case KEY_OF_PAGE_UP:
    case KEY_OF_PAGE_DOWN:
        view_page(v, key == KEY_OF_PAGE_UP);
        break;
    case KEY_OF_HOME:
        v->at[v->tab] = v->matrix = 0;
        break;
    case KEY_OF_END:
        v->at[v->tab] = SIZE_MAX / 2;
        break;
    case '\t':
    case KEY_OF_RIGHT:
        view_turn(v, 1);
        break;
    case KEY_OF_BACK_TAB:
    case KEY_OF_LEFT:
        view_turn(v, -1);
        break;
    }
}

static void view_choose_key(struct top_view *v, int key)
{
    switch (key) {
    case '1' ... '0' + TABS:
        v->tab = (enum top_tab)(key - '1');
        break;
    case 's':
        v->column = (enum top_column)((v->column + 1) % COLUMNS);
        break;
    case 'r':
        v->reverse = !v->reverse;
        break;
    case 'p':
    case ' ':
        v->paused = !v->paused;
        break;
    case '/':
        v->typing = true;
        break;
    case KEY_OF_ESCAPE:
        v->filter[0] = '\0';
        break;
    case 'h':
    case '?':
        v->help = true;
        break;
    }
}

bool top_view_key(struct top_view *v, int key)
{
    if (v->typing)
        view_type(v, key);
    else if (v->help)
        v->help = false;
    else if (key == 'q' || key == 'Q')
        return false;
    else {
        view_move_key(v, key);
        view_choose_key(v, key);
    }
    return true;
}
