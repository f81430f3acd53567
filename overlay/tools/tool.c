/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.c -- what the subcommands of p2pctl share: options, the connection, and how things are
 * printed. */
#include "print_json.h"
#include "tool.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the one command that this process is: whoever fails need not be told of its options. */
static bool json_errors;

void tool_json_errors(void)
{
    json_errors = true;
}

error_t tool_help(struct argp_state *state)
{
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct tool_options *o = state->input;
    if (key == 'j') {
        o->json = true;
        tool_json_errors();
    } else if (key == 's')
        o->socket = arg;
    else if (key == 'h')
        return tool_help(state);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "print one JSON object", 0},
    {"socket", 's', "PATH", 0, "the daemon's socket (default: $P2PGRID_SOCKET, or the usual place)",
     0},
    TOOL_HELP_OPTION,
    {0},
};

const struct argp tool_argp = {.options = options, .parser = parse};
const struct argp tool_socket_argp = {.options = options + 1, .parser = parse};

void tool_parse(int argc, char **argv, const char *doc, struct tool_options *o)
{
    const struct argp argp = {.options = options, .parser = parse, .doc = doc};
    argp_parse(&argp, argc, argv, 0, NULL, o);
}

int tool_fail(const struct err *e)
{
    const char *code = strerrorname_np(e->code);
    fprintf(stderr, "p2pctl: %s\n", e->text);
    if (json_errors)
        tool_print_json(json_pack("{s:{s:s, s:s}}", "error", "code", code != NULL ? code : "EIO",
                                  "text", e->text));
    return TOOL_FAILED;
}

int tool_connect(struct client **out, const struct tool_options *o)
{
    struct err e = {0};
    if (client_open(out, o->socket, &e) == 0)
        return TOOL_OK;
    tool_fail(&e);
    return TOOL_NO_DAEMON;
}

struct tool_style tool_style(FILE *f)
{
    static const struct tool_style none = {"", "", "", "", ""};
    static const struct tool_style colours = {"\033[1m", "\033[2m", "\033[32m", "\033[31m",
                                              "\033[0m"};
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    bool welcome = isatty(fileno(f)) && term != NULL && strcmp(term, "dumb") != 0 &&
                   (no == NULL || no[0] == '\0');
    return welcome ? colours : none;
}

void tool_print_lines(const char *lines)
{
    if (lines[0] != '\0')
        printf("%s\n", lines);
}

const char *tool_size(uint64_t bytes, char out[24])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double n = (double)bytes;
    size_t i = 0;
    for (; n >= 1024 && i + 1 < sizeof units / sizeof units[0]; i++)
        n /= 1024;
    snprintf(out, 24, n < 10 && i > 0 ? "%.1f %s" : "%.0f %s", n, units[i]);
    return out;
}

const char *tool_round_trip(unsigned us, char out[24])
{
    snprintf(out, 24, us < 10000 ? "%.2f ms" : "%.0f ms", us / 1000.0);
    return out;
}

const char *tool_short_id(const struct id *id, char out[TOOL_SHORT_ID + 1])
{
    char hex[ID_TEXT + 1];
    id_text(id, hex);
    memcpy(out, hex, TOOL_SHORT_ID);
    out[TOOL_SHORT_ID] = '\0';
    return out;
}
