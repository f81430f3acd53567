/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c -- starts a lease's command in a room (p2pd-room) and hears from it. */
#include "config.h"
#include "launch.h"
#include "overlay/host/proctree.h"
#include "overlay/sandbox/cgroup.h"
#include "overlay/base/confinement.h"
#include "overlay/sandbox/environment.h"
#include "overlay/sandbox/forkserver.h"
#include "overlay/sandbox/lanes.h"
#include "overlay/host/hardware.h"
#include "overlay/node/node.h"
#include "overlay/sandbox/pressure.h"
#include "overlay/sandbox/room.h"
#include "overlay/sandbox/sweep.h"
#include "overlay/base/log.h"
#include "overlay/host/machine.h"
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_MS = ROOM_PATIENCE_MS + 2000, LAUNCHES_MAX = 256 };
/* How long the forkserver may take, on a machine that has no time for guests; and how long it is
 * waited for where nothing else can go on. */
enum { FORK_MS = 30000, SOON_MS = 1000 };

struct launch {
    struct launcher *launcher;
    struct launch_watcher watcher;
    pid_t room, command; /* room 0: the forkserver has not answered */
    TAILQ_ENTRY(launch) asked;
    bool left; /* and its end of `control` is closed already */
    struct pressure pressure;
    int control;
    struct event *heard, *overdue;
    bool stopped, suspended;
    enum launch_end end;
    int status;
    char text[ROOM_REPORT + 1];
    char folder[PATH_MAX];
};

struct launcher {
    struct node *node;
    struct launch *all[LAUNCHES_MAX];
    size_t count;
    char groups[CGROUP_PATH + 1]; /* where theirs are made; "": nowhere */
    char controllers[CGROUP_CONTROLLERS + 1];
    enum lanes_way views;
    int hardware; /* a file for rooms: hwloc's description of this machine */
    struct forkserver forkserver;
    struct event *answers, *late;       /* of the forkserver; NULL: none runs */
    TAILQ_HEAD(launches, launch) asked; /* rooms that it has not answered for, the oldest first */
};

extern char **environ;

static int launcher_make_work(const char *work, struct err *e)
{
    if (mkdir(work, 0700) != 0 && errno != EEXIST)
        return err_set(e, errno, "cannot make %s, where the folders of jobs go: %s", work,
                       strerror(errno));
    return 0;
}

/* Before anything else is started, which would be in the group that is to be emptied. */
static void launcher_take_groups(struct launcher *l)
{
    if (cgroup_take(l->groups, l->controllers) != 0) {
        l->groups[0] = '\0';
        return;
    }
    machine_enforces(l->node->machine, CONFINE_CGROUP);
    log_info(l->node->log, "jobs run in control groups below %s, which have %s", l->groups,
             l->controllers[0] != '\0' ? l->controllers : "no controllers");
}

const char *launcher_controllers(const struct launcher *l)
{
    return l->groups[0] != '\0' ? l->controllers : NULL;
}

/* What the kernel and the file system of rooms allow. */
static void launcher_try_views(struct launcher *l)
{
    l->views = lanes_probe(l->node->settings.work);
    if (l->views < LANES_COPIES)
        log_warn(
            l->node->log,
            "nothing can be mounted in rooms (user namespaces are not allowed), so each lane of a "
            "job works on a copy of the job's folder: man p2pgrid, RESULTS");
    else if (l->views < LANES_OVERLAY)
        log_info(l->node->log, "no overlayfs on %s: each lane of a job has a copy of its folder",
                 l->node->settings.work);
}

enum lanes_way launcher_views(const struct launcher *l)
{
    return l->views;
}

static void launcher_on_late(evutil_socket_t fd, short what, void *ctx);

