/* SPDX-License-Identifier: BSD-3-Clause */
/* history.c -- p2pctl history: what this user ran from here, and what ran here for others. */
#include "print_json.h"
#include "moment.h"
#include "order.h"
#include "overlay/client/words.h"
#include "tool.h"
#include <string.h>

enum { ANSWER_MS = 5000, USUAL = 20, MOST = 512, WIDE = 36 };

struct history_order {
    struct tool_options shared;
    unsigned most;
    json_t *rows; /* NULL: print */
    unsigned count;
    struct tool_style style;
};

static error_t history_parse(int key, char *value, struct argp_state *state)
{
    struct history_order *o = state->input;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &o->shared;
    else if (key == 'n')
        o->most = order_number(value, "number", 1, MOST, state);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static void past_print(struct history_order *o, const struct msg_local_past *p)
{
    char when[24], span[24], size[48], lost[32] = "";
    const bool own = p->what == PAST_JOB;
    if (o->count++ == 0)
        printf("%s%-13s %9s  %-13s %-*s %s%s\n", o->style.bold, "when", "took", "size", WIDE,
               "what", "how it ended", o->style.end);
    if (own && p->lanes > 1)
        snprintf(size, sizeof size, "%u ranks x %u", p->slots, (unsigned)p->lanes);
    else
        snprintf(size, sizeof size, "%u %s%s", p->slots, own ? "rank" : "slot",
                 p->slots == 1 ? "" : "s");
    if (p->lost > 0)
        snprintf(lost, sizeof lost, ", %u lost", p->lost);
    printf("%-13s %9s  %-13s ", moment_text(p->began_ms / 1000, moment_now_ms() / 1000, when),
           moment_span(p->took_ms / 1000, span), size);
    if (own)
        printf("%s: %-*s %s%s", p->name, WIDE - 2 - (int)strlen(p->name), p->program, p->text,
               lost);
    else
        printf("%s of %s: %s  %s", p->user, p->name,
               p->program[0] != '\0' ? p->program : "a program of the system", p->text);
    if (own && p->status != 0)
        printf(", status %u", p->status);
    printf("\n");
}

static void past_row(void *ctx, const struct message *m)
{
    struct history_order *o = ctx;
    if (m->kind != MSG_local_past)
        return;
    if (o->rows != NULL)
        json_array_append_new(o->rows, json_of_past(&m->local_past));
    else
        past_print(o, &m->local_past);
}

int tool_history(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"number", 'n', "N", 0, "the last N (20; at most 512 are kept)", 0}, {0}};
    static const struct argp_child children[] = {{.argp = &tool_argp}, {0}};
    const struct argp argp = {.options = options,
                              .parser = history_parse,
                              .children = children,
                              .doc = "What you ran from this desktop and what ran here for other "
                                     "desktops, the last one first: when, how long, how large, "
                                     "how it ended. Kept on this desktop alone."};
    struct history_order o = {.most = USUAL};
    struct client *c;
    struct err e = {0};
    struct msg_local_done done;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    int rc = tool_connect(&c, &o.shared);
    if (rc != TOOL_OK)
        return rc;
    struct message question = {.kind = MSG_local_history, .local_history.most = o.most};
    o.style = tool_style(stdout);
    o.rows = o.shared.json ? json_array() : NULL;
    if (client_ask(c, &question, ANSWER_MS, past_row, &o, &done, &e) != 0) {
        json_decref(o.rows);
        rc = tool_fail(&e);
    } else if (o.rows != NULL) {
        tool_print_json(json_pack("{s:o}", "history", o.rows));
    } else if (o.count == 0) {
        puts("nothing has run yet");
    }
    client_close(c);
    return rc;
}
