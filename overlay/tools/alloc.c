/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c -- p2pctl alloc: slots held for as long as a command runs, shared by every mpirun in it.
 */
#include "tool.h"
#include "src/survive/level.h"
#include "order.h"
#include "overlay/base/size.h"
#include "src/ras_p2p/request.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SLOTS_MOST = 65536,
    COPIES_MOST = 16,
    ALLOCATE_MS = 15000,
    USUAL_S = 3600,
    GRACE_MS = 5000, /* for the command to end when its time is over */
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128,
};

struct order {
    struct tool_options shared;
    unsigned slots, copies, seconds, spares;
    enum share_strategy strategy;
    const char *require, *time;
    char **command;
};

static const char doc[] =
    "Holds slots of the nearest free peers while COMMAND runs, and gives them back when it ends. "
    "Every "
    "mpirun that COMMAND starts takes its slots out of these, side by side or one after the other; "
    "P2PGRID_ALLOCATION tells it which they are, and OMPI_MCA_ras=p2p to use them.\v"
    "Exits as COMMAND does, with 1 when its time is over, and with 127 when it cannot be started.";

static const struct argp_option options[] = {
    {"slots", 'n', "N", 0, "so many slots, one for each rank that runs at a time", 0},
    {"time", 't', "TIME", 0, "for so long: 90s, 30m, 8h or 2d (1h)", 0},
    {"require", 'r', "EXPRESSION", 0, "as ras_p2p_require", 0},
    {"level", 'l', "R", 0, "as errmgr_replica_level: R times as many slots, the copies apart (1)",
     0},
    {"spares", 'p', "N", 0, "so many slots more, on peers of their own if possible (0)", 0},
    {"strategy", 'm', "WORD", 0, "as rmaps_locality_strategy: concentrate, spread or balanced", 0},
    {0},
};

