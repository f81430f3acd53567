/* SPDX-License-Identifier: BSD-3-Clause */
/* invite.c -- p2pctl invite: a token that lets one more desktop into the grid. */
#include "tool.h"
#include "ad_json.h"
#include "keeper.h"
#include <argp.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 10000, DAY = 24 * 3600 };

struct wish {
    struct tool_options shared;
    struct msg_local_invite ask;
};

static const char doc[] =
    "Prints a token with which one desktop may join the grid, once.\v"
    "On the new desktop: p2pctl join TOKEN. Whoever has the token can use it: hand it over as you "
    "would a password. It works on the desktop that has the grid's authority, which is where the "
    "grid was founded. The new peer belongs to the grid's founder, unless --owner says otherwise.";

static const struct argp_option options[] = {
    {"group", 'g', "GROUP", 0, "a group that the peer is in; may be given several times", 0},
    {"expires", 'e', "TIME", 0, "until when it can be used: 10m, 24h, 7d (default: 24h)", 0},
    {"owner", 'w', "ID", 0, "the id of the owner's key; self: the new desktop is its own owner's",
     0},
    {"json", 'j', NULL, 0, "print one JSON object", 1},
    {"socket", 's', "PATH", 0, "the daemon's socket (default: $P2PGRID_SOCKET, or the usual place)",
     1},
    {0},
};

static void take_time(struct wish *w, const char *value, struct argp_state *state)
{
    static const char units[] = "smhd";
    static const unsigned seconds[] = {1, 60, 3600, DAY};
    char *end;
    unsigned long n = strtoul(value, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (end == value || *value == '-' || unit == NULL || end[1] != '\0' || n == 0 ||
        n > KEEPER_INVITE_MAX_S / seconds[unit - units])
        argp_error(state, "--expires=%s: must be a time, at most %dd: 10m, 24h, 7d", value,
                   KEEPER_INVITE_MAX_S / DAY);
    else
        w->ask.seconds = (uint32_t)n * seconds[unit - units];
}

static void take_group(struct wish *w, const char *value, struct argp_state *state)
{
    enum { MOST = sizeof w->ask.groups / sizeof w->ask.groups[0] };
    if (w->ask.groups_count == MOST)
        argp_error(state, "more than %d groups", MOST);
    if (strlen(value) >= sizeof w->ask.groups[0].text)
        argp_error(state, "--group=%s: too long a name", value);
    strcpy(w->ask.groups[w->ask.groups_count++].text, value);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct wish *w = state->input;
    switch (key) {
    case 'g':
        take_group(w, value, state);
        return 0;
    case 'e':
        take_time(w, value, state);
        return 0;
    case 'w':
        if (strlen(value) >= sizeof w->ask.owner)
            argp_error(state, "--owner=%s: %d hex digits, or self", value, ID_TEXT);
        strcpy(w->ask.owner, value);
        return 0;
    case 'j':
        w->shared.json = true;
        return 0;
    case 's':
        w->shared.socket = value;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static void take(void *ctx, const struct message *m)
{
    if (m->kind == MSG_local_token)
        *(struct msg_local_token *)ctx = m->local_token;
}

static void print(const struct msg_local_token *t, bool json)
{
    char when[32] = "?";
    time_t ends = (time_t)t->ends;
    struct tm tm;
    if (json) {
        tool_print_json(json_pack("{s:s, s:I}", "token", t->text, "ends", (json_int_t)t->ends));
        return;
    }
    if (localtime_r(&ends, &tm) != NULL)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
    puts(t->text);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "Good once, until %s. On the new desktop: p2pctl join TOKEN\n", when);
}

int tool_invite(int argc, char **argv)
{
    static const struct argp argp = {options, parse, NULL, doc, NULL, NULL, NULL};
    struct wish w = {.ask.seconds = DAY};
    struct message question = {.kind = MSG_local_invite};
    struct msg_local_token token = {0};
    struct msg_local_done done;
    struct client *c;
    struct err e = {0};
    argp_err_exit_status = TOOL_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &w);
    int rc = tool_connect(&c, &w.shared);
    if (rc != TOOL_OK)
        return rc;
    question.local_invite = w.ask;
    if (client_ask(c, &question, ANSWER_MS, take, &token, &done, &e) < 0)
        rc = tool_fail(&e);
    else
        print(&token, w.shared.json);
    client_close(c);
    return rc;
}
