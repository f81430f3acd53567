/* SPDX-License-Identifier: BSD-3-Clause */
/* room_exec.c -- forks a supervisor for the command, puts the sandbox into force and executes it.
 */
#include "room_exec.h"
#include "namespaces.h"
#include "overlay/host/proctree.h"
#include "cgroup.h"
#include "confine.h"
#include "environment.h"
#include "overlay/manifest/input.h"
#include "room.h"
#include "travelled.h"
#include "view.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void guest_plan_ports(struct confine_plan *plan, const struct room_command *c)
{
    const struct confine_ports any = {0, 0, .bind = true}, /* the kernel picks */
        ranks = confine_rank_ports(), own = {c->control, c->control, .bind = true},
                               home = {c->order->home, c->order->home, .connect = true};
    confine_plan_ports(plan, &any);
    confine_plan_ports(plan, &ranks);
    if (own.first != 0)
        confine_plan_ports(plan, &own);
    if (home.first != 0)
        confine_plan_ports(plan, &home);
}

struct guest {
    struct confine_plan plan;
    char component[COMPONENTS_MOST][PATH_MAX]; /* paths of the plan */
    char lane[2 * LANES_MOST][PATH_MAX];       /* likewise */
    struct travelled travelled;
};

static void guest_plan(struct guest *guest, const struct room_command *c, bool namespaced)
{
    const struct msg_room_order *order = c->order;
    const struct components *components = c->components;
    struct confine_plan *plan = &guest->plan;
    confine_plan_guest(plan, c->folder);
    confine_plan_path(plan, c->memory, CONFINE_WRITE);
    for (size_t i = 0; i < order->readable_count; i++)
        confine_plan_path(plan, order->readable[i].text, CONFINE_READ);
    if (order->folder[0] != '\0' && (c->lanes == NULL || !lanes_cover(c->lanes, order->folder)))
        confine_plan_path(plan, order->folder, CONFINE_WRITE);
    for (size_t i = 0; i < components->count; i++) {
        snprintf(guest->component[i], sizeof guest->component[i], "%s/%s", components->folder,
                 components->name[i]);
        confine_plan_path(plan, guest->component[i], CONFINE_READ);
    }
    for (size_t i = 0; i < order->programs_count; i++)
        plan->programs[plan->program_count++] = c->programs[i];
    guest_plan_ports(plan, c);
    plan->grouped = c->group >= 0;
    plan->counted = plan->grouped && faccessat(c->group, "memory.max", F_OK, 0) == 0;
    plan->namespaced = namespaced;
    plan->broker = c->broker;
    plan->memory = order->memory;
    plan->file_size = order->disk;
    plan->processes = order->processes;
    plan->open_files = order->open_files;
    plan->nice = order->nice;
}

/* Landlock goes by files and what holds them, so the folders of each lane are named. */
static void guest_plan_lanes(struct guest *guest, const struct lanes *lanes)
{
    for (unsigned lane = 0; lane < lanes->plan->count; lane++)
        for (unsigned i = 0; i < 2; i++) {
            char *path = guest->lane[2 * lane + i], root[sizeof VIEW_LANE + 12] = "";
            if (lane > 0)
                snprintf(root, sizeof root, VIEW_LANE "%u", lane);
            snprintf(path, PATH_MAX, "%s%s", root, i == 0 ? lanes->plan->folder : "/tmp");
            confine_plan_path(&guest->plan, path, CONFINE_WRITE);
        }
    guest->plan.lanes = lanes->plan->count > 1;
}

static int guest_plan_travelled(struct guest *guest, const struct room_command *c, struct err *e)
{
    struct travelled *t = &guest->travelled;
    if (c->lanes == NULL || c->order->tree[0] == '\0')
        return 0;
    const int rc = travelled_find(t, c->order->tree, &guest->plan, c->lanes->folder);
    if (rc != 0)
        return err_set(e, -rc, "the job's files are not there: %s", strerror(-rc));
    if (t->more)
        fprintf(stderr, "p2pd-room: of the programs in %s %d are executed, no more\n",
                c->lanes->folder, TRAVELLED_MOST);
    guest->plan.travelled = t->at;
    guest->plan.travelled_count = t->count;
    return 0;
}

/* A root of its own takes the capabilities of the namespaces, so it comes before these are given
 * up. Where there is none, seccomp denies more. */