int launcher_open(struct launcher **out, struct node *node, struct err *e)
{
    char memory[64];
    int rc = launcher_make_work(node->settings.work, e);
    if (rc != 0)
        return rc;
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return err_set(e, ENOMEM, "out of memory");
    (*out)->node = node;
    TAILQ_INIT(&(*out)->asked);
    forkserver_prepare(&(*out)->forkserver);
    launcher_take_groups(*out);
    launcher_try_views(*out);
    (*out)->late = evtimer_new(node->base, launcher_on_late, *out);
    if ((*out)->late == NULL)
        return err_set(e, ENOMEM, "out of memory");
    (*out)->hardware = hardware_file();
    if ((*out)->hardware < 0)
        return err_set(e, -(*out)->hardware, "no memory for what this machine is like");
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* to reach what a room leaves when it is killed */
    snprintf(memory, sizeof memory, "%s%u-", ROOM_MEMORY_PREFIX, (unsigned)getuid());
    int swept = sweep_stale(node->settings.work, ROOM_PREFIX) + sweep_stale(ROOM_MEMORY, memory);
    if (swept > 0)
        log_info(node->log, "removed %d folders of jobs that an earlier p2pd left", swept);
    return 0;
}

static void launcher_hear_all(struct launcher *l, int ms);

/* The room died without having ended its descendants, which became this process's children. */
static void launch_clear_after(struct launch *one)
{
    struct launcher *l = one->launcher;
    pid_t living[LAUNCHES_MAX + 1];
    char group[PATH_MAX];
    size_t count = 0;
    launcher_hear_all(l, SOON_MS); /* or rooms that nobody knows would be taken for what is left */
    if (l->forkserver.pid > 0)
        living[count++] = l->forkserver.pid;
    for (size_t i = 0; i < l->count; i++)
        if (l->all[i] != one && l->all[i]->room > 0)
            living[count++] = l->all[i]->room;
    log_warn(l->node->log, "the room in %s died; ending what is left of it", one->folder);
    if (l->groups[0] != '\0') {
        snprintf(group, sizeof group, "%s/%s", l->groups, strrchr(one->folder, '/') + 1);
        cgroup_end(group, ROOM_PATIENCE_MS);
    }
    if (proctree_end(living, count, ROOM_PATIENCE_MS) != 0)
        log_error(l->node->log, "some process of %s could not be ended", one->folder);
    sweep_remove(one->folder);
    char memory[PATH_MAX + 64];
    snprintf(memory, sizeof memory, "%s/%s%u-%s", ROOM_MEMORY, ROOM_MEMORY_PREFIX,
             (unsigned)getuid(), strrchr(one->folder, '/') + 1);
    sweep_remove(memory);
}

static void launch_free(struct launch *one)
{
    struct launcher *l = one->launcher;
    for (size_t i = 0; i < l->count; i++)
        if (l->all[i] == one)
            l->all[i--] = l->all[--l->count];
    if (one->heard != NULL)
        event_free(one->heard);
    if (one->overdue != NULL)
        event_free(one->overdue);
    if (one->control >= 0)
        close(one->control);
    free(one);
}

static void launch_end(struct launch *one)
{
    int room_status = 0;
    if (one->room > 0)
        waitpid(one->room, &room_status, 0); /* it has ended, or is about to */
    if (!WIFEXITED(room_status) || WEXITSTATUS(room_status) != 0)
        launch_clear_after(one);
    struct launch_watcher w = one->watcher;
    enum launch_end end = one->end;
    int status = one->status;
    char text[sizeof one->text];
    strcpy(text, one->text);
    launch_free(one);
    w.over(w.ctx, end, status, text);
}

static void launch_on_call(struct launch *one, const char *words)
{
    uint8_t ip[16];
    uint16_t port;
    char hex[2 * sizeof ip + 1];
    if (sscanf(words, "%32s %hu", hex, &port) == 2 &&
        sodium_hex2bin(ip, sizeof ip, hex, strlen(hex), NULL, NULL, NULL) == 0)
        one->watcher.calls(one->watcher.ctx, ip, port);
}

