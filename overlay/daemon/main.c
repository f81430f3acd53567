/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c -- p2pd, the daemon of one desktop: reads what its owner wants, puts the parts together,
 * and takes them down again in order. */
#include "config.h"
#include "overlay/base/addr.h"
#include "dispatch.h"
#include "overlay/base/file.h"
#include "overlay/lend/allowlist.h"
#include "overlay/lend/listens.h"
#include "overlay/lend/grant.h"
#include "overlay/lend/lender.h"
#include "overlay/membership/registrar.h"
#include "overlay/local/local.h"
#include "overlay/membership/member.h"
#include "overlay/discovery/ad_search.h"
#include "overlay/sandbox/confine.h"
#include "node.h"
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES_WANTED = 4096, READY_POLL_MS = 20, READY_MS = 3000, END_POLL_MS = 20, END_MS = 2000 };

const char *argp_program_version = PACKAGE_STRING;

static const char doc[] =
    "Lends this desktop to a grid, and borrows from it.\v"
    "Settings are read from ~/.config/p2pgrid/p2pd.conf if it is there, keys from "
    "~/.config/p2pgrid/keys. SIGHUP reads both again, SIGTERM ends every job on this "
    "machine and leaves the grid.";

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0, "read the settings from FILE", 0},
    {"detach", 'd', NULL, 0, "go into the background once everything runs", 0},
    {"lan", 'n', NULL, 0, "look for the grid on the local network, as `lan = true` does", 0},
    {"log", 'l', "FILE", 0, "append log lines to FILE instead of standard error", 0},
    {0},
};

struct arguments {
    const char *config, *log;
    bool detach, lan;
};

struct daemon {
    struct node node;
    struct arguments arguments;
    struct event *signals[4], *end_poll, *ready_poll;
    uint64_t end_by_ms, ready_by_ms;
    int ready_fd; /* the waiting foreground process learns there how it went; -1: there is none */
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'c':
        a->config = value;
        return 0;
    case 'd':
        a->detach = true;
        return 0;
    case 'n':
        a->lan = true;
        return 0;
    case 'l':
        a->log = value;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "what is '%s'?", value);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* --- the end --- */

/* What was said last must reach the others: leases that ended, the neighbours' new lists. */
static void on_end_poll(evutil_socket_t fd, short what, void *ctx)
{
    struct daemon *d = ctx;
    bool quiet = overlay_left(d->node.overlay) && links_backlog(d->node.links) == 0;
    (void)fd, (void)what;
    if (quiet || clock_ms() >= d->end_by_ms)
        event_base_loopbreak(d->node.base);
}

static void on_stop(evutil_socket_t signal, short what, void *ctx)
{
    struct daemon *d = ctx;
    struct node *n = &d->node;
    (void)what;
    if (d->end_by_ms != 0) {
        event_base_loopbreak(n->base);
        return;
    }
    log_info(n->log, "ends: %s", strsignal(signal));
    local_close(n->local);
    n->local = NULL;
    lender_close(n->lender);
    n->lender = NULL;
    grant_close(n->grant);
    n->grant = NULL;
    overlay_leave(n->overlay);
    d->end_by_ms = clock_ms() + END_MS;
    event_add(d->end_poll, &(struct timeval){.tv_usec = END_POLL_MS * 1000});
}

/* --- settings --- */

static int read_settings(struct daemon *d, struct settings *fresh, struct err *e)
{
    int rc = settings_read(fresh, d->arguments.config, e);
    if (rc == 0)
        rc = cores_allow(d->node.cores, fresh->cores, e);
    if (rc == 0 && fresh->slots == 0)
        fresh->slots = cores_allowed(d->node.cores);
    if (rc == 0 && fresh->slots == 0) /* none is set apart, so the system deals them out */
        fresh->slots = cores_count(d->node.cores);
    fresh->lan = fresh->lan || d->arguments.lan;
    return rc;
}

