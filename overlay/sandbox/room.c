/* SPDX-License-Identifier: BSD-3-Clause */
/* room.c -- p2pd-room: the place of one lease's command. Whatever the command starts is a
 * descendant of this process and dies when the room is told to end, when the command ends, or when
 * p2pd dies in any way. */
#include "room.h"
#include "autogroup.h"
#include "overlay/host/proctree.h"
#include "cgroup.h"
#include "room_exec.h"
#include "environment.h"
#include "room_dirs.h"
#include "forkserver.h"
#include "overlay/host/listening.h"
#include "broker.h"
#include "overlay/manifest/program.h"
#include "tail.h"
#include "travelled.h"
#include "usage.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LOG_BYTES = 1024 * 1024,
    WATCH_MS = 500,   /* between two looks at a guest's usage */
    LEAST_NICE = 4,   /* of a session of rooms: p2pd, outside of it, comes first */
    WATCH_SHARE = 20, /* or less often: looking takes at most one part in so many of the time */
};

struct room {
    struct room_dirs dirs;
    char group[PATH_MAX / 2]; /* its control group; "": none is delegated */
    int signals;              /* signalfd */
    int output;               /* of the command */
    int log;                  /* output in its folder, the first LOG_BYTES */
    size_t logged;
    struct message_whole order;
    char **environment;
    int programs[PROGRAMS_MAX]; /* descriptors, for each of the order's */
    struct lanes_plan lanes;    /* .count 0: there are no views */
    struct outside outside;     /* what they show beside it */
    char tree[PATH_MAX];        /* of them: what travelled of the job's folder; "": nothing */
    struct room_child command;
    struct broker *broker;                  /* NULL: the kernel does not ask */
    pid_t siblings[1 + ROOM_SIBLINGS_MOST]; /* itself, and rooms of the same submitter */
    size_t sibling_count;
    struct listening_found found;
    bool ended; /* the command */
    int status;
    bool end_asked; /* the room is to end */
    bool overstepped, suspended;
    bool forget; /* what its lanes have changed was fetched, or is not wanted */
    int watch_ms;
    uint64_t began_ms;
    struct tail tail;
};

__attribute__((format(printf, 1, 2))) static void room_report(const char *format, ...)
{
    char text[ROOM_REPORT];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= (int)sizeof text)
        n = sizeof text - 1;
    send(ROOM_CONTROL, text, (size_t)n, MSG_NOSIGNAL); /* fails when p2pd is gone */
}

/* Own process group, all orphans below, and no way to be left behind by p2pd. */
static int room_isolate(struct room *r)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGHUP);
    sigprocmask(SIG_SETMASK, &wanted, NULL);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_NAME, "p2pd-room"); /* the forkserver has executed /proc/self/exe */
    fcntl(ROOM_CONTROL, F_SETFD, FD_CLOEXEC);
    fcntl(ROOM_ORDER, F_SETFD, FD_CLOEXEC);
    fcntl(ROOM_HARDWARE, F_SETFD, FD_CLOEXEC);
    r->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    setpgid(0, 0);
    if (r->signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 ||
        prctl(PR_SET_PDEATHSIG, SIGTERM) != 0)
        return -errno;
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    return 0;
}

/* The order stays mapped, as the message points into it. */
static int room_read_order(struct room *r)
{
    static char *const nothing[] = {NULL};
    struct stat st;
    if (fstat(ROOM_ORDER, &st) != 0 || st.st_size <= 0 || st.st_size > WIRE_MAX_FRAME)
        return -EPROTO;
    const uint8_t *frame = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, ROOM_ORDER, 0);
    if (frame == MAP_FAILED)
        return -errno;
    if (!message_decode_whole(&r->order, frame, (size_t)st.st_size, WIRE_HIGHEST) ||
        r->order.message.kind != MSG_room_order)
        return -EPROTO;
    const struct msg_room_order *o = &r->order.large.room_order;
    r->environment = environment_make(nothing, o->environment, o->environment_length);
    return r->environment != NULL ? 0 : -errno;
}

/* Where the job's folder holds p2pgrid's components, as the home does, a view of what has travelled
 * hides them from ranks, which load them all the same. */
