/* SPDX-License-Identifier: BSD-3-Clause */
/* revoke.c -- p2pctl revoke: a peer is no member any more. */
#include "tool.h"
#include "print_json.h"
#include "passphrase.h"
#include <argp.h>
#include <errno.h>
#include <string.h>

enum { ANSWER_MS = 10000 };

struct revoke_options {
    struct tool_options shared;
    const char *peer, *file; /* file: of the passphrase */
};

static const char doc[] =
    "Puts a peer out of the grid, for good.\v"
    "PEER is its name or its id. The daemons tell each other at once: they close their links with "
    "it, refuse new ones, and end its leases. It works on the desktop that has the grid's "
    "authority. To come back, the peer needs a new key and a new invitation.";

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "print one JSON object", 0},
    {"passphrase-file", 'p', "FILE", 0,
     "where the passphrase of a locked authority is; -: standard input", 0},
    {"socket", 's', "PATH", 0, "the daemon's socket (default: $P2PGRID_SOCKET, or the usual place)",
     0},
    TOOL_HELP_OPTION,
    {0},
};

static error_t revoke_parse(int key, char *value, struct argp_state *state)
{
    struct revoke_options *w = state->input;
    switch (key) {
    case 'h':
        return tool_help(state);
    case 'j':
        w->shared.json = true;
        tool_json_errors();
        return 0;
    case 'p':
        w->file = value;
        return 0;
    case 's':
        w->shared.socket = value;
        return 0;
    case ARGP_KEY_ARG:
        if (w->peer != NULL)
            argp_error(state, "one peer at a time; what is '%s'?", value);
        w->peer = value;
        return 0;
    case ARGP_KEY_END:
        if (w->peer == NULL)
            argp_error(state, "which peer? p2pctl peers shows their names");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static void revoke_row(void *ctx, const struct message *m)
{
    if (m->kind == MSG_local_revoked)
        *(struct msg_local_revoked *)ctx = m->local_revoked;
}

static int revoke_ask(struct client *c, const struct revoke_options *w,
                      struct msg_local_revoked *answer, struct err *e)
{
    struct message question = {.kind = MSG_local_revoke};
    strcpy(question.local_revoke.peer, w->peer);
    return passphrase_client_ask(c, &question, w->file, ANSWER_MS, revoke_row, answer, e);
}

static void revoke_print(const struct msg_local_revoked *r, bool json)
{
    char id[ID_TEXT + 1], shorter[TOOL_SHORT_ID + 1];
    id_text(&r->peer, id);
    if (json)
        tool_print_json(json_pack("{s:s, s:s}", "name", r->name, "id", id));
    else
        printf("%s (%s) is no member any more\n", r->name, tool_short_id(&r->peer, shorter));
}

int tool_revoke(int argc, char **argv)
{
    static const struct argp argp = {options, revoke_parse, "PEER", doc, NULL, NULL, NULL};
    struct revoke_options w = {0};
    struct msg_local_revoked answer = {0};
    struct client *c;
    struct err e = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &w);
    if (strlen(w.peer) >= sizeof(struct msg_local_revoke){0}.peer) {
        err_set(&e, EINVAL, "'%s' is no peer", w.peer);
        return tool_fail(&e);
    }
    int rc = tool_connect(&c, &w.shared);
    if (rc != TOOL_OK)
        return rc;
    if (revoke_ask(c, &w, &answer, &e) < 0)
        rc = tool_fail(&e);
    else
        revoke_print(&answer, w.shared.json);
    client_close(c);
    return rc;
}