static void on_reload(evutil_socket_t signal, short what, void *ctx)
{
    struct daemon *d = ctx;
    struct node *n = &d->node;
    struct settings fresh;
    struct err e = {0};
    (void)signal, (void)what;
    log_reopen(n->log);
    if (read_settings(d, &fresh, &e) < 0) {
        log_error(n->log, "settings stay as they are: %s", e.text);
        return;
    }
    if (strcmp(fresh.listen, n->settings.listen) != 0 ||
        strcmp(fresh.keys, n->settings.keys) != 0 || strcmp(fresh.socket, n->settings.socket) != 0)
        log_warn(n->log, "listen, keys and socket change only with a restart");
    memcpy(fresh.keys, n->settings.keys, sizeof fresh.keys);
    fresh.encrypt = fresh.encrypt || identity_grid_encrypts(n->identity);
    n->settings = fresh;
    log_set_level(n->log, fresh.log_level);
    log_info(n->log, "settings read again");
    if (identity_reload(n->identity, n->settings.keys, &e) < 0)
        log_error(n->log, "certificates stay as they are: %s", e.text);
    else
        log_info(n->log, "certificates read again: this peer's is good for %ld more days",
                 (long)(identity_card(n->identity)->ends - time(NULL)) / 86400);
    if (n->lender != NULL)
        lender_look(n->lender);
    overlay_contact(n->overlay);
}

/* --- the beginning --- */

static int watch_signal(struct daemon *d, unsigned i, int signal, event_callback_fn callback)
{
    d->signals[i] = evsignal_new(d->node.base, signal, callback, d);
    return d->signals[i] != NULL && event_add(d->signals[i], NULL) == 0 ? 0 : -ENOMEM;
}

static int watch_signals(struct daemon *d, struct err *e)
{
    d->end_poll = event_new(d->node.base, -1, EV_PERSIST, on_end_poll, d);
    if (d->end_poll == NULL || watch_signal(d, 0, SIGTERM, on_stop) < 0 ||
        watch_signal(d, 1, SIGINT, on_stop) < 0 || watch_signal(d, 2, SIGHUP, on_reload) < 0)
        return err_set(e, ENOMEM, "no memory");
    return 0;
}

static int open_log(struct daemon *d, struct err *e)
{
    struct node *n = &d->node;
    char path[SETTINGS_PATH + 16];
    snprintf(path, sizeof path, "%s/p2pd.log", n->settings.state);
    const char *file = d->arguments.log != NULL ? d->arguments.log
                       : d->arguments.detach    ? path
                                                : NULL;
    n->log = log_open(file, identity_card(n->identity)->name, n->settings.log_level);
    if (n->log == NULL)
        return err_set(e, errno, "%s: %s", file, strerror(errno));
    return 0;
}

static int open_parts(struct daemon *d, struct err *e)
{
    struct node *n = &d->node;
    n->cores = cores_new();
    int rc = n->cores != NULL ? machine_open(&n->machine, cores_count(n->cores), e)
                              : err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        machine_enforces(n->machine, confine_probe());
    if (rc == 0)
        rc = read_settings(d, &n->settings, e);
    if (rc == 0)
        rc = file_make_folder(n->settings.state, e);
    if (rc == 0)
        rc = file_make_folder(n->settings.work, e);
    if (rc == 0)
        rc = identity_load(&n->identity, n->settings.keys, e);
    if (rc == 0)
        n->settings.encrypt = n->settings.encrypt || identity_grid_encrypts(n->identity);
    if (rc == 0)
        rc = open_log(d, e);
    if (rc == 0)
        rc = links_open(&n->links, n->base, &n->settings, n->identity, n->log, e);
    if (rc == 0 && datagrams_open(&n->datagrams, n->base, n->links) < 0)
        rc = err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = member_open(&n->member, n, e);
    if (rc == 0 && nears_open(&n->nears, n) < 0)
        rc = err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = overlay_open(&n->overlay, n, e);
    if (rc == 0 && (walks_open(&n->walks, n) < 0 || tunnels_open(&n->tunnels, n) < 0))
        rc = err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = company_open(&n->company, n) == 0 && listens_open(&n->listens, n) == 0
                 ? 0
                 : err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = grant_open(&n->grant, n, e);
    if (rc == 0)
        rc = lender_open(&n->lender, n, e);
    if (rc == 0)
        rc = keeper_open(&n->keeper, n, e);
    if (rc == 0)
        rc = jobs_open(&n->jobs, n, e);
    if (rc == 0)
        rc = local_open(&n->local, n, e);
    if (rc < 0)
        return rc;
    dispatch_open(n);
    return watch_signals(d, e);
}