static int guest_make_view(struct guest *guest, const struct room_command *c, struct lanes *lanes,
                           struct err *e)
{
    struct confine_plan *plan = &guest->plan;
    if (guest_plan_travelled(guest, c, e) != 0)
        return -e->code;
    const char *programs[CONFINE_FILES_MAX];
    for (size_t i = 0; i < c->order->programs_count; i++)
        programs[i] = c->order->programs[i].path;
    int rc = plan->namespaced
                 ? view_enter(plan, programs, c->lanes != NULL ? lanes : NULL, c->lanes, e)
                 : -EOPNOTSUPP;
    plan->viewed = rc == 0;
    if (rc == 0 && c->lanes != NULL)
        guest_plan_lanes(guest, lanes);
    return rc;
}

/* Inside the sandbox: a submitter learns nothing of files that the job could not read. */
static int guest_check_inputs(const struct msg_room_order *order, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < order->inputs_count && rc == 0; i++)
        rc = input_check(&order->inputs[i], order->guest, e);
    return rc;
}

static void command_clear_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
}

static int command_set_streams(int output)
{
    int null = open("/dev/null", O_RDONLY);
    return null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 ? -errno : 0;
}

/* When memory is short, the kernel kills guests first. */
static void command_offer_to_oom(void)
{
    int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (oom >= 0 && write(oom, "500", 3) != 3)
        close(oom);
}

static _Noreturn void command_fail(int trouble, const char *why)
{
    _exit(write(trouble, why, strlen(why)) < 0 ? 126 : 127);
}

/* Every user of the machine can read the arguments of every process, and an orted's lead to its
 * mpirun; only its own user can read its environment. */
static const char unhide[] =
    "p2pgrid_line=$P2PGRID_COMMAND; unset P2PGRID_COMMAND; eval \"$p2pgrid_line\"";

static char **command_hide(const struct room_command *c)
{
    size_t count = 0;
    char *line;
    while (c->environment[count] != NULL)
        count++;
    char **all = calloc(count + 2, sizeof *all);
    if (all == NULL || asprintf(&line, "P2PGRID_COMMAND=%s", c->command) < 0)
        return NULL;
    memcpy(all, c->environment, count * sizeof *all);
    all[count] = line;
    return all;
}

/* Executes the command; or writes why not to `trouble`, which executing closes. It ends with its
 * supervisor, at once if that has gone meanwhile. */
static _Noreturn void command_execute(const struct room_command *c, const struct confine_plan *plan,
                                      pid_t supervisor, int trouble)
{
    struct err e = {0};
    unsigned done;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != supervisor)
        _exit(127);
    command_clear_signals();
    setpgid(0, 0);
    command_offer_to_oom();
    int rc = command_set_streams(c->output);
    if (rc == 0)
        close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    else
        err_set(&e, -rc, "no standard streams: %s", strerror(-rc));
    if (rc == 0 && c->order->guest)
        rc = confine_self(plan, c->order->required, &done, &e);
    if (rc == 0)
        rc = guest_check_inputs(c->order, &e);
    char **environment = rc == 0 ? command_hide(c) : NULL;
    if (environment != NULL) {
        execle("/bin/sh", "sh", "-c", unhide, (char *)NULL, environment);
        err_set(&e, errno, "/bin/sh: %s", strerror(errno));
    }
    command_fail(trouble, e.text);
}

/* From here on this process ends with the room, at once if that is gone: getppid() is 0 for a
 * parent outside of the PID namespace, so the room's pidfd is polled. Comes first, as the rest
 * takes time. */
static void supervisor_end_with(int room, bool namespaced)
{
    struct pollfd gone = {.fd = room, .events = POLLIN};
    if (prctl(PR_SET_PDEATHSIG, namespaced ? SIGKILL : SIGTERM) != 0 || room < 0 ||
        poll(&gone, 1, 0) != 0)
        _exit(1);
}

/* What the processes of the command are in. */
enum supervised {
    SUPERVISED_PLAIN,  /* the host's namespaces */
    SUPERVISED_MOUNTS, /* mounts of its own */
    SUPERVISED_USERS,  /* and a user namespace, without which there are none */
    SUPERVISED_GUEST,  /* all of namespaces_fork() */
};

