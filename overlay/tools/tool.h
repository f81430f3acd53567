/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.h -- what the subcommands of p2pctl share. */
#ifndef P2P_OVERLAY_TOOLS_TOOL_H
#define P2P_OVERLAY_TOOLS_TOOL_H
#include "overlay/client/ask.h"
#include "overlay/client/p2pgrid.h"
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit codes, the same for every subcommand (p2pctl --help shows them). */
enum { TOOL_OK, TOOL_FAILED, TOOL_USAGE, TOOL_NO_DAEMON };

/* argv[0] is "p2pctl SUBCOMMAND". One in each file; p2pctl.c has the table. */
int tool_status(int argc, char **argv);
int tool_peers(int argc, char **argv);
int tool_grid(int argc, char **argv);
int tool_why(int argc, char **argv);
int tool_alloc(int argc, char **argv);
int tool_advise(int argc, char **argv);
int tool_invite(int argc, char **argv);
int tool_join(int argc, char **argv);
int tool_revoke(int argc, char **argv);
int tool_policy(int argc, char **argv);
int tool_pause(int argc, char **argv);
int tool_resume(int argc, char **argv);
int tool_cache(int argc, char **argv);
int tool_leave(int argc, char **argv);
int tool_jobs(int argc, char **argv);
int tool_job(int argc, char **argv);
int tool_cancel(int argc, char **argv);
int tool_hold(int argc, char **argv);
int tool_release(int argc, char **argv);
int tool_history(int argc, char **argv);
int tool_log(int argc, char **argv);
int tool_members(int argc, char **argv);
int tool_web(int argc, char **argv);
int tool_doctor(int argc, char **argv);
int tool_service(int argc, char **argv);
int tool_top(int argc, char **argv);
int tool_summary(int argc, char **argv); /* without a subcommand */

/* What this desktop is called, without its domain: a peer's name unless another is given. */
int tool_host_name(char out[64], struct err *e);

/* Options that most subcommands have. */
struct tool_options {
    bool json;
    const char *socket; /* NULL: the usual place */
};

/* --json and --socket, for a subcommand with options of its own; input: struct tool_options. */
extern const struct argp tool_argp;
extern const struct argp tool_socket_argp; /* without --json */

/* -h is --help: an option and its case, for subcommands that do not share tool_argp. */
/* clang-format off */
#define TOOL_HELP_OPTION {NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0}
/* clang-format on */
error_t tool_help(struct argp_state *state);

/* Parses argv with the shared options and no argument; exits for --help, and with TOOL_USAGE. */
void tool_parse(int argc, char **argv, const char *doc, struct tool_options *options);
/* The connection to the daemon, or an exit code with the reason printed. */
int tool_connect(struct client **out, const struct tool_options *options);
/* Prints the line; returns TOOL_FAILED. After tool_json_errors() an object with it, too. */
int tool_fail(const struct err *e);
void tool_json_errors(void);

/* "" unless f is a terminal and colours are welcome (NO_COLOR is not set). */
struct tool_style {
    const char *bold, *dim, *good, *bad, *end;
};
struct tool_style tool_style(FILE *f);
enum { TOOL_LINES = 511 };
void tool_print_lines(const char *lines); /* on stdout, when there are any */
/* 16 GiB, 512 MiB */
const char *tool_size(uint64_t bytes, char out[24]);
/* 0.13 ms, 24 ms */
const char *tool_round_trip(unsigned us, char out[24]);
/* The first characters of an id: enough for people to tell peers apart. */
enum { TOOL_SHORT_ID = 10 };
const char *tool_short_id(const struct id *id, char out[TOOL_SHORT_ID + 1]);
#endif