static void close_parts(struct daemon *d)
{
    struct node *n = &d->node;
    for (unsigned i = 0; i < sizeof d->signals / sizeof *d->signals; i++)
        if (d->signals[i] != NULL)
            event_free(d->signals[i]);
    if (d->end_poll != NULL)
        event_free(d->end_poll);
    if (d->ready_poll != NULL)
        event_free(d->ready_poll);
    local_close(n->local);
    jobs_close(n->jobs);
    keeper_close(n->keeper);
    grant_close(n->grant);
    listens_close(n->listens);
    company_close(n->company);
    tunnels_close(n->tunnels);
    walks_close(n->walks);
    overlay_close(n->overlay);
    nears_close(n->nears);
    member_close(n->member);
    datagrams_close(n->datagrams);
    links_close(n->links);
    event_base_loop(n->base, EVLOOP_NONBLOCK); /* libevent frees its streams only now */
    machine_close(n->machine);
    cores_free(n->cores);
    identity_free(n->identity);
    log_close(n->log);
    event_base_free(n->base);
}

/* The foreground process may go: it is told so by the end of the pipe, without a word. */
static void let_go(struct daemon *d)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
    close(d->ready_fd);
    d->ready_fd = -1;
}

/* What its user types next shall see the grid; but a grid that is away holds nobody up for long. */
static void on_ready_poll(evutil_socket_t fd, short what, void *ctx)
{
    struct daemon *d = ctx;
    const struct node *n = &d->node;
    (void)fd, (void)what;
    bool wanted = overlay_joining(n->overlay) || n->settings.join_count > 0;
    if (wanted && !overlay_joined(n->overlay) && clock_ms() < d->ready_by_ms)
        return;
    event_del(d->ready_poll);
    let_go(d);
}

static int say_ready(struct daemon *d)
{
    const struct identity_card *card = identity_card(d->node.identity);
    char id[ID_TEXT + 1], where[ADDR_TEXT + 1];
    struct part_peer self = links_self(d->node.links);
    id_text(&card->id, id);
    addr_text(&self.addr, where);
    log_info(d->node.log, "p2pd " PACKAGE_VERSION " of grid '%s' at %s, id %.8s, lends %u slots",
             card->grid, where, id, d->node.settings.slots);
    if (d->ready_fd < 0)
        return 0;
    d->ready_by_ms = clock_ms() + READY_MS;
    d->ready_poll = event_new(d->node.base, -1, EV_PERSIST, on_ready_poll, d);
    if (d->ready_poll == NULL)
        return -ENOMEM;
    return event_add(d->ready_poll, &(struct timeval){.tv_usec = READY_POLL_MS * 1000});
}

/* The changelist spares two system calls for each message sent; it needs that no watched file is
 * dup()ed. By the coarse clock each time comes up to 4 ms early, and is slept for again, by 1 ms.
 */
static struct event_base *make_base(void)
{
    struct event_config *config = event_config_new();
    if (config == NULL)
        return NULL;
    event_config_set_flag(config, EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    struct event_base *base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static int run(const struct arguments *arguments, int ready_fd)
{
    struct daemon d = {.arguments = *arguments, .ready_fd = ready_fd};
    struct err e = {0};
    d.node.base = make_base();
    int rc = d.node.base != NULL ? open_parts(&d, &e) : err_set(&e, ENOMEM, "no memory");
    if (rc == 0) {
        rc = say_ready(&d);
        event_base_dispatch(d.node.base);
    } else {
        dprintf(ready_fd >= 0 ? ready_fd : STDERR_FILENO, "p2pd: %s\n", e.text);
    }
    if (d.node.base != NULL)
        close_parts(&d);
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The child goes on as the daemon; the parent waits until that runs, or prints why it does not. */
static int detach(const struct arguments *arguments)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        perror("p2pd");
        return EXIT_FAILURE;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        setsid();
        return run(arguments, ends[1]);
    }
    close(ends[1]);
    char words[1024];
    ssize_t n, all = 0;
    while ((n = read(ends[0], words, sizeof words)) > 0 &&
           write(STDERR_FILENO, words, (size_t)n) == n)
        all += n;
    return child > 0 && all == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= FILES_WANTED)
        return;
    files.rlim_cur = files.rlim_max < FILES_WANTED ? files.rlim_max : FILES_WANTED;
    setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv)
{
    static const struct argp argp = {options, parse, NULL, doc, NULL, NULL, NULL};
    struct arguments arguments = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    signal(SIGPIPE, SIG_IGN);
    umask(077);
    raise_file_limit();
    return arguments.detach ? detach(&arguments) : run(&arguments, -1);
}
