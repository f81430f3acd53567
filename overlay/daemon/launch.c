/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c -- starts a lease's command in a room (p2pd-room) and hears from it. */
#include "config.h"
#include "launch.h"
#include "brood.h"
#include "environment.h"
#include "node.h"
#include "room.h"
#include "sweep.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_MS = ROOM_PATIENCE_MS + 2000, LAUNCHES_MAX = 256 };

struct launch {
    struct launcher *launcher;
    struct launch_watcher watcher;
    pid_t room;
    int control;
    struct event *heard, *overdue;
    bool stopped;
    enum launch_end end;
    int status;
    char text[ROOM_REPORT + 1];
    char folder[PATH_MAX];
};

struct launcher {
    struct node *node;
    struct launch *all[LAUNCHES_MAX];
    size_t count;
};

extern char **environ;

static int make_work(const char *work, struct err *e)
{
    if (mkdir(work, 0700) != 0 && errno != EEXIST)
        return err_set(e, errno, "cannot make %s, where the folders of jobs go: %s", work,
                       strerror(errno));
    return 0;
}

int launcher_open(struct launcher **out, struct node *node, struct err *e)
{
    char memory[64];
    int rc = make_work(node->settings.work, e);
    if (rc != 0)
        return rc;
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return err_set(e, ENOMEM, "out of memory");
    (*out)->node = node;
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* to get at what a room leaves if someone kills it */
    snprintf(memory, sizeof memory, "%s%u-", ROOM_MEMORY_PREFIX, (unsigned)getuid());
    int swept = sweep_stale(node->settings.work, ROOM_PREFIX) + sweep_stale(ROOM_MEMORY, memory);
    if (swept > 0)
        log_info(node->log, "removed %d folders of jobs that an earlier p2pd left", swept);
    return 0;
}

/* The room died without having ended its brood, which then became this process's. */
static void clear_after(struct launch *one)
{
    struct launcher *l = one->launcher;
    pid_t living[LAUNCHES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++)
        if (l->all[i] != one)
            living[count++] = l->all[i]->room;
    log_warn(l->node->log, "the room in %s died; ending what is left of it", one->folder);
    if (brood_end(living, count, ROOM_PATIENCE_MS) != 0)
        log_error(l->node->log, "some process of %s could not be ended", one->folder);
    sweep_remove(one->folder);
    char memory[PATH_MAX + 64];
    snprintf(memory, sizeof memory, "%s/%s%u-%s", ROOM_MEMORY, ROOM_MEMORY_PREFIX,
             (unsigned)getuid(), strrchr(one->folder, '/') + 1);
    sweep_remove(memory);
}

static void forget(struct launch *one)
{
    struct launcher *l = one->launcher;
    for (size_t i = 0; i < l->count; i++)
        if (l->all[i] == one)
            l->all[i--] = l->all[--l->count];
    if (one->heard != NULL)
        event_free(one->heard);
    if (one->overdue != NULL)
        event_free(one->overdue);
    close(one->control);
    free(one);
}

static void over(struct launch *one)
{
    int room_status;
    waitpid(one->room, &room_status, 0); /* its socket is closed: it has ended, or is about to */
    if (!WIFEXITED(room_status) || WEXITSTATUS(room_status) != 0)
        clear_after(one);
    struct launch_watcher w = one->watcher;
    enum launch_end end = one->end;
    int status = one->status;
    char text[sizeof one->text];
    strcpy(text, one->text);
    forget(one);
    w.over(w.ctx, end, status, text);
}

static void understand(struct launch *one, char *report)
{
    int number, at = 0;
    if (sscanf(report, "started %d", &number) == 1) {
        one->end = LAUNCH_KILLED;
        strcpy(one->text, "its room on the peer was ended");
        one->watcher.started(one->watcher.ctx, number);
    } else if (sscanf(report, "ended %d %n", &number, &at) == 1) {
        one->end = LAUNCH_ENDED;
        one->status = number;
        strcpy(one->text, report + at);
    } else if (strncmp(report, "failed ", 7) == 0) {
        strcpy(one->text, report + 7);
    }
}