static void launch_on_report(struct launch *one, char *report)
{
    int number, at = 0;
    if (sscanf(report, "started %d", &number) == 1) {
        one->end = LAUNCH_KILLED;
        one->command = number;
        strcpy(one->text, "its room on the peer was ended");
        one->watcher.started(one->watcher.ctx, number);
    } else if (sscanf(report, "ended %d %n", &number, &at) == 1) {
        one->end = LAUNCH_ENDED;
        one->status = number;
        strcpy(one->text, report + at);
    } else if (strncmp(report, "calls ", 6) == 0) {
        launch_on_call(one, report + 6);
    } else if (strncmp(report, "overstepped ", 12) == 0) {
        strcpy(one->text, report + 12);
        one->watcher.overstepped(one->watcher.ctx, one->text);
    } else if (strncmp(report, "failed ", 7) == 0) {
        strcpy(one->text, report + 7);
    }
}

static void launch_on_readable(evutil_socket_t fd, short what, void *ctx)
{
    struct launch *one = ctx;
    char report[ROOM_REPORT + 1];
    (void)what;
    ssize_t n = recv(fd, report, sizeof report - 1, MSG_DONTWAIT);
    if (n < 0 &&
        errno == ECONNRESET) /* the room ended with packets of p2pd unread: its own follow */
        n = recv(fd, report, sizeof report - 1, MSG_DONTWAIT);
    if (n > 0) {
        report[n] = '\0';
        launch_on_report(one, report);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        one->left = true;
        if (one->room > 0)
            launch_end(one);
        else
            event_del(one->heard); /* the forkserver knows which process it was */
    }
}

static void launch_on_overdue(evutil_socket_t fd, short what, void *ctx)
{
    struct launch *one = ctx;
    (void)fd, (void)what;
    if (one->room > 0)
        kill(one->room, SIGKILL); /* launch_on_readable() then clears up */
    else
        evtimer_add(one->overdue, &(struct timeval){.tv_sec = STOP_MS / 1000});
}

/* --- the forkserver's answers --- */

/* The oldest order's: the room's pid, or -errno. */
static void launcher_answered(struct launcher *l, pid_t room)
{
    struct launch *one = TAILQ_FIRST(&l->asked);
    TAILQ_REMOVE(&l->asked, one, asked);
    if (room > 0) {
        one->room = room;
        one->watcher.forked(one->watcher.ctx);
    } else {
        snprintf(one->text, sizeof one->text, "no room can be started: %s", strerror(-room));
    }
    if (room <= 0 || one->left)
        launch_end(one);
}

static void launcher_lose_forkserver(struct launcher *l, int why)
{
    if (l->answers != NULL)
        event_free(l->answers);
    l->answers = NULL;
    forkserver_close(&l->forkserver);
    for (struct launch *last = TAILQ_LAST(&l->asked, launches), *one = NULL; one != last;) {
        one = TAILQ_FIRST(&l->asked); /* what is asked for meanwhile has another forkserver */
        launcher_answered(l, -why);
    }
}

static void launcher_time_answers(struct launcher *l)
{
    if (TAILQ_EMPTY(&l->asked))
        evtimer_del(l->late);
    else
        evtimer_add(l->late, &(struct timeval){.tv_sec = FORK_MS / 1000});
}

static void launcher_on_answers(evutil_socket_t fd, short what, void *ctx)
{
    struct launcher *l = ctx;
    pid_t room = 0;
    (void)fd, (void)what;
    while (!TAILQ_EMPTY(&l->asked) && (room = forkserver_hear(&l->forkserver)) != 0 &&
           room != -EPIPE)
        launcher_answered(l, room);
    if (TAILQ_EMPTY(&l->asked) && room >= 0)
        room = forkserver_hear(&l->forkserver); /* nothing is due: it can only have ended */
    if (room == -EPIPE)
        launcher_lose_forkserver(l, EPIPE);
    launcher_time_answers(l);
}

static void launcher_on_late(evutil_socket_t fd, short what, void *ctx)
{
    struct launcher *l = ctx;
    (void)fd, (void)what;
    log_warn(l->node->log,
             "p2pd-room has forked nothing for %d s: another one is started for the next room",
             FORK_MS / 1000);
    launcher_lose_forkserver(l, ETIMEDOUT);
}