static int room_show_components(struct room *r)
{
    struct components *c = &r->dirs.components;
    char path[PATH_MAX];
    components_find(c);
    if (c->folder[0] == '\0' || !lanes_cover(&r->lanes, c->folder))
        return 0;
    snprintf(path, sizeof path, "%s/components", r->dirs.folder);
    int rc = mkdir(path, 0700) == 0 ? components_copy(c, path) : -errno;
    return rc == 0 ? lanes_make_link(&r->lanes, c->folder, path) : rc;
}

/* A folder for the view of the job's, if it is not there. */
static int room_make_target(struct room *r, const char *path)
{
    struct stat st;
    const int rc = placeholders_make(&r->dirs.made, path, true);
    return rc == 0 && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) ? -ENOTDIR : rc;
}

/* The owner's own job sees this machine's root, and there what came with an absolute name. */
static int room_plan_outside(struct room *r, struct err *e)
{
    const struct msg_room_order *o = &r->order.large.room_order;
    if (o->guest || o->tree[0] == '\0')
        return 0;
    int rc = outside_find(&r->outside, o->tree, outside_look_host, NULL, e);
    for (size_t i = 0; i < r->outside.count && rc == 0; i++) {
        const struct outside_piece *piece = &r->outside.at[i];
        rc = lanes_cover(&r->lanes, piece->path)
                 ? lanes_make_place(&r->lanes, piece->path, piece->is_folder)
                 : placeholders_make(&r->dirs.made, piece->path, piece->is_folder);
        if (rc != 0)
            err_set(e, -rc, "%s, which came with the job, cannot be shown there: %s", piece->path,
                    strerror(-rc));
    }
    r->lanes.outside = &r->outside;
    return rc;
}

/* A guest finds what has travelled. The owner's own job finds the folder as it is here when nothing
 * has, and the host's /tmp; one with other owners' peers has the folder that was opened to it. */
static int room_plan_lanes(struct room *r, struct err *e)
{
    const struct msg_room_order *o = &r->order.large.room_order;
    if (o->job_folder[0] == '\0')
        return 0;
    const bool open = !o->guest || strcmp(o->folder, o->job_folder) == 0;
    if (o->tree[0] != '\0')
        snprintf(r->tree, sizeof r->tree, "%s/files", o->tree);
    r->lanes = (struct lanes_plan){.room = r->dirs.folder,
                                   .folder = o->job_folder,
                                   .tree = r->tree[0] != '\0' || !open ? r->tree : o->job_folder,
                                   .tmp = o->guest ? "" : "/tmp",
                                   .count = o->lanes > 0 ? o->lanes : 1,
                                   .guest = o->guest};
    int rc = o->guest ? 0 : room_make_target(r, o->job_folder);
    if (rc != 0)
        return err_set(e, -rc, "the job's folder %s cannot be made: %s", o->job_folder,
                       strerror(-rc));
    rc = lanes_make(&r->lanes, e);
    if (rc == 0 && !o->guest && (rc = room_show_components(r)) != 0)
        err_set(e, -rc, "p2pgrid's components cannot be shown to the job: %s", strerror(-rc));
    return rc == 0 ? room_plan_outside(r, e) : rc;
}

/* The owner's own job sees this machine's root, in which what has come has no place. */
static int room_add_libraries(struct room *r, struct err *e)
{
    const struct msg_room_order *o = &r->order.large.room_order;
    return o->guest || r->lanes.count == 0 ? 0 : room_exec_libraries(r->environment, o->tree, e);
}

/* Where it lies here, before there is any view. */
static const char *room_program_path(const struct room *r, const char *path, char *out, size_t size)
{
    const char *const folder = r->lanes.folder, *const tree = r->order.large.room_order.tree;
    if (tree[0] != '\0' && outside_source(tree, path, out, size))
        return out;
    if (r->tree[0] == '\0' || strncmp(path, folder, strlen(folder)) != 0 ||
        path[strlen(folder)] != '/')
        return path;
    snprintf(out, size, "%s%s", r->tree, path + strlen(folder));
    return out;
}

static int room_check_programs(struct room *r, struct err *e)
{
    const struct msg_room_order *o = &r->order.large.room_order;
    char path[PATH_MAX];
    for (size_t i = 0; i < o->programs_count; i++) {
        const char *at = room_program_path(r, o->programs[i].path, path, sizeof path);
        r->programs[i] = program_open(&o->programs[i], at, e);
        if (r->programs[i] < 0)
            return r->programs[i];
    }
    return 0;
}

