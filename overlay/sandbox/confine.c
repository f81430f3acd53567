/* SPDX-License-Identifier: BSD-3-Clause */
/* confine.c -- puts a plan into force, with the parts that may fail first. */
#include "confine.h"
#include "namespaces.h"
#include "landlock.h"
#include "broker.h"
#include "overlay/base/ports.h"
#include "syscalls.h"
#include <dirent.h>
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Seccomp cannot be probed without being used; every kernel with Landlock has it, and libseccomp
 * says whether it knows this architecture. */
static bool has_seccomp(void)
{
    return prctl(PR_GET_SECCOMP) == 0 && seccomp_api_get() > 0;
}

/* The kernel never limits how many processes root has: one guest could take all there are. */
static bool counts_processes(void)
{
    return geteuid() != 0;
}

unsigned confine_probe(void)
{
    unsigned can = counts_processes() ? CONFINE_LIMITS : 0;
    int abi = landlock_abi();
    if (has_seccomp())
        can |= CONFINE_SYSCALLS | CONFINE_SOCKETS;
    if (abi >= LANDLOCK_ABI_FILES)
        can |= CONFINE_FILES;
    if (abi >= LANDLOCK_ABI_TCP)
        can |= CONFINE_TCP;
    if (abi >= LANDLOCK_ABI_SCOPE || namespaces_probe())
        can |= CONFINE_SIGNALS;
    if (has_seccomp() && broker_probe())
        can |= CONFINE_PEERS;
    return can;
}

int confine_plan_path(struct confine_plan *plan, const char *path, enum confine_use use)
{
    if (plan->path_count == CONFINE_PATHS)
        return -ENOSPC;
    plan->paths[plan->path_count++] = (struct confine_path){path, use};
    return 0;
}

int confine_plan_ports(struct confine_plan *plan, const struct confine_ports *ports)
{
    if (plan->port_count == CONFINE_PORTS)
        return -ENOSPC;
    plan->tcp = true;
    plan->ports[plan->port_count++] = *ports;
    return 0;
}

/* The host's own range counts too: its administrator may have set another one. */
struct confine_ports confine_rank_ports(void)
{
    unsigned first, last;
    struct confine_ports ports = {PORTS_RANK_FIRST, PORTS_RANK_LAST, true, true};
    FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    if (f != NULL && fscanf(f, "%u %u", &first, &last) == 2 && last <= UINT16_MAX) {
        if (first < ports.first && first > PORTS_CONTROL_LAST)
            ports.first = (uint16_t)first;
        if (last > ports.last)
            ports.last = (uint16_t)last;
    }
    if (f != NULL)
        fclose(f);
    return ports;
}

void confine_plan_guest(struct confine_plan *plan, const char *room)
{
    static const char *const runnable[] = {"/usr", "/lib",  "/lib32", "/lib64",
                                           "/bin", "/sbin", "/opt"};
    static const char *const readable[] = {
        /* the loader and libc */
        "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
        "/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/host.conf",
        "/etc/hostname", "/etc/resolv.conf", "/etc/gai.conf", "/etc/localtime", "/etc/services",
        "/etc/protocols",
        /* Open MPI and hwloc */
        "/etc/openmpi", "/sys/devices/system", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
        "/dev/random", "/dev/urandom"};
    static const char *const writable[] = {"/dev/null", "/dev/zero", "/dev/full"};

    memset(plan, 0, sizeof *plan);
    plan->broker = -1;
    for (size_t i = 0; i < sizeof runnable / sizeof *runnable; i++)
        confine_plan_path(plan, runnable[i], CONFINE_RUN);
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++)
        confine_plan_path(plan, readable[i], CONFINE_READ);
    for (size_t i = 0; i < sizeof writable / sizeof *writable; i++)
        confine_plan_path(plan, writable[i], CONFINE_WRITE);
    confine_plan_path(plan, room, CONFINE_WRITE);
}

static int confine_limit(int resource, uint64_t most, const char *what, struct err *e)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return err_set(e, errno, "cannot read the limit of %s: %s", what, strerror(errno));
    if (now.rlim_max == RLIM_INFINITY || now.rlim_max > most)
        now.rlim_max = most;
    now.rlim_cur = now.rlim_max;
    if (setrlimit(resource, &now) != 0)
        return err_set(e, errno, "cannot limit %s: %s", what, strerror(errno));
    return 0;
}

/* RLIMIT_NPROC counts all processes of the user, the owner's own desktop among them. */
static unsigned processes_of_user(void)
{
    unsigned count = 0;
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    struct stat st;
    char path[300];
    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%s/task", entry->d_name);
        if (stat(path, &st) == 0 && st.st_uid == getuid())
            count += (unsigned)st.st_nlink - 2; /* its threads count each */
    }
    if (proc != NULL)
        closedir(proc);
    return count;
}

