/* SPDX-License-Identifier: BSD-3-Clause */
/* web.c -- p2pctl web: opens the page of this desktop's daemon in a browser. */
#include "overlay/client/words.h"
#include "print_json.h"
#include "tool.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MS = 5000 };

struct web_order {
    struct tool_options shared;
    enum page_verb verb;
    bool print;
};

static error_t web_parse(int key, char *value, struct argp_state *state)
{
    struct web_order *o = state->input;
    (void)value;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &o->shared;
    else if (key == 'p')
        o->print = true;
    else if (key == 'm')
        o->verb = PAGE_METRICS;
    else if (key == 'c')
        o->verb = PAGE_CLOSE;
    else if (key == 't')
        o->verb = PAGE_TELL;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static void web_row(void *ctx, const struct message *m)
{
    if (m->kind == MSG_local_page)
        *(struct msg_local_page *)ctx = m->local_page;
}

/* Where there is a screen, by the desktop's own word for it. False: no browser was found. */
static bool open_browser(const char *url)
{
    int status = 0;
    if (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        execlp("xdg-open", "xdg-open", url, (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void say_link(const struct msg_local_page *page, bool print)
{
    if (!print && open_browser(page->url))
        printf("opened in your browser; p2pctl web --print gives a link instead\n");
    else
        printf("%s\nfor one browser on this desktop, within %u s\n", page->url, page->seconds);
}

static void web_say(const struct msg_local_page *page, const struct web_order *o)
{
    if (o->verb == PAGE_LINK)
        say_link(page, o->print);
    else if (o->verb == PAGE_METRICS)
        printf("%s\nreads http://127.0.0.1:%u/metrics, as `Authorization: Bearer`\n", page->key,
               page->port);
    else if (page->open)
        printf("the page is served at http://127.0.0.1:%u/; p2pctl web opens it\n", page->port);
    else
        puts("the page is not served");
}

static void web_say_json(const struct msg_local_page *page, const struct web_order *o)
{
    json_t *all = json_pack("{s:b, s:i}", "open", page->open, "port", (int)page->port);
    if (o->verb == PAGE_LINK) {
        json_object_set_new(all, "url", json_string(page->url));
        json_object_set_new(all, "seconds", json_integer(page->seconds));
    }
    if (o->verb == PAGE_METRICS)
        json_object_set_new(all, "key", json_string(page->key));
    tool_print_json(all);
}

int tool_web(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"print", 'p', NULL, 0, "print the link, open no browser", 0},
        {"metrics-token", 'm', NULL, 0, "print the key that reads /metrics", 0},
        {"tell", 't', NULL, 0, "only say whether the page is served, and where", 0},
        {"close", 'c', NULL, 0, "serve it no more: all links, browsers and keys are void", 0},
        {0}};
    static const struct argp_child children[] = {{.argp = &tool_argp}, {0}};
    const struct argp argp = {
        .options = options,
        .parser = web_parse,
        .children = children,
        .doc = "Opens the page of this desktop's p2pd in your browser: the grid as a map and a "
               "table, your jobs, what is lost, transfers, the history; pause and resume. p2pd "
               "serves it on 127.0.0.1 from the first time that this is asked for. The link lets "
               "one browser in, once, within a minute. Without a screen the link is printed."};
    struct web_order o = {.verb = PAGE_LINK};
    struct msg_local_page page = {0};
    struct msg_local_done done;
    struct client *c;
    struct err e = {0};
    argp_err_exit_status = TOOL_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    int rc = tool_connect(&c, &o.shared);
    if (rc != TOOL_OK)
        return rc;
    struct message question = {.kind = MSG_local_web, .local_web.verb = (uint8_t)o.verb};
    if (client_ask(c, &question, ANSWER_MS, web_row, &page, &done, &e) != 0)
        rc = tool_fail(&e);
    else
        (o.shared.json ? web_say_json : web_say)(&page, &o);
    client_close(c);
    return rc;
}