/* A descriptor; -1: the job has no control group. */
static int room_make_group(struct room *r, struct err *e)
{
    const struct msg_room_order *o = &r->order.large.room_order;
    const struct cgroup_limits limits = {o->memory, o->processes, o->nice};
    if (o->groups[0] == '\0')
        return -1;
    snprintf(r->group, sizeof r->group, "%s/%s", o->groups, strrchr(r->dirs.folder, '/') + 1);
    int group = cgroup_make(r->group, &limits);
    return group >= 0 ? group
                      : err_set(e, -group, "no control group %s: %s", r->group, strerror(-group));
}

static int room_make_dirs(struct room *r)
{
    int rc = room_dirs_make(&r->dirs);
    if (rc < 0)
        return rc;
    r->log = open("output", O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    return r->log < 0 ? -errno
                      : room_dirs_fill(&r->dirs, r->order.large.room_order.guest, r->environment);
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool room_listens_at(void *ctx, uint16_t port)
{
    struct room *r = ctx;
    return listening_below(port, r->siblings, r->sibling_count, &r->found);
}

static void room_ask_call(void *ctx, const uint8_t ip[16], uint16_t port)
{
    char hex[2 * 16 + 1];
    (void)ctx;
    for (size_t i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", ip[i]);
    room_report("calls %s %u", hex, port);
}

static int room_start(struct room *r, struct err *e)
{
    int ends[2], post[2];
    r->siblings[0] = getpid();
    r->sibling_count = 1;
    const struct msg_room_order *o = &r->order.large.room_order;
    char *command = strndup((const char *)o->command, o->command_length);
    if (command == NULL || pipe2(ends, O_CLOEXEC) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, post) != 0)
        return err_set(e, errno, "%s", strerror(errno));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    r->output = ends[0];
    int group = room_make_group(r, e);
    const struct room_command what = {.order = o,
                                      .command = command,
                                      .environment = r->environment,
                                      .folder = r->dirs.folder,
                                      .memory = r->dirs.memory,
                                      .components = &r->dirs.components,
                                      .lanes = r->lanes.count > 0 ? &r->lanes : NULL,
                                      .programs = r->programs,
                                      .control = r->dirs.control,
                                      .output = ends[1],
                                      .group = group,
                                      .broker = post[1]};
    int rc = e->code == 0 ? room_exec(&r->command, &what, e) : -e->code;
    if (group >= 0)
        close(group);
    close(ends[1]);
    close(post[1]);
    int answers = rc == 0 ? broker_receive(post[0]) : -1;
    close(post[0]);
    if (answers >= 0)
        r->broker =
            broker_open(answers, o->home, &(struct broker_host){room_listens_at, room_ask_call, r});
    if (r->broker != NULL)
        broker_tick(r->broker, now_ms());
    free(command);
    return rc;
}

static void room_reap(struct room *r)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == r->command.pid) {
            r->ended = true;
            r->status = room_exec_status(&r->command, status);
        }
}

static void room_read_signals(struct room *r)
{
    struct signalfd_siginfo s;
    while (read(r->signals, &s, sizeof s) == sizeof s)
        if (s.ssi_signo != SIGCHLD)
            r->end_asked = true;
    room_reap(r);
}

static void room_read_output(struct room *r)
{
    char bytes[4096];
    for (ssize_t n; (n = read(r->output, bytes, sizeof bytes)) != 0;) {
        if (n < 0)
            return; /* nothing more for now */
        tail_add(&r->tail, bytes, (size_t)n);
        if (r->logged + (size_t)n <= LOG_BYTES && write(r->log, bytes, (size_t)n) == n)
            r->logged += (size_t)n;
    }
    close(r->output); /* every process has closed it */
    r->output = -1;
}

static bool order_is_bounded(const struct msg_room_order *o)
{
    return o->guest || o->memory > 0 || o->processes > 0 || o->seconds > 0;
}

/* Spares orted, the child of the room's own child: it goes on telling that it lives. */
static void room_signal_one(void *ctx, const struct proctree_process *p)
{
    const struct room *r = ctx;
    bool itself = p->pid == r->command.pid || p->parent == r->command.pid;
    if (!itself)
        kill(p->pid, r->suspended ? SIGSTOP : SIGCONT);
}