static error_t alloc_parse(int key, char *value, struct argp_state *state)
{
    struct order *o = state->input;
    struct err e = {0};
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->shared;
        return 0;
    case 'n':
        o->slots = order_number(value, "slots", 1, SLOTS_MOST, state);
        return 0;
    case 't':
        o->time = value;
        if (!seconds_parse(&o->seconds, value))
            argp_error(state, "--time=%s: must be like 90s, 30m, 8h or 2d, and at most 365d",
                       value);
        return 0;
    case 'r':
        o->require = value;
        return 0;
    case 'l':
        o->copies = order_number(value, "level", 1, COPIES_MOST, state);
        return 0;
    case 'p':
        o->spares = order_number(value, "spares", 0, SLOTS_MOST, state);
        return 0;
    case 'm':
        if (request_strategy(value, &o->strategy, &e) != 0)
            argp_error(state, "%s", e.text);
        return 0;
    case ARGP_KEY_ARGS:
        o->command = state->argv + state->next;
        return 0;
    case ARGP_KEY_END:
        if (o->slots == 0)
            argp_error(state, "how many slots? -n N");
        if (o->command == NULL)
            argp_error(state, "what is to run? p2pctl alloc -n %u -- COMMAND", o->slots);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* Nothing is held when this fails: the connection closes. */
static int allocate(struct client *c, const struct order *o, struct id *reservation, struct err *e)
{
    struct request request = {.slots = o->slots * o->copies,
                              .per_peer = o->copies > 1 ? o->slots : 0,
                              .apart = o->copies > 1 ? o->slots : 0,
                              .spares = o->spares,
                              .strategy = o->strategy,
                              .require = o->require,
                              .use = LEASE_RESERVES,
                              .timeout_ms = ALLOCATE_MS};
    struct grid_lease *leases = NULL;
    size_t count, spares;
    int rc = client_reserve(c, o->seconds, reservation, e);
    request.reservation = *reservation;
    if (rc == 0)
        rc = client_allocate(c, &request, &leases, &count, &spares, e);
    free(leases);
    return rc;
}

static void run_command(const struct order *o, const struct id *reservation)
{
    char id[ID_TEXT + 1];
    sigset_t none;
    id_text(reservation, id);
    setenv("P2PGRID_ALLOCATION", id, 1);
    setenv("OMPI_MCA_ras", "p2p", 0);
    if (o->shared.socket != NULL)
        setenv("P2PGRID_SOCKET", o->shared.socket, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* the slots are gone with the parent */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(o->command[0], o->command);
    fprintf(stderr, "p2pctl: cannot run %s: %s\n", o->command[0], strerror(errno));
    _exit(EXIT_NOT_FOUND);
}

/* True: the slots are gone, for that reason. */
static bool slots_are_gone(struct client *c, const struct order *o, char *why, size_t size)
{
    struct grid_event event;
    bool gone = false;
    while (client_event(c, &event))
        if (event.kind == GRID_ALLOCATION_ENDED) {
            snprintf(why, size,
                     "the time of this allocation (%s) is over: %s is ended; give a "
                     "longer --time",
                     o->time, o->command[0]);
            gone = true;
        } else if (event.kind == GRID_DAEMON_GONE) {
            snprintf(why, size, "%s, and the allocation with it: %s is ended", event.text,
                     o->command[0]);
            gone = true;
        } else if (event.kind != GRID_LEASE_ENDING) { /* it tells of its end then */
            fprintf(stderr, "p2pctl: the allocation %s: %s\n",
                    event.kind == GRID_LEASE_RECALLED ? "will be smaller" : "is smaller now",
                    event.text);
        }
    return gone;
}

/* Until the command has ended: its exit code. */
static int watch_command(struct client *c, const struct order *o, pid_t child, int signals)
{
    struct pollfd fds[] = {{.fd = signals, .events = POLLIN},
                           {.fd = client_fd(c), .events = POLLIN}};
    char why[2 * GRID_LINE] = "";
    int status, patience = -1;
    for (;;) {
        int n = poll(fds, 2, patience);
        struct signalfd_siginfo s = {0};
        if (n == 0)
            kill(child, SIGKILL);
        if (fds[0].revents != 0 && read(signals, &s, sizeof s) == sizeof s &&
            s.ssi_signo != SIGCHLD && s.ssi_signo != SIGINT) /* a terminal's goes to both */
            kill(child, (int)s.ssi_signo);
        if (waitpid(child, &status, WNOHANG) == child)
            break;
        if (fds[1].revents != 0 && slots_are_gone(c, o, why, sizeof why)) {
            fprintf(stderr, "p2pctl: %s\n", why);
            kill(child, SIGTERM);
            kill(child, SIGCONT);
            fds[1].fd = -1;
            patience = GRACE_MS;
        }
    }
    if (why[0] != '\0')
        return TOOL_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status);
}

static int run(struct client *c, const struct order *o, const struct id *reservation)
{
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGCHLD);
    sigaddset(&mine, SIGINT);
    sigaddset(&mine, SIGTERM);
    sigaddset(&mine, SIGHUP);
    sigprocmask(SIG_BLOCK, &mine, NULL);
    int signals = signalfd(-1, &mine, SFD_CLOEXEC);
    pid_t child = signals >= 0 ? fork() : -1;
    if (child == 0)
        run_command(o, reservation);
    if (child < 0) {
        struct err e = {0};
        err_set(&e, errno, "cannot start anything: %s", strerror(errno));
        return tool_fail(&e);
    }
    int code = watch_command(c, o, child, signals);
    close(signals);
    return code;
}

int tool_alloc(int argc, char **argv)
{
    static const struct argp_child children[] = {{&tool_socket_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        options, alloc_parse, "-- COMMAND [ARGUMENT...]", doc, children, NULL, NULL};
    struct order o = {.copies = 1, .seconds = USUAL_S, .time = "1h"};
    struct client *c;
    struct id reservation;
    struct err e = {0};
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
    if (o.slots > SLOTS_MOST / o.copies) {
        err_set(&e, EINVAL, "%u slots %u times: more than %d", o.slots, o.copies, SLOTS_MOST);
        return tool_fail(&e);
    }
    int rc = tool_connect(&c, &o.shared);
    if (rc != TOOL_OK)
        return rc;
    if (allocate(c, &o, &reservation, &e) != 0)
        rc = tool_fail(&e);
    else
        rc = run(c, &o, &reservation);
    client_close(c);
    return rc;
}
