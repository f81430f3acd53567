/* SPDX-License-Identifier: BSD-3-Clause */
/* rendezvous.c -- where PMIx tools find this daemon, and the process that talks to them. */
#include "config.h"
#include "rendezvous.h"
#include "overlay/base/file.h"
#include "overlay/base/helper.h"
#include "overlay/node/node.h"
#include "overlay/client/socket_path.h"
#include "overlay/base/ports.h"
#include "overlay/sandbox/sweep.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LISTENING = 3, LIFELINE = 4, AGAIN_MS = 1000 };

struct rendezvous {
    struct node *node;
    char socket[PLACE_MAX + 1];
    char folder[PLACE_MAX + 8];
    char inner[PLACE_MAX + 16]; /* libpmix's own */
    int listening, claim;       /* the port is this daemon's by the claim */
    uint16_t port;
    struct event *comes; /* a tool connects while p2pd-pmix does not run */
    struct event *ended, *again;
    pid_t child;
    int lifeline; /* readable when the child has ended */
    uint64_t started_ms;
};

extern char **environ;

/* ---- what tools find ---- */

static int write_one(const struct rendezvous *p, const char *name, struct err *e)
{
    char path[PATH_MAX], when[32];
    time_t now = time(NULL);
    struct file f;
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    int rc = file_begin(&f, path, 0600, e);
    if (rc != 0)
        return rc;
    /* Server, its library's version, pid, user and group, time: as libpmix 4 writes it. */
    bool ok =
        fprintf(f.stream, "p2pd.0;tcp4://127.0.0.1:%u\n%s\n%d\n%u:%u\n%s\n", p->port, PMIX_SERIES,
                (int)getpid(), (unsigned)geteuid(), (unsigned)getegid(), ctime_r(&now, when)) > 0;
    return file_end(&f, ok, e);
}

static int write_all(const struct rendezvous *p, struct err *e)
{
    char host[256] = "", name[300];
    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "pmix.sys.%s", host);
    int rc = write_one(p, name, e);
    snprintf(name, sizeof name, "pmix.%s.tool", host);
    if (rc == 0)
        rc = write_one(p, name, e);
    snprintf(name, sizeof name, "pmix.%s.tool.%d", host, (int)getpid());
    return rc == 0 ? write_one(p, name, e) : rc;
}

static int rendezvous_make_folder(struct rendezvous *p, struct err *e)
{
    struct stat s;
    size_t length = strlen(p->socket);
    if (length > 5 && strcmp(p->socket + length - 5, ".sock") == 0)
        length -= 5;
    snprintf(p->folder, sizeof p->folder, "%.*s.pmix", (int)length, p->socket);
    snprintf(p->inner, sizeof p->inner, "%s/inner", p->folder);
    sweep_remove(p->folder); /* of an earlier daemon: the socket belongs to this one */
    if (mkdir(p->folder, 0700) != 0 || lstat(p->folder, &s) != 0 || !S_ISDIR(s.st_mode) ||
        s.st_uid != geteuid() || (s.st_mode & 077) != 0)
        return err_set(e, EPERM, "cannot make the folder %s for PMIx tools: %s", p->folder,
                       strerror(errno));
    return 0;
}

/* ---- the process that talks to them ---- */

static void listen_again(evutil_socket_t fd, short what, void *ctx)
{
    struct rendezvous *p = ctx;
    (void)fd, (void)what;
    event_add(p->comes, NULL);
}

/* One that ended soon after its start is not restarted at once. */
static void rendezvous_on_ended(evutil_socket_t fd, short what, void *ctx)
{
    struct rendezvous *p = ctx;
    int status = 0;
    (void)fd, (void)what;
    event_free(p->ended);
    p->ended = NULL;
    close(p->lifeline);
    waitpid(p->child, &status, 0);
    if (status != 0)
        log_warn(p->node->log, "p2pd-pmix ended badly (wait status %d)", status);
    p->child = 0;
    sweep_remove(p->inner);
    if (node_now_ms() - p->started_ms >= AGAIN_MS)
        listen_again(-1, 0, p);
    else
        evtimer_add(p->again, &(struct timeval){.tv_sec = AGAIN_MS / 1000});
}