static int confine_set_limits(const struct confine_plan *plan, struct err *e)
{
    int rc = confine_limit(RLIMIT_CORE, 0, "core files", e);
    if (rc == 0 && plan->memory > 0)
        rc = confine_limit(RLIMIT_DATA, plan->memory, "memory", e);
    if (rc == 0 && plan->file_size > 0)
        rc = confine_limit(RLIMIT_FSIZE, plan->file_size, "file size", e);
    if (rc == 0 && plan->open_files > 0)
        rc = confine_limit(RLIMIT_NOFILE, plan->open_files, "open files", e);
    if (rc == 0 && plan->processes > 0)
        rc = confine_limit(RLIMIT_NPROC, processes_of_user() + plan->processes, "processes", e);
    /* A p2pd that is nicer already cannot make its guests less nice. */
    if (rc == 0 && plan->nice > getpriority(PRIO_PROCESS, 0) &&
        setpriority(PRIO_PROCESS, 0, plan->nice) != 0)
        rc = err_set(e, errno, "cannot lower the priority: %s", strerror(errno));
    return rc;
}

static int confine_allow_paths(int rules, int abi, const struct confine_plan *plan, struct err *e)
{
    static const enum landlock_use uses[] = {[CONFINE_READ] = LANDLOCK_READ,
                                             [CONFINE_RUN] = LANDLOCK_RUN,
                                             [CONFINE_WRITE] = LANDLOCK_WRITE};
    for (size_t i = 0; i < plan->path_count; i++) {
        const struct confine_path *p = &plan->paths[i];
        int rc = landlock_allow_path(rules, abi, p->path, uses[p->use]);
        if (rc != 0 && rc != -ENOENT && rc != -EACCES)
            return err_set(e, -rc, "cannot confine to %s: %s", p->path, strerror(-rc));
    }
    for (size_t i = 0; i < plan->program_count; i++) {
        int rc = landlock_allow_file(rules, abi, plan->programs[i], LANDLOCK_RUN);
        if (rc != 0)
            return err_set(e, -rc, "cannot confine to a program: %s", strerror(-rc));
    }
    for (size_t i = 0; i < plan->travelled_count; i++) {
        int rc = landlock_allow_file(rules, abi, plan->travelled[i].file, LANDLOCK_RUN);
        if (rc != 0)
            return err_set(e, -rc, "cannot confine to %s: %s", plan->travelled[i].path,
                           strerror(-rc));
    }
    return 0;
}

static int confine_allow_ports(int rules, const struct confine_plan *plan, struct err *e)
{
    for (size_t i = 0; i < plan->port_count; i++) {
        const struct confine_ports *p = &plan->ports[i];
        for (unsigned port = p->first; port <= p->last; port++) {
            int rc = landlock_allow_port(rules, (uint16_t)port, p->bind, p->connect);
            if (rc != 0)
                return err_set(e, -rc, "cannot confine to port %u: %s", port, strerror(-rc));
        }
    }
    return 0;
}

static int confine_abi(const struct confine_plan *plan)
{
    int abi = landlock_abi();
    return plan->landlock > 0 && plan->landlock < abi ? plan->landlock : abi;
}

static int confine_set_landlock(const struct confine_plan *plan, unsigned *done, struct err *e)
{
    int abi = confine_abi(plan);
    if (abi < LANDLOCK_ABI_FILES)
        return 0;
    int rules = landlock_open(abi, plan->tcp);
    if (rules < 0)
        return err_set(e, -rules, "cannot make Landlock rules: %s", strerror(-rules));
    int rc = confine_allow_paths(rules, abi, plan, e);
    if (rc == 0 && plan->tcp && abi >= LANDLOCK_ABI_TCP)
        rc = confine_allow_ports(rules, plan, e);
    if (rc == 0 && (rc = landlock_enforce(rules)) != 0)
        err_set(e, -rc, "cannot enforce Landlock rules: %s", strerror(-rc));
    close(rules);
    if (rc != 0)
        return rc;
    *done |= CONFINE_FILES;
    if (plan->tcp && abi >= LANDLOCK_ABI_TCP)
        *done |= CONFINE_TCP;
    if (abi >= LANDLOCK_ABI_SCOPE)
        *done |= CONFINE_SIGNALS;
    return 0;
}

int confine_self(const struct confine_plan *plan, unsigned required, unsigned *done, struct err *e)
{
    char text[80];
    *done = 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return err_set(e, errno, "cannot give up new privileges: %s", strerror(errno));
    int rc = confine_set_limits(plan, e);
    if (rc != 0)
        return rc;
    if (counts_processes())
        *done |= CONFINE_LIMITS;
    if (plan->grouped)
        *done |= CONFINE_CGROUP;
    if (plan->namespaced)
        *done |= CONFINE_SIGNALS;
    rc = confine_set_landlock(plan, done, e);
    if (rc == 0 && has_seccomp()) {
        const struct syscalls_sandbox sandbox = {plan->counted, plan->namespaced, plan->viewed,
                                                 plan->lanes,
                                                 *done & CONFINE_FILES ? confine_abi(plan) : 0};
        rc = syscalls_deny(&sandbox, e);
        *done |= rc == 0 ? CONFINE_SYSCALLS | CONFINE_SOCKETS : 0;
    }
    if (rc == 0 && plan->broker >= 0 && broker_install(plan->broker) == 0)
        *done |= CONFINE_PEERS;
    if (rc == 0 && (required & ~*done) != 0)
        rc = err_set(e, ENOTSUP, "this machine cannot confine: %s",
                     confinement_text(required & ~*done, text, sizeof text));
    return rc;
}