/* A guest may begin sessions of its own. One that the kernel does not lower now is lowered later.
 */
static void room_lower_one(void *ctx, const struct proctree_process *p)
{
    const struct room *r = ctx;
    autogroup_lower(p->pid, r->order.large.room_order.nice);
}

static void room_watch_usage(struct room *r)
{
    const struct msg_room_order *o = &r->order.large.room_order;
    const struct usage most = {.memory = o->memory, .disk = o->disk, .processes = o->processes};
    struct usage usage;
    char why[160];
    uint64_t begin = now_ms();
    if (r->overstepped) {
        r->end_asked = true; /* p2pd was told, and has not answered */
        return;
    }
    if (o->nice > 0)
        proctree_each(getpid(), room_lower_one, r);
    usage_take(&usage, r->dirs.folder, r->dirs.memory);
    uint64_t took = now_ms() - begin;
    r->watch_ms = took * WATCH_SHARE > WATCH_MS ? (int)took * WATCH_SHARE : WATCH_MS;
    if (o->seconds > 0 && begin - r->began_ms > o->seconds * 1000ull)
        snprintf(why, sizeof why, "it ran for more than the %u s of its manifest", o->seconds);
    else if (!usage_exceeds(&usage, &most, why, sizeof why))
        return;
    room_report("overstepped %s", why);
    r->overstepped = r->suspended = true;
    proctree_each(getpid(), room_signal_one, r);
}

static void room_take_siblings(struct room *r, const char *pids, size_t length)
{
    const size_t count = length / sizeof(pid_t);
    r->sibling_count = 1 + (count < ROOM_SIBLINGS_MOST ? count : ROOM_SIBLINGS_MOST);
    memcpy(r->siblings + 1, pids, (r->sibling_count - 1) * sizeof(pid_t));
}

static void room_take_call(struct room *r, const char *bytes, size_t length)
{
    struct room_call call;
    if (r->broker == NULL || length != sizeof call)
        return;
    memcpy(&call, bytes, sizeof call);
    broker_decide(r->broker, call.ip, call.port, call.yes != 0);
}

static void room_read_control(struct room *r)
{
    static char word[1 + ROOM_PEERS_MOST * ROOM_PEER];
    ssize_t n = recv(ROOM_CONTROL, word, sizeof word, MSG_DONTWAIT);
    if (n >= 1 && word[0] == ROOM_PEERS[0]) {
        if (r->broker != NULL)
            broker_allow(r->broker, (const uint8_t *)word + 1, (size_t)n - 1);
        return;
    }
    if (n >= 1 && word[0] == ROOM_CALL[0]) {
        room_take_call(r, word + 1, (size_t)n - 1);
        return;
    }
    if (n >= 1 && word[0] == ROOM_SIBLINGS[0]) {
        room_take_siblings(r, word + 1, (size_t)n - 1);
        return;
    }
    if (n == 1 && word[0] == ROOM_FORGET[0]) {
        r->forget = true;
        return;
    }
    bool suspend = n == 1 && word[0] == ROOM_SUSPEND[0];
    if (!suspend && !(n == 1 && word[0] == ROOM_RESUME[0])) {
        r->end_asked = true;
        return;
    }
    r->suspended = suspend;
    proctree_each(getpid(), room_signal_one, r);
}

/* False: the kernel did not accept it now; to be tried again. */
static bool room_lower_session(const struct room *r)
{
    const int nice = r->order.large.room_order.nice;
    return autogroup_lower(r->command.pid, nice > LEAST_NICE ? nice : LEAST_NICE) == 0;
}