/* A lane's number finds its root; src/rtc_p2p reads this. */
static int lanes_tell(const struct room_command *c, const struct lanes *lanes)
{
    static char text[sizeof LANE_ROOTS_VARIABLE + 3 * PATH_MAX + 32] = LANE_ROOTS_VARIABLE "=";
    struct lane_roots roots = {
        .way = lanes->way, .count = c->lanes->count, .homes = c->lanes->guest};
    const size_t name = strlen(text);
    int n = c->order->guest ? snprintf(roots.prefix, sizeof roots.prefix, "%s", VIEW_LANE)
                            : snprintf(roots.prefix, sizeof roots.prefix, "%s/root-", c->folder);
    if (n >= (int)sizeof roots.prefix || strlen(c->lanes->folder) >= sizeof roots.folder)
        return -ENAMETOOLONG;
    strcpy(roots.room, c->folder);
    strcpy(roots.folder, c->lanes->folder);
    return lane_roots_text(&roots, text + name, (unsigned)(sizeof text - name))
               ? environment_set(c->environment, text)
               : -ENAMETOOLONG;
}

int room_exec_libraries(char **environment, const char *tree, struct err *e)
{
    static const char name[] = "LD_LIBRARY_PATH=";
    static char entry[3 * PATH_MAX], folders[PATH_MAX];
    int rc = tree[0] != '\0' ? travelled_libraries(tree, folders, sizeof folders) : 0;
    if (rc == 0 && folders[0] != '\0') {
        const char *old = "";
        for (char **v = environment; *v != NULL; v++)
            if (strncmp(*v, name, sizeof name - 1) == 0)
                old = *v + sizeof name - 1;
        const int n = snprintf(entry, sizeof entry, "%s%s%s%s", name, old,
                               old[0] != '\0' ? ":" : "", folders);
        rc = n < (int)sizeof entry ? environment_set(environment, entry) : -E2BIG;
    }
    return rc == 0 ? 0 : err_set(e, -rc, "the job's libraries: %s", strerror(-rc));
}

/* Where nothing can be mounted, libraries are found by a variable, and other files where they are.
 */
static int outside_check(const struct room_command *c, struct err *e)
{
    const struct msg_room_order *o = c->order;
    char source[PATH_MAX];
    for (size_t i = 0; o->tree[0] != '\0' && i < o->programs_count; i++)
        if (outside_source(o->tree, o->programs[i].path, source, sizeof source) &&
            (o->guest || access(o->programs[i].path, X_OK) != 0))
            return err_set(e, ENOTSUP,
                           "%s came with the job, but nothing can be mounted here, so it cannot be "
                           "shown at that path; %s",
                           o->programs[i].path,
                           o->guest ? "keep it in the job's folder" : "copy it there");
    return 0;
}

/* What a guest may execute are the files that came, which it cannot change. */
static int guest_find_programs(const struct room_command *c, struct err *e)
{
    static char text[sizeof LANE_PROGRAMS_VARIABLE + PATH_MAX + 8];
    const char *const tree = c->order->tree;
    if (!c->order->guest || tree[0] == '\0')
        return 0;
    snprintf(text, sizeof text, LANE_PROGRAMS_VARIABLE "=%s/files", tree);
    const int rc = environment_set(c->environment, text);
    return rc == 0 ? room_exec_libraries(c->environment, tree, e)
                   : err_set(e, -rc, "the job's programs: %s", strerror(-rc));
}

/* Where nothing can be mounted. */
static int lanes_enter_aside(const struct room_command *c, struct lanes *lanes, struct err *e)
{
    lanes->way = LANES_ASIDE;
    int rc = c->lanes != NULL ? lanes_copy_aside(c->lanes, e) : 0;
    if (rc == 0 && c->lanes != NULL)
        rc = outside_check(c, e);
    return rc == 0 && c->lanes != NULL ? guest_find_programs(c, e) : rc;
}

static int lanes_enter(const struct room_command *c, enum supervised in, struct guest *guest,
                       struct err *e)
{
    struct lanes lanes = {.way = LANES_ASIDE};
    int rc = 0;
    if (c->order->guest)
        rc = guest_make_view(guest, c, &lanes, e);
    else if (c->lanes != NULL)
        rc = in != SUPERVISED_PLAIN ? lanes_enter_host(&lanes, c->lanes, e) : -EOPNOTSUPP;
    if (rc == -EOPNOTSUPP)
        rc = lanes_enter_aside(c, &lanes, e);
    if (rc == 0 && c->lanes != NULL && (rc = lanes_tell(c, &lanes)) != 0)
        err_set(e, -rc, "no names for the views of lanes: %s", strerror(-rc));
    if (rc == 0 && lanes.overlay.code != 0)
        fprintf(stderr, "p2pd-room: no overlay of %s (%s): each lane has a copy\n",
                c->lanes->folder, lanes.overlay.text);
    return rc;
}

