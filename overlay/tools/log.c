/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c -- p2pctl log: what happens, a line each. */
#include "print_json.h"
#include "notices.h"
#include "order.h"
#include "overlay/client/words.h"
#include "tool.h"
#include <errno.h>
#include <poll.h>
#include <string.h>

enum { ANSWER_MS = 5000 };

struct log_order {
    struct tool_options shared;
    bool follow;
    unsigned past;
};

static error_t log_parse(int key, char *value, struct argp_state *state)
{
    struct log_order *o = state->input;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &o->shared;
    else if (key == 'f')
        o->follow = true;
    else if (key == 'n')
        o->past = order_number(value, "number", 0, NOTICES_KEPT, state);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* One object in a line, so that a reader has each at once. */
static void notice_print_json(const struct msg_local_notice *n)
{
    json_t *one = json_of_notice(n);
    json_dumpf(one, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(one);
}

static void on_notice(void *ctx, const struct message *m)
{
    const struct log_order *o = ctx;
    (o->shared.json ? notice_print_json : notices_print)(&m->local_notice);
    fflush(stdout);
}

/* A question whose answer comes after all that the daemon has to repeat. */
static void no_row(void *ctx, const struct message *m)
{
    (void)ctx, (void)m;
}

static int log_watch(struct client *c, const struct log_order *o, struct err *e)
{
    struct message watch = {.kind = MSG_local_watch,
                            .local_watch = {.past = (uint16_t)o->past, .peers = o->follow}};
    struct message last = {.kind = MSG_local_history};
    struct msg_local_done done;
    int rc = client_ask(c, &watch, ANSWER_MS, no_row, NULL, &done, e);
    return rc == 0 ? client_ask(c, &last, ANSWER_MS, no_row, NULL, &done, e) : rc;
}

static int log_follow(struct client *c, struct err *e)
{
    struct pollfd p = {.fd = client_fd(c), .events = POLLIN};
    struct grid_event event;
    for (;;) {
        if (poll(&p, 1, -1) < 0 && errno != EINTR)
            return err_set(e, errno, "poll: %s", strerror(errno));
        while (client_event(c, &event) == 1)
            if (event.kind == GRID_DAEMON_GONE)
                return err_set(e, EPIPE, "%s", event.text);
    }
}

int tool_log(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"follow", 'f', NULL, 0, "go on with what happens from now on, until Ctrl-C", 0},
        {"number", 'n', "N", 0, "begin with the last N lines (64, which are all that are kept)", 0},
        {0}};
    static const struct argp_child children[] = {{.argp = &tool_argp}, {0}};
    const struct argp argp = {.options = options,
                              .parser = log_parse,
                              .children = children,
                              .doc = "What has happened since p2pd began: jobs that begin and end "
                                     "here, peers and processes of your jobs that are lost and "
                                     "what goes on in their place, and when this desktop lends. "
                                     "While somebody follows it or looks at the grid, also peers "
                                     "that join, leave, are lost, or pause. With --json, an object "
                                     "in each line."};
    struct log_order o = {.past = NOTICES_KEPT};
    struct client *c;
    struct err e = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    int rc = tool_connect(&c, &o.shared);
    if (rc != TOOL_OK)
        return rc;
    client_on_notice(c, on_notice, &o);
    if (log_watch(c, &o, &e) != 0 || (o.follow && log_follow(c, &e) != 0))
        rc = tool_fail(&e);
    client_close(c);
    return rc;
}