static int rendezvous_spawn(struct rendezvous *p, int its_end)
{
    char program[PATH_MAX], socket[sizeof p->socket + 24];
    char *argv[] = {"p2pd-pmix", p->inner, NULL};
    char **more = calloc(3, sizeof *more);
    size_t count = 0;
    posix_spawn_file_actions_t files;
    snprintf(socket, sizeof socket, "P2PGRID_SOCKET=%s", p->socket);
    mkdir(p->inner, 0700);
    for (char **v = environ; *v != NULL; v++)
        if (strncmp(*v, "PMIX_", 5) != 0 && strncmp(*v, "P2PGRID_SOCKET=", 15) != 0) {
            char **grown = realloc(more, (count + 3) * sizeof *grown);
            if (grown == NULL)
                break;
            more = grown;
            more[count++] = *v;
        }
    helper_path(program, "p2pd-pmix");
    posix_spawn_file_actions_init(&files);
    int listening = fcntl(p->listening, F_DUPFD_CLOEXEC, 16);
    int lifeline = fcntl(its_end, F_DUPFD_CLOEXEC, 16);
    posix_spawn_file_actions_adddup2(&files, listening, LISTENING);
    posix_spawn_file_actions_adddup2(&files, lifeline, LIFELINE);
    posix_spawn_file_actions_addclosefrom_np(&files, LIFELINE + 1);
    int rc = more != NULL && listening >= 0 && lifeline >= 0 ? 0 : ENOMEM;
    if (rc == 0) {
        more[count] = socket;
        more[count + 1] = NULL;
        rc = posix_spawn(&p->child, program, &files, NULL, argv, more);
    }
    posix_spawn_file_actions_destroy(&files);
    close(listening);
    close(lifeline);
    free(more);
    return -rc;
}

static void rendezvous_on_tool(evutil_socket_t fd, short what, void *ctx)
{
    struct rendezvous *p = ctx;
    int ends[2];
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    (void)what;
    if (poll(&waiting, 1, 0) <= 0)
        return; /* p2pd-pmix has accepted it: the socket is shared */
    event_del(p->comes);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        evtimer_add(p->again, &(struct timeval){.tv_sec = AGAIN_MS / 1000});
        return;
    }
    int rc = rendezvous_spawn(p, ends[1]);
    close(ends[1]);
    p->lifeline = ends[0];
    p->started_ms = node_now_ms();
    if (rc == 0 &&
        (p->ended = event_new(p->node->base, ends[0], EV_READ, rendezvous_on_ended, p)) != NULL) {
        event_add(p->ended, NULL);
        log_info(p->node->log, "a PMIx tool came: p2pd-pmix runs as pid %d", (int)p->child);
        return;
    }
    log_warn(p->node->log, "p2pd-pmix cannot be started: %s", strerror(-rc));
    close(ends[0]);
    p->child = 0;
    evtimer_add(p->again, &(struct timeval){.tv_sec = AGAIN_MS / 1000});
}

/* ---- the beginning and the end ---- */

/* At a port that guests may not connect to: see ports.h. */
static int listen_at(struct rendezvous *p, struct err *e)
{
    p->port = ports_pick(&p->claim);
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons(p->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    p->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (p->port == 0 || p->listening < 0 ||
        bind(p->listening, (const struct sockaddr *)&at, sizeof at) != 0 ||
        listen(p->listening, SOMAXCONN) != 0)
        return err_set(e, EADDRINUSE, "no port for PMIx tools: %s", strerror(errno));
    return 0;
}

int rendezvous_open(struct rendezvous **out, struct node *node, const char *socket, struct err *e)
{
    struct rendezvous *p = calloc(1, sizeof *p);
    *out = p;
    if (p == NULL)
        return err_set(e, ENOMEM, "out of memory");
    p->node = node;
    p->listening = p->claim = -1;
    snprintf(p->socket, sizeof p->socket, "%s", socket);
    int rc = rendezvous_make_folder(p, e);
    if (rc == 0)
        rc = listen_at(p, e);
    if (rc == 0)
        rc = write_all(p, e);
    if (rc == 0) {
        p->comes = event_new(node->base, p->listening, EV_READ | EV_PERSIST, rendezvous_on_tool, p);
        p->again = evtimer_new(node->base, listen_again, p);
        if (p->comes == NULL || p->again == NULL || event_add(p->comes, NULL) != 0)
            rc = err_set(e, ENOMEM, "out of memory");
    }
    if (rc != 0) {
        rendezvous_close(p);
        *out = NULL;
    }
    return rc;
}

void rendezvous_close(struct rendezvous *p)
{
    if (p == NULL)
        return;
    if (p->child != 0) {
        kill(p->child,
             SIGKILL); /* it has no state: what tools asked for is stored in this daemon */
        waitpid(p->child, NULL, 0);
        close(p->lifeline);
    }
    struct event *events[] = {p->comes, p->ended, p->again};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (events[i] != NULL)
            event_free(events[i]);
    if (p->listening >= 0)
        close(p->listening);
    if (p->claim >= 0)
        close(p->claim);
    sweep_remove(p->folder);
    free(p);
}