/* The forkserver is a new one. */
static int launcher_watch(struct launcher *l)
{
    if (l->answers != NULL)
        event_free(l->answers);
    l->answers = l->forkserver.pid <= 0 ? NULL
                                        : event_new(l->node->base, l->forkserver.control,
                                                    EV_READ | EV_PERSIST, launcher_on_answers, l);
    return l->answers != NULL && event_add(l->answers, NULL) == 0 ? 0 : -ENOMEM;
}

static void launcher_hear_all(struct launcher *l, int ms)
{
    const uint64_t until = node_now_ms() + (uint64_t)ms;
    for (uint64_t now; !TAILQ_EMPTY(&l->asked) && (now = node_now_ms()) < until;) {
        struct pollfd p = {.fd = l->forkserver.control, .events = POLLIN};
        if (poll(&p, 1, (int)(until - now)) > 0)
            launcher_on_answers(p.fd, EV_READ, l);
    }
}

/* The order as a file in memory, with the whole environment that the command gets; or -errno. */
static int launch_write_order(const struct launcher *l, const struct msg_room_order *order,
                              struct err *e)
{
    struct msg_room_order whole = *order;
    char **all = environment_make(environ, order->environment, order->environment_length);
    char *flat = NULL;
    uint8_t *frame = malloc(WIRE_MAX_FRAME);
    size_t length = 0;
    int fd = -1;
    FILE *f = open_memstream(&flat, &length);
    for (char **v = all; f != NULL && v != NULL && *v != NULL; v++)
        fwrite(*v, strlen(*v) + 1, 1, f);
    if (f == NULL || fclose(f) != 0 || frame == NULL) {
        err_set(e, ENOMEM, "out of memory");
    } else if (all == NULL) {
        err_set(e, EINVAL, "the environment of the command cannot be used");
    } else {
        whole.environment = (const uint8_t *)flat;
        whole.environment_length = (uint32_t)length;
        strcpy(whole.groups, l->groups);
        length = message_put_room_order(&whole, frame, WIRE_MAX_FRAME);
        fd = length > 0 ? memfd_create("order", MFD_CLOEXEC) : -1;
        if (length == 0)
            err_set(e, E2BIG, "the command and its environment are too long");
        else if (fd < 0 || write(fd, frame, length) != (ssize_t)length)
            err_set(e, ENOMEM, "no memory for the command and its environment");
    }
    environment_free(all);
    free(flat);
    free(frame);
    if (e->code != 0 && fd >= 0)
        close(fd);
    return e->code == 0 ? fd : -e->code;
}

static int launch_ask(struct launch *one, int its_end, int order, unsigned nice, struct err *e)
{
    struct launcher *l = one->launcher;
    const int files[ROOM_FILES] = {its_end, order, l->hardware};
    const bool waited_for = !TAILQ_EMPTY(&l->asked);
    const pid_t before = l->forkserver.pid;
    int rc = forkserver_ask(&l->forkserver, nice, waited_for, one->folder, files, e);
    if (l->forkserver.pid != before && launcher_watch(l) != 0 && rc == 0)
        rc = err_set(e, ENOMEM, "out of memory");
    if (rc != 0)
        return rc;
    TAILQ_INSERT_TAIL(&l->asked, one, asked);
    if (!waited_for)
        launcher_time_answers(l);
    return 0;
}

static int launch_prepare(struct launch *one, const struct id *lease, int ends[2], struct err *e)
{
    struct node *node = one->launcher->node;
    char hex[ID_TEXT + 1];
    id_text(lease, hex);
    int n = snprintf(one->folder, sizeof one->folder / 2, "%s/%s%.12s", node->settings.work,
                     ROOM_PREFIX, hex); /* short: paths of sockets are made from it */
    if (n >= (int)sizeof one->folder / 2)
        return err_set(e, ENAMETOOLONG, "the folder for jobs has too long a name");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return err_set(e, errno, "no socket for a room: %s", strerror(errno));
    one->control = ends[0];
    one->heard = event_new(node->base, ends[0], EV_READ | EV_PERSIST, launch_on_readable, one);
    one->overdue = evtimer_new(node->base, launch_on_overdue, one);
    if (one->heard == NULL || one->overdue == NULL || event_add(one->heard, NULL) != 0)
        return err_set(e, ENOMEM, "out of memory");
    return 0;
}

