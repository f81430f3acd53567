/* SPDX-License-Identifier: BSD-3-Clause */
/* top.c -- p2pctl top: the grid as it is now, on a terminal until the user leaves it, or once. */
#include "feed.h"
#include "page.h"
#include "screen.h"
#include "state_json.h"
#include "overlay/base/clock.h"
#include "overlay/tools/moment.h"
#include "overlay/tools/print_json.h"
#include "overlay/tools/tool.h"
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { EACH_MS = 1000, ONCE_MS = 20000, WIDTH_UNKNOWN = 120 };

/* A signal has come that ends the program. */
static volatile sig_atomic_t told_to_end;

static void on_signal(int number)
{
    (void)number;
    told_to_end = 1;
}

static void catch_signals(void)
{
    struct sigaction end = {.sa_handler = on_signal};
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGTERM, &end, NULL);
}

struct top_order {
    struct tool_options shared;
    bool once;
};

static error_t top_parse(int key, char *value, struct argp_state *state)
{
    struct top_order *o = state->input;
    (void)value;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &o->shared;
    else if (key == '1')
        o->once = true;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* --- once --- */

static unsigned once_width(void)
{
    struct winsize size = {0};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : WIDTH_UNKNOWN;
}

static int print_all(const struct top_state *s)
{
    static char line[SHEET_WIDTH_MAX * CELL_BYTES + 1];
    const bool ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    struct sheet *all = page_all(s, once_width(), ascii, moment_now_ms());
    unsigned blank = 0;
    for (unsigned row = 0; all != NULL && row < all->height; row++) {
        sheet_row_text(all, row, line);
        blank = line[0] == '\0' ? blank + 1 : 0;
        if (blank == 0)
            puts(line);
        else if (blank == 1 && row + 1 < all->height)
            putchar('\n');
    }
    sheet_free(all);
    return all != NULL && fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
}

static int top_once(struct feed *f, const struct top_state *s, bool json)
{
    const uint64_t until = clock_ms() + ONCE_MS;
    struct err e = {0};
    while (!feed_is_full(f) && !told_to_end && s->gone_ms == 0 && clock_ms() < until) {
        feed_step(f, false);
        struct pollfd p = {.fd = feed_fd(f), .events = POLLIN};
        if (!feed_is_full(f))
            poll(&p, 1, EACH_MS);
    }
    if (feed_is_full(f) && json)
        tool_print_json(top_state_json(s));
    if (feed_is_full(f))
        return json ? TOOL_OK : print_all(s);
    err_set(&e, ETIMEDOUT, "%s",
            s->gone_ms != 0 ? s->gone_why : "the local p2pd did not answer everything in time");
    return tool_fail(&e);
}

/* --- on a terminal --- */

static void top_draw(const struct top_state *s, struct top_view *v, struct screen *screen)
{
    unsigned width, height;
    screen_size(screen, &width, &height);
    struct sheet *page = sheet_new(width, height, screen_ascii(screen));
    if (page == NULL)
        return;
    page_draw(s, v, moment_now_ms(), page);
    screen_show(screen, page);
    sheet_free(page);
}

/* False: the user leaves. */
static bool top_keys(struct top_view *v, struct screen *screen, bool *changed)
{
    int key;
    while ((key = screen_key(screen)) != 0) {
        *changed = true;
        if (!top_view_key(v, key))
            return false;
    }
    return true;
}

static void top_live(struct feed *f, const struct top_state *s, struct screen *screen)
{
    struct top_view v;
    uint64_t drawn = 0;
    bool changed = true;
    top_view_init(&v);
    while (!told_to_end && top_keys(&v, screen, &changed)) {
        const bool news = feed_step(f, v.paused) && !v.paused;
        /* What comes in many pieces is drawn a few times a second; a key's effect at once. */
        if (changed || (news && clock_ms() - drawn > EACH_MS / 4) ||
            clock_ms() - drawn >= EACH_MS) {
            top_draw(s, &v, screen);
            drawn = clock_ms();
            changed = false;
        }
        struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                              {.fd = feed_fd(f), .events = POLLIN}};
        if (poll(p, 2, EACH_MS / 4) > 0 && (p[0].revents & (POLLHUP | POLLERR)) != 0)
            return; /* the terminal is gone */
    }
}

static int top_run(struct feed *f, const struct top_state *s, const struct top_order *o)
{
    struct screen *screen;
    struct err e = {0};
    if (o->once || o->shared.json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return top_once(f, s, o->shared.json);
    if (screen_open(&screen, &e) != 0)
        return tool_fail(&e);
    top_live(f, s, screen);
    screen_close(screen);
    return TOOL_OK;
}

int tool_top(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"once", '1', NULL, 0, "print everything once and end, as without a terminal", 0}, {0}};
    static const struct argp_child children[] = {{.argp = &tool_argp}, {0}};
    const struct argp argp = {
        .options = options,
        .parser = top_parse,
        .children = children,
        .doc = "The grid as it is now, on this terminal: peers, jobs with the desktop of each rank "
               "in each lane, what is lost, and this desktop. h shows the keys, q leaves. Where "
               "the output is no terminal, everything is printed once."};
    static struct top_state state;
    struct top_order o = {0};
    struct feed *f;
    struct err e = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    setlocale(LC_CTYPE, "");
    catch_signals();
    if (feed_open(&f, &state, o.shared.socket, &e) != 0) {
        tool_fail(&e);
        return TOOL_NO_DAEMON;
    }
    const int rc = top_run(f, &state, &o);
    feed_close(f);
    top_state_clear(&state);
    return rc;
}
