/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c -- p2pd-pmix, a small process that p2pd starts when the first PMIx tool comes, and that
 * ends when none has been there for a while: whatever libpmix does, the daemon of week-long jobs
 * lives. */
#include "server.h"
#include "access.h"
#include "p2pgrid_pmix.h"
#include "infos.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LISTENING = 3 }; /* where p2pd puts its socket */

pmix_status_t server_status(uint32_t code)
{
    switch (code) {
    case 0:
        return PMIX_SUCCESS;
    case ENOSPC:
    case EAGAIN:
        return PMIX_ERR_OUT_OF_RESOURCE;
    case ENOENT:
        return PMIX_ERR_NOT_FOUND;
    case EINVAL:
        return PMIX_ERR_BAD_PARAM;
    case ENOMEM:
        return PMIX_ERR_NOMEM;
    case EHOSTUNREACH:
        return PMIX_ERR_UNREACH;
    }
    return PMIX_ERROR;
}

static void server_on_daemon_gone(void *ctx)
{
    struct server *server = ctx;
    event_base_loopbreak(server->base);
}

static void server_on_end(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    server_on_daemon_gone(ctx);
}

static int server_begin(const char *folder)
{
    /* PMIx tells of tools that leave at once, not when none has left for a second. */
    setenv("PMIX_MCA_pmix_event_caching_window", "0", 1);
    static pmix_server_module_t upcalls = {.query = query_upcall,
                                           .allocate = allocate_upcall,
                                           .job_control = control_upcall,
                                           .log = log_upcall,
                                           .tool_connected = tools_upcall,
                                           .client_finalized = tools_left_upcall,
                                           .register_events = events_register_upcall,
                                           .deregister_events = events_deregister_upcall,
                                           .notify_event = events_from_tool_upcall};
    struct infos all = {0};
    put_bool(&all, PMIX_SERVER_TOOL_SUPPORT, true);
    put_text(&all, PMIX_SERVER_TMPDIR, folder);
    put_text(&all, PMIX_SYSTEM_TMPDIR, folder);
    put_text(&all, PMIX_SERVER_NSPACE, SERVER_NSPACE);
    put_rank(&all, PMIX_SERVER_RANK, 0);
    pmix_status_t rc = PMIx_server_init(&upcalls, all.at, all.count);
    infos_free(&all);
    if (rc == PMIX_SUCCESS) {
        attributes_register();
        tools_watch();
        return 0;
    }
    fprintf(stderr, "p2pd-pmix: PMIx does not start: %s\n", PMIx_Error_string(rc));
    return -EIO;
}

static void on_watching(void *ctx, const struct msg_local_done *done)
{
    (void)ctx, (void)done;
}

static int server_run(const char *folder)
{
    struct server server = {.base = event_base_new()};
    const struct daemon_watcher watcher = {
        .notice = events_notice, .gone = server_on_daemon_gone, .ctx = &server};
    struct message watch = {.kind = MSG_local_watch};
    struct err e = {0};
    if (server.base == NULL || mailbox_open(server.base, &server) != 0)
        return EXIT_FAILURE;
    server.idle = event_new(server.base, -1, EV_PERSIST, tools_rest, &server);
    struct event *term = evsignal_new(server.base, SIGTERM, server_on_end, &server);
    if (server.idle == NULL || term == NULL || event_add(term, NULL) != 0 ||
        server_begin(folder) != 0 || daemon_open(&server.daemon, server.base, &watcher, &e) != 0 ||
        (server.snapshots = snapshot_maker_new(server.daemon)) == NULL) {
        fprintf(stderr, "p2pd-pmix: %s\n", e.text);
        return EXIT_FAILURE;
    }
    daemon_ask(server.daemon, &watch, NULL, on_watching, NULL);
    event_add(server.idle, &(struct timeval){.tv_sec = 1});
    event_base_dispatch(server.base);
    /* PMIx_server_finalize() would shut down the socket, which is p2pd's, for p2pd too. */
    _exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
    struct stat s;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        puts("p2pd-pmix is started by p2pd, when a PMIx tool comes (man p2pgrid-pmix)");
        return 0;
    }
    if (argc != 2 || fstat(LISTENING, &s) != 0 || !S_ISSOCK(s.st_mode)) {
        fputs("p2pd-pmix is started by p2pd, when a PMIx tool comes\n", stderr);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    umask(077);
    access_use(LISTENING);
    return server_run(argv[1]);
}
