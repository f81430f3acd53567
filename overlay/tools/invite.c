/* SPDX-License-Identifier: BSD-3-Clause */
/* invite.c -- p2pctl invite: a token that lets one more desktop into the grid. */
#include "tool.h"
#include "print_json.h"
#include "overlay/membership/registrar.h"
#include "passphrase.h"
#include <errno.h>
#include <argp.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 10000, DAY = 24 * 3600 };

struct invite_options {
    struct tool_options shared;
    struct msg_local_invite ask;
    const char *file;  /* of the passphrase */
    const char *owner; /* as it was given; NULL: it was not */
};

static const char doc[] =
    "Prints a token with which one desktop may join the grid, once.\v"
    "On the new desktop: p2pctl join TOKEN. Whoever has the token can use it: hand it over as you "
    "would a password. It works on the desktop that has the grid's authority, which is where the "
    "grid was founded. The new desktop is an owner's of its own: on other desktops its programs "
    "are guests, in a sandbox, and theirs on it. --mine is for another desktop of yours, which can "
    "run anything here as you; --owner for another one of somebody who has one in the grid.";

static const struct argp_option options[] = {
    {"group", 'g', "GROUP", 0, "a group that the peer is in; may be given several times", 0},
    {"expires", 'e', "TIME", 0, "until when it can be used: 10m, 24h, 7d (default: 24h)", 0},
    {"mine", 'm', NULL, 0, "the new desktop is yours, too: whoever uses it is you", 0},
    {"owner", 'w', "PEER", 0,
     "it is another desktop of PEER's owner (a peer's name, or an owner's id)", 0},
    {"passphrase-file", 'p', "FILE", 0,
     "where the passphrase of a locked authority is; -: standard input", 0},
    {"json", 'j', NULL, 0, "print one JSON object", 1},
    {"socket", 's', "PATH", 0, "the daemon's socket (default: $P2PGRID_SOCKET, or the usual place)",
     1},
    TOOL_HELP_OPTION,
    {0},
};

static void take_time(struct invite_options *w, const char *value, struct argp_state *state)
{
    static const char units[] = "smhd";
    static const unsigned seconds[] = {1, 60, 3600, DAY};
    char *end;
    unsigned long n = strtoul(value, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (end == value || *value == '-' || unit == NULL || end[1] != '\0' || n == 0 ||
        n > REGISTRAR_INVITE_MAX_S / seconds[unit - units])
        argp_error(state, "--expires=%s: must be a time, at most %dd: 10m, 24h, 7d", value,
                   REGISTRAR_INVITE_MAX_S / DAY);
    else
        w->ask.seconds = (uint32_t)n * seconds[unit - units];
}

static void take_group(struct invite_options *w, const char *value, struct argp_state *state)
{
    enum { MOST = sizeof w->ask.groups / sizeof w->ask.groups[0] };
    if (w->ask.groups_count == MOST)
        argp_error(state, "more than %d groups", MOST);
    if (strlen(value) >= sizeof w->ask.groups[0].text)
        argp_error(state, "--group=%s: too long a name", value);
    strcpy(w->ask.groups[w->ask.groups_count++].text, value);
}

static error_t invite_parse(int key, char *value, struct argp_state *state)
{
    struct invite_options *w = state->input;
    switch (key) {
    case 'h':
        return tool_help(state);
    case 'g':
        take_group(w, value, state);
        return 0;
    case 'e':
        take_time(w, value, state);
        return 0;
    case 'm':
        w->ask.mine = 1;
        return 0;
    case 'w':
        if (*value == '\0' || strlen(value) >= sizeof w->ask.owner)
            argp_error(state, "--owner=%s: no peer's name, nor an owner's id", value);
        strcpy(w->ask.owner, strcmp(value, "self") == 0 ? "" : value);
        w->owner = value;
        return 0;
    case ARGP_KEY_END:
        if (w->ask.mine && w->owner != NULL)
            argp_error(state, "--mine or --owner=%s: a desktop has one owner", w->owner);
        return 0;
    case 'p':
        w->file = value;
        return 0;
    case 'j':
        w->shared.json = true;
        tool_json_errors();
        return 0;
    case 's':
        w->shared.socket = value;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static void invite_row(void *ctx, const struct message *m)
{
    if (m->kind == MSG_local_token)
        *(struct msg_local_token *)ctx = m->local_token;
}

/* What the desktop that joins with the token will be able to do. */
static void invite_explain(const struct invite_options *w)
{
    if (w->ask.mine)
        fputs("--mine: whoever uses that desktop is you: it can run anything here as you, and you "
              "there.\n",
              stderr);
    else if (w->ask.owner[0] != '\0')
        fprintf(stderr,
                "It is the owner's of %s: it can run anything on that owner's desktops, and is a "
                "guest elsewhere.\n",
                w->ask.owner);
    else
        fputs("A guest: its programs run in a sandbox here, yours there. (--mine: another desktop "
              "of yours.)\n",
              stderr);
}

static void invite_print(const struct msg_local_token *t, const struct invite_options *w)
{
    char when[32] = "?";
    time_t ends = (time_t)t->ends;
    struct tm tm;
    if (w->shared.json) {
        tool_print_json(json_pack("{s:s, s:I, s:s}", "token", t->text, "ends", (json_int_t)t->ends,
                                  "owner", t->owner));
        return;
    }
    if (localtime_r(&ends, &tm) != NULL)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
    puts(t->text);
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "Good once, until %s. On the new desktop: p2pctl join TOKEN\n", when);
    invite_explain(w);
}

static int invite_ask(struct client *c, const struct invite_options *w,
                      struct msg_local_token *token, struct err *e)
{
    const struct message question = {.kind = MSG_local_invite, .local_invite = w->ask};
    return passphrase_client_ask(c, &question, w->file, ANSWER_MS, invite_row, token, e);
}

int tool_invite(int argc, char **argv)
{
    static const struct argp argp = {options, invite_parse, NULL, doc, NULL, NULL, NULL};
    struct invite_options w = {.ask.seconds = DAY};
    struct msg_local_token token = {0};
    struct client *c;
    struct err e = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &w);
    int rc = tool_connect(&c, &w.shared);
    if (rc != TOOL_OK)
        return rc;
    if (invite_ask(c, &w, &token, &e) < 0)
        rc = tool_fail(&e);
    else
        invite_print(&token, &w);
    client_close(c);
    return rc;
}