int launch_start(struct launch **out, struct launcher *l, const struct id *lease,
                 const struct msg_room_order *order, const struct launch_watcher *watcher,
                 struct err *e)
{
    int ends[2] = {-1, -1};
    *out = NULL;
    if (l->count == LAUNCHES_MAX)
        return err_set(e, EAGAIN, "too many commands run here already");
    int file = launch_write_order(l, order, e);
    if (file < 0)
        return file;
    struct launch *one = calloc(1, sizeof *one);
    if (one == NULL) {
        close(file);
        return err_set(e, ENOMEM, "out of memory");
    }
    one->launcher = l;
    one->control = -1;
    one->watcher = *watcher;
    strcpy(one->text, "its room did not start");
    l->all[l->count++] = one;
    int rc = launch_prepare(one, lease, ends, e);
    if (rc == 0)
        rc = launch_ask(one, ends[1], file, order->nice, e);
    close(file);
    if (ends[1] >= 0)
        close(ends[1]);
    if (rc != 0)
        launch_free(one);
    else
        *out = one;
    return rc;
}

void launch_stop(struct launch *one)
{
    if (one->stopped)
        return;
    one->stopped = true;
    send(one->control, "end", 3, MSG_DONTWAIT | MSG_NOSIGNAL);
    evtimer_add(one->overdue, &(struct timeval){.tv_sec = STOP_MS / 1000});
}

void launch_suspend(struct launch *one, bool suspend)
{
    if (!one->stopped && suspend != one->suspended)
        one->suspended = send(one->control, suspend ? ROOM_SUSPEND : ROOM_RESUME, 1,
                              MSG_DONTWAIT | MSG_NOSIGNAL) == 1
                             ? suspend
                             : one->suspended;
}

unsigned launch_waits(struct launch *one)
{
    return one->command > 0 ? pressure_take(&one->pressure, one->room, one->command) : 0;
}

static void launch_tell(struct launch *one, const char *verb, const void *what, size_t length)
{
    struct iovec parts[] = {{(void *)verb, 1}, {(void *)what, length}};
    const struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};
    if (!one->stopped && sendmsg(one->control, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        log_warn(one->launcher->node->log, "the room in %s is not told of its job's peers: %s",
                 one->folder, strerror(errno));
}

void launch_allow(struct launch *one, const uint8_t *peers, size_t length)
{
    launch_tell(one, ROOM_PEERS, peers, length);
}

void launch_tell_call(struct launch *one, const uint8_t ip[16], uint16_t port, bool yes)
{
    struct room_call call = {.port = port, .yes = yes};
    memcpy(call.ip, ip, sizeof call.ip);
    launch_tell(one, ROOM_CALL, &call, sizeof call);
}

void launch_forget(struct launch *one)
{
    if (!one->stopped)
        send(one->control, ROOM_FORGET, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

pid_t launch_room(const struct launch *one)
{
    return one->room;
}

void launch_siblings(struct launch *one, const pid_t *rooms, size_t count)
{
    launch_tell(one, ROOM_SIBLINGS, rooms, count * sizeof rooms[0]);
}

/* The event loop no longer runs when the daemon ends: wait here, all rooms at once. */
void launcher_close(struct launcher *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; i < l->count; i++)
        launch_stop(l->all[i]);
    uint64_t until = node_now_ms() + STOP_MS;
    launcher_hear_all(l, STOP_MS);
    launcher_lose_forkserver(l, ETIMEDOUT);
    while (l->count > 0) {
        struct launch *one = l->all[0];
        uint64_t now = node_now_ms();
        struct pollfd p = {.fd = one->control, .events = POLLIN};
        if (poll(&p, 1, now < until ? (int)(until - now) : 0) == 0)
            kill(one->room, SIGKILL);
        launch_on_readable(one->control, EV_READ, one);
    }
    event_free(l->late);
    if (l->forkserver.program != 0)
        close(l->forkserver.program);
    close(l->hardware);
    free(l);
}