/* Until the command ends or the room is told to. */
static void room_run(struct room *r)
{
    struct pollfd on[] = {{.fd = ROOM_CONTROL, .events = POLLIN},
                          {.fd = r->signals, .events = POLLIN},
                          {.fd = r->output, .events = POLLIN},
                          {.fd = r->broker != NULL ? broker_fd(r->broker) : -1, .events = POLLIN}};
    bool bounded = order_is_bounded(&r->order.large.room_order);
    uint64_t next = now_ms() + WATCH_MS;
    r->began_ms = now_ms();
    bool lowered = room_lower_session(r);
    while (!r->ended && !r->end_asked) {
        on[2].fd = r->output; /* -1 is passed over */
        int left = (int)(next - now_ms());
        if (poll(on, 4, !bounded && !r->suspended && lowered ? -1 : left > 0 ? left : 0) < 0)
            continue;
        if (on[0].revents != 0)
            room_read_control(r);
        if (on[1].revents != 0)
            room_read_signals(r);
        if (on[2].revents != 0)
            room_read_output(r);
        if ((on[3].revents & POLLIN) != 0)
            broker_serve(r->broker);
        else if (on[3].revents != 0)
            on[3].fd = -1; /* no process lives that could connect */
        if (now_ms() < next)
            continue;
        lowered = lowered || room_lower_session(r);
        if (r->suspended) /* also what was started since */
            proctree_each(getpid(), room_signal_one, r);
        if (bounded)
            room_watch_usage(r);
        if (r->broker != NULL)
            broker_tick(r->broker, now_ms());
        next = now_ms() + (uint64_t)r->watch_ms;
    }
}

/* Its supervisor ends it, also when this process is killed meanwhile. */
static void room_end_command(const struct room_child *command)
{
    enum { PAUSE_MS = 2 };
    kill(command->pid, command->namespaced ? SIGKILL : SIGTERM);
    for (int ms = 0; ms < ROOM_PATIENCE_MS && waitpid(command->pid, NULL, WNOHANG) == 0;
         ms += PAUSE_MS)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
}

static int room_close(struct room *r)
{
    char words[TAIL_BYTES];
    const bool starved = r->group[0] != '\0' && cgroup_starved(r->group);
    int rc = r->group[0] != '\0' ? cgroup_end(r->group, ROOM_PATIENCE_MS) : 0;
    if (!r->ended && r->command.outcome >= 0)
        room_end_command(&r->command);
    if (proctree_end(NULL, 0, ROOM_PATIENCE_MS) != 0)
        rc = -ETIMEDOUT;
    if (rc != 0)
        fprintf(stderr, "p2pd-room: some process of %s could not be ended\n", r->dirs.folder);
    if (r->output >= 0)
        room_read_output(r);
    if (starved && !r->overstepped) {
        room_report("overstepped it took more memory than is lent to it");
    } else if (r->ended && !r->overstepped) {
        tail_text(&r->tail, words, sizeof words);
        room_report("ended %d %s", r->status, words);
    }
    if (r->ended && !r->overstepped && !r->forget)
        room_dirs_keep(&r->dirs);
    int left = room_dirs_remove(&r->dirs);
    if (left != 0) {
        fprintf(stderr, "p2pd-room: %s could not be removed: %s\n", r->dirs.folder,
                strerror(-left));
        rc = left;
    }
    return rc;
}

int main(int argc, char **argv)
{
    static struct room r = {.output = -1, .command.outcome = -1, .watch_ms = WATCH_MS};
    if (argc == 2 && strcmp(argv[1], "forkserver") == 0 && fcntl(ROOM_CONTROL, F_GETFD) >= 0) {
        forkserver_serve();
        return 0;
    }
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        puts("p2pd-room is started by p2pd; it is of no use by hand (man p2pd-room)");
        return 0;
    }
    if (argc != 2 || argv[1][0] != '/' || strlen(argv[1]) >= sizeof r.dirs.folder - 64 ||
        fcntl(ROOM_CONTROL, F_GETFD) < 0 || fcntl(ROOM_ORDER, F_GETFD) < 0 ||
        fcntl(ROOM_HARDWARE, F_GETFD) < 0) {
        fprintf(stderr, "p2pd-room is started by p2pd; it is of no use by hand\n");
        return 2;
    }
    strcpy(r.dirs.folder, argv[1]);
    struct err e = {0};
    int rc = room_isolate(&r);
    if (rc == 0)
        rc = room_read_order(&r);
    if (rc == 0)
        rc = room_make_dirs(&r);
    if (rc != 0)
        err_set(&e, -rc, "%s in %s", strerror(-rc), argv[1]);
    if (rc == 0)
        rc = room_plan_lanes(&r, &e);
    if (rc == 0)
        rc = room_add_libraries(&r, &e);
    if (rc == 0)
        rc = room_check_programs(&r, &e);
    if (rc == 0)
        rc = room_start(&r, &e);
    if (rc == 0) {
        room_report("started %d", r.command.pid);
        room_run(&r);
    } else {
        room_report("failed %s", e.text);
    }
    return room_close(&r) == 0 ? 0 : 1;
}