static void hear(evutil_socket_t fd, short what, void *ctx)
{
    struct launch *one = ctx;
    char report[ROOM_REPORT + 1];
    (void)what;
    ssize_t n = recv(fd, report, sizeof report - 1, MSG_DONTWAIT);
    if (n > 0) {
        report[n] = '\0';
        understand(one, report);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        over(one);
    }
}

static void overdue(evutil_socket_t fd, short what, void *ctx)
{
    struct launch *one = ctx;
    (void)fd, (void)what;
    kill(one->room, SIGKILL); /* hear() then clears up */
}

/* Beside p2pd's own file when it is run from where it was built. */
static void room_program(char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 16);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash != NULL) {
        strcpy(slash, "/p2pd-room");
        if (access(path, X_OK) == 0)
            return;
    }
    strcpy(path, PKGLIBEXECDIR "/p2pd-room");
}

static int spawn(struct launch *one, int its_end, const char *command, char **environment,
                 struct err *e)
{
    char program[PATH_MAX];
    room_program(program);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    int rc = posix_spawn_file_actions_adddup2(&files, its_end, ROOM_CONTROL);
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(&files, ROOM_CONTROL + 1);
    char *const argv[] = {"p2pd-room", one->folder, (char *)command, NULL};
    if (rc == 0)
        rc = posix_spawn(&one->room, program, &files, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&files);
    return rc == 0 ? 0 : err_set(e, rc, "cannot start %s: %s", program, strerror(rc));
}

static int prepare(struct launch *one, const struct id *lease, int ends[2], struct err *e)
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
    one->heard = event_new(node->base, ends[0], EV_READ | EV_PERSIST, hear, one);
    one->overdue = evtimer_new(node->base, overdue, one);
    if (one->heard == NULL || one->overdue == NULL || event_add(one->heard, NULL) != 0)
        return err_set(e, ENOMEM, "out of memory");
    return 0;
}

int launch_start(struct launch **out, struct launcher *l, const struct id *lease,
                 const char *command, const uint8_t *environment, size_t length,
                 const struct launch_watcher *watcher, struct err *e)
{
    int ends[2] = {-1, -1};
    *out = NULL;
    if (l->count == LAUNCHES_MAX)
        return err_set(e, EAGAIN, "too many commands run here already");
    char **whole = environment_make(environ, environment, length);
    if (whole == NULL)
        return err_set(e, errno, "the environment of the command cannot be used: %s",
                       strerror(errno));
    struct launch *one = calloc(1, sizeof *one);
    if (one == NULL) {
        environment_free(whole);
        return err_set(e, ENOMEM, "out of memory");
    }
    one->launcher = l;
    one->control = -1;
    one->watcher = *watcher;
    strcpy(one->text, "its room did not start");
    l->all[l->count++] = one;
    int rc = prepare(one, lease, ends, e);
    if (rc == 0)
        rc = spawn(one, ends[1], command, whole, e);
    environment_free(whole);
    if (ends[1] >= 0)
        close(ends[1]);
    if (rc != 0)
        forget(one);
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

/* The event loop no longer runs when the daemon ends: wait here, all rooms at once. */
void launcher_close(struct launcher *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; i < l->count; i++)
        launch_stop(l->all[i]);
    uint64_t until = node_now_ms() + STOP_MS;
    while (l->count > 0) {
        struct launch *one = l->all[0];
        uint64_t now = node_now_ms();
        struct pollfd p = {.fd = one->control, .events = POLLIN};
        if (poll(&p, 1, now < until ? (int)(until - now) : 0) == 0)
            kill(one->room, SIGKILL);
        hear(one->control, EV_READ, one);
    }
    free(l);
}
