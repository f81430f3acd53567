/* SPDX-License-Identifier: BSD-3-Clause */
/* p2pctl.c -- the tool for people: a table of subcommands, each in a file of its own. */
#include "config.h"
#include "tool.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} tools[] = {
    {"top", "the grid as it is now, live on this terminal", tool_top},
    {"status", "this desktop's peer: addresses, neighbours, slots, leases", tool_status},
    {"peers", "every peer of the grid, nearest first", tool_peers},
    {"members", "who is in the grid, also who is away, and since when", tool_members},
    {"jobs", "what runs and waits: your jobs, or those of everybody", tool_jobs},
    {"job", "one job: which rank runs where, and what was lost", tool_job},
    {"cancel", "end a job", tool_cancel},
    {"hold", "stop a job for now", tool_hold},
    {"release", "let a held job go on", tool_release},
    {"history", "what ran here, and what you ran", tool_history},
    {"log", "what happens, a line each; -f goes on", tool_log},
    {"web", "the grid in your browser", tool_web},
    {"doctor", "what is wrong on this desktop, and what mends it", tool_doctor},
    {"service", "have systemd start p2pd: install, remove, status", tool_service},
    {"why", "who would run a job, and why the others would not", tool_why},
    {"alloc", "hold slots while a command runs, for every mpirun in it", tool_alloc},
    {"advise", "which replication level a long job needs here", tool_advise},
    {"policy", "to whom, when and how much this desktop is lent", tool_policy},
    {"pause", "lend nothing more for now", tool_pause},
    {"resume", "lend again", tool_resume},
    {"leave", "leave the grid gracefully", tool_leave},
    {"cache", "the files of jobs that are kept here", tool_cache},
    {"grid", "found a grid; lock its authority with a passphrase", tool_grid},
    {"invite", "let one more desktop into the grid: prints a token", tool_invite},
    {"join", "join the grid of a token", tool_join},
    {"revoke", "put a peer out of the grid", tool_revoke},
};
enum { TOOLS = sizeof tools / sizeof tools[0] };

static void help(FILE *f)
{
    fputs("Usage: p2pctl [SUBCOMMAND [OPTION...]]\n"
          "Looks at and steers the p2pgrid daemon (p2pd) of this user. Without a subcommand: this\n"
          "desktop, your jobs and the grid, on one screen.\n\n",
          f);
    for (size_t i = 0; i < TOOLS; i++)
        fprintf(f, "  %-10s %s\n", tools[i].name, tools[i].summary);
    fputs("\n`p2pctl SUBCOMMAND --help` says more; all but alloc take --json.\n"
          "Exit status: 0 done; 1 it could not be done (a line says why); 2 wrong usage; 3 no "
          "daemon answers.\n",
          f);
}

int main(int argc, char **argv)
{
    static char name[64];
    const char *what = argc > 1 ? argv[1] : "";
    argp_err_exit_status = TOOL_USAGE;
    if (strcmp(what, "--help") == 0 || strcmp(what, "-h") == 0 || strcmp(what, "help") == 0) {
        help(stdout);
        return TOOL_OK;
    }
    if (strcmp(what, "--version") == 0 || strcmp(what, "-V") == 0) {
        puts("p2pctl " PACKAGE_VERSION);
        return TOOL_OK;
    }
    for (size_t i = 0; i < TOOLS; i++)
        if (strcmp(what, tools[i].name) == 0) {
            snprintf(name, sizeof name, "p2pctl %s", what);
            argv[1] = name; /* what argp says in its messages */
            return tools[i].run(argc - 1, argv + 1);
        }
    if (argc == 1 || what[0] == '-')
        return tool_summary(argc, argv);
    fprintf(stderr, "p2pctl: there is no subcommand '%s'; see p2pctl --help\n", what);
    return TOOL_USAGE;
}