static int supervisor_limit(const struct room_command *c, enum supervised in)
{
    const bool lanes = c->lanes != NULL && c->lanes->count > 1;
    int rc = in == SUPERVISED_GUEST || in == SUPERVISED_USERS ? namespaces_drop_rights(lanes) : 0;
    return rc == 0 && in != SUPERVISED_GUEST ? proctree_supervise_begin() : rc;
}

/* The supervisor, between the room and its command. In new namespaces it is the first process
 * there; elsewhere it ends its descendants when the room dies, perhaps together with p2pd. It is
 * not confined itself, and no guest can touch it. */
static _Noreturn void supervisor_run(const struct room_command *c, enum supervised in, int room,
                                     const int say[2])
{
    int status = 127 << 8;
    const bool namespaced = in == SUPERVISED_GUEST;
    struct guest guest;
    struct err e = {0};
    command_clear_signals();
    supervisor_end_with(room, namespaced);
    prctl(PR_SET_NAME, "supervisor");
    if (c->group >= 0 && cgroup_enter(c->group) != 0)
        command_fail(say[0], "its control group cannot be entered");
    if (c->order->guest)
        guest_plan(&guest, c, namespaced);
    if (lanes_enter(c, in, &guest, &e) != 0)
        command_fail(say[0], e.text);
    if (supervisor_limit(c, in) != 0)
        _exit(1);
    const pid_t self = getpid();
    pid_t command = fork();
    if (command == 0)
        command_execute(c, &guest.plan, self, say[0]);
    if (say[1] != 3)
        dup2(say[1], 3);
    close_range(4, ~0u, 0);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    if (command > 0)
        status =
            namespaced ? namespaces_reap(command) : proctree_supervise(command, ROOM_PATIENCE_MS);
    _exit(write(3, &status, sizeof status) == sizeof status ? 0 : 1);
}

static pid_t supervisor_fork(const struct room_command *c, enum supervised *in)
{
    bool apart = false;
    pid_t pid = -1;
    *in = SUPERVISED_PLAIN;
    if (c->order->guest) {
        pid = namespaces_fork(&apart);
        *in = apart ? SUPERVISED_GUEST : SUPERVISED_PLAIN;
    } else if (c->lanes != NULL && (pid = namespaces_fork_mounts(&apart)) >= 0) {
        *in = apart ? SUPERVISED_USERS : SUPERVISED_MOUNTS;
    }
    return pid >= 0 || c->order->guest ? pid : fork();
}

/* say: pipes for why the command was not executed, and for its wait status in the end. */
static pid_t supervisor_start(const struct room_command *c, bool *namespaced, const int say[2])
{
    enum supervised in;
    int room = pidfd_open(getpid(), 0);
    pid_t pid = supervisor_fork(c, &in);
    if (pid == 0)
        supervisor_run(c, in, room, say);
    *namespaced = in == SUPERVISED_GUEST;
    close(room);
    return pid;
}

/* Waits until the command has been executed (nothing comes), or it is known what went wrong. */
static void supervisor_read_trouble(int fd, struct err *e)
{
    char text[sizeof e->text];
    size_t have = 0;
    for (ssize_t n; (n = read(fd, text + have, sizeof text - 1 - have)) != 0;)
        if (n > 0)
            have += (size_t)n;
        else if (errno != EINTR)
            break;
    text[have] = '\0';
    if (have > 0)
        err_set(e, EPERM, "%s", text);
}

int room_exec(struct room_child *out, const struct room_command *c, struct err *e)
{
    int trouble[2], outcome[2];
    struct err why = {0};
    *out = (struct room_child){.outcome = -1};
    if (pipe2(trouble, O_CLOEXEC) != 0 || pipe2(outcome, O_CLOEXEC) != 0)
        return err_set(e, errno, "no pipe: %s", strerror(errno));
    out->pid = supervisor_start(c, &out->namespaced, (const int[]){trouble[1], outcome[1]});
    int rc = out->pid > 0 ? 0 : err_set(e, errno, "cannot fork: %s", strerror(errno));
    close(trouble[1]);
    close(outcome[1]);
    if (rc == 0)
        supervisor_read_trouble(trouble[0], &why);
    close(trouble[0]);
    if (why.code != 0) {
        waitpid(out->pid, NULL, 0);
        rc = err_set(e, why.code, "%s", why.text);
    }
    if (rc == 0)
        out->outcome = outcome[0];
    else
        close(outcome[0]);
    return rc;
}

int room_exec_status(struct room_child *child, int status)
{
    int said;
    if (read(child->outcome, &said, sizeof said) == sizeof said)
        status = said;
    close(child->outcome);
    child->outcome = -1;
    return status;
}
