/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c -- p2pd, the daemon of one desktop, as a process: arguments, signals, the background. */
#include "config.h"
#include "daemon.h"
#include "overlay/base/addr.h"
#include "overlay/base/log.h"
#include "overlay/crypto/identity.h"
#include "overlay/discovery/overlay.h"
#include "overlay/transport/link.h"
#include <argp.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_WANTED = 4096, READY_POLL_MS = 20, READY_MS = 3000, END_POLL_MS = 20, END_MS = 2000 };
enum { WRONG_USAGE = 2 }; /* exit status, as of all programs here */

const char *argp_program_version = PACKAGE_STRING;

static const char doc[] =
    "Lends this desktop to a grid, and borrows from it.\v"
    "Settings are read from ~/.config/p2pgrid/p2pd.conf if it is there, keys from "
    "~/.config/p2pgrid/keys. SIGHUP reads both again, SIGTERM ends every job on this "
    "machine and leaves the grid.";

static const struct argp_option argument_list[] = {
    {"config", 'c', "FILE", 0, "read the settings from FILE", 0},
    {"detach", 'd', NULL, 0, "go into the background once everything runs", 0},
    {"lan", 'n', NULL, 0, "look for the grid on the local network, as `lan = true` does", 0},
    {"log", 'l', "FILE", 0, "append log lines to FILE instead of standard error", 0},
    {NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0}, /* as --help */
    {0},
};

struct process {
    struct daemon daemon;
    struct event *signals[4], *end_poll, *ready_poll;
    uint64_t end_by_ms, ready_by_ms;
    int ready_fd; /* the waiting foreground process learns there how it went; -1: there is none */
};

static error_t p2pd_parse(int key, char *value, struct argp_state *state)
{
    struct daemon_options *a = state->input;
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
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "what is '%s'?", value);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* --- signals --- */

static void on_end_poll(evutil_socket_t fd, short what, void *ctx)
{
    struct process *p = ctx;
    (void)fd, (void)what;
    if (daemon_has_left(&p->daemon) || clock_ms() >= p->end_by_ms)
        event_base_loopbreak(p->daemon.node.base);
}

/* The second one does not wait for the others to hear of it. */
static void p2pd_on_stop(evutil_socket_t signal, short what, void *ctx)
{
    struct process *p = ctx;
    struct node *n = &p->daemon.node;
    (void)what;
    if (p->end_by_ms != 0) {
        event_base_loopbreak(n->base);
        return;
    }
    log_info(n->log, "ends: %s", strsignal(signal));
    daemon_leave(&p->daemon);
    p->end_by_ms = clock_ms() + END_MS;
    event_add(p->end_poll, &(struct timeval){.tv_usec = END_POLL_MS * 1000});
}

static void p2pd_on_reload(evutil_socket_t signal, short what, void *ctx)
{
    struct process *p = ctx;
    struct err logged = {0};
    (void)signal, (void)what;
    daemon_reload(&p->daemon, &logged);
}

static int watch_signal(struct process *p, unsigned i, int signal, event_callback_fn callback)
{
    p->signals[i] = evsignal_new(p->daemon.node.base, signal, callback, p);
    return p->signals[i] != NULL && event_add(p->signals[i], NULL) == 0 ? 0 : -ENOMEM;
}

static int watch_signals(struct process *p, struct err *e)
{
    p->end_poll = event_new(p->daemon.node.base, -1, EV_PERSIST, on_end_poll, p);
    if (p->end_poll == NULL || watch_signal(p, 0, SIGTERM, p2pd_on_stop) < 0 ||
        watch_signal(p, 1, SIGINT, p2pd_on_stop) < 0 ||
        watch_signal(p, 2, SIGHUP, p2pd_on_reload) < 0)
        return err_set(e, ENOMEM, "no memory");
    return 0;
}

static void end_signals(struct process *p)
{
    for (unsigned i = 0; i < sizeof p->signals / sizeof *p->signals; i++)
        if (p->signals[i] != NULL)
            event_free(p->signals[i]);
    if (p->end_poll != NULL)
        event_free(p->end_poll);
    if (p->ready_poll != NULL)
        event_free(p->ready_poll);
}

/* --- in the background --- */

/* Lets the foreground process end: it sees the end of the pipe. */
static void p2pd_let_go(struct process *p)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
    close(p->ready_fd);
    p->ready_fd = -1;
}

/* The next command of the user should find the grid, so the foreground process waits for it, but
 * not for long. */
static void on_ready_poll(evutil_socket_t fd, short what, void *ctx)
{
    struct process *p = ctx;
    const struct daemon *d = &p->daemon;
    (void)fd, (void)what;
    bool wanted = overlay_joining(d->overlay) || d->node.settings.join_count > 0;
    if (wanted && !overlay_joined(d->overlay) && clock_ms() < p->ready_by_ms)
        return;
    event_del(p->ready_poll);
    p2pd_let_go(p);
}

static int say_ready(struct process *p)
{
    const struct identity_card *card = identity_card(p->daemon.node.identity);
    char id[ID_TEXT + 1], where[ADDR_TEXT + 1];
    struct part_peer self = links_self(p->daemon.node.links);
    id_text(&card->id, id);
    addr_text(&self.addr, where);
    log_info(p->daemon.node.log,
             "p2pd " PACKAGE_VERSION " of grid '%s' at %s, id %.8s, lends %u slots", card->grid,
             where, id, p->daemon.node.settings.slots);
    if (p->ready_fd < 0)
        return 0;
    p->ready_by_ms = clock_ms() + READY_MS;
    p->ready_poll = event_new(p->daemon.node.base, -1, EV_PERSIST, on_ready_poll, p);
    if (p->ready_poll == NULL)
        return -ENOMEM;
    return event_add(p->ready_poll, &(struct timeval){.tv_usec = READY_POLL_MS * 1000});
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

static int p2pd_run(const struct daemon_options *options, int ready_fd)
{
    struct process p = {.daemon.options = *options, .ready_fd = ready_fd};
    struct err e = {0};
    p.daemon.node.base = make_base();
    int rc =
        p.daemon.node.base != NULL ? daemon_open(&p.daemon, &e) : err_set(&e, ENOMEM, "no memory");
    if (rc == 0)
        rc = watch_signals(&p, &e);
    if (rc == 0) {
        rc = say_ready(&p);
        event_base_dispatch(p.daemon.node.base);
    } else {
        dprintf(ready_fd >= 0 ? ready_fd : STDERR_FILENO, "p2pd: %s\n", e.text);
    }
    end_signals(&p);
    if (p.daemon.node.base != NULL)
        daemon_close(&p.daemon);
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The child goes on as the daemon; the parent waits until that runs, or prints why it does not. */
static int p2pd_detach(const struct daemon_options *options)
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
        return p2pd_run(options, ends[1]);
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
    static const struct argp argp = {argument_list, p2pd_parse, NULL, doc, NULL, NULL, NULL};
    struct daemon_options options = {0};
    argp_err_exit_status = WRONG_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    signal(SIGPIPE, SIG_IGN);
    umask(077);
    raise_file_limit();
    return options.detach ? p2pd_detach(&options) : p2pd_run(&options, -1);
}
