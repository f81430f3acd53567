/* SPDX-License-Identifier: BSD-3-Clause */
/* proctree.c -- all processes that descend from one, and how to end them. */
#include "proctree.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_MS = 2 };

bool proctree_parse(const char *stat, struct proctree_process *p)
{
    const char *name_end = strrchr(stat, ')'); /* the name may hold anything, also brackets */
    char state;
    int parent;
    memset(p, 0, sizeof *p);
    if (name_end == NULL || sscanf(stat, "%d (", &p->pid) != 1)
        return false;
    if (sscanf(name_end + 1,
               " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &state, &parent, &p->start) != 3)
        return false;
    p->parent = parent;
    p->zombie = state == 'Z' || state == 'X';
    p->stopped = state == 'T' || state == 't';
    return true;
}

static bool proctree_read_one(const char *pid, struct proctree_process *p)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return proctree_parse(text, p);
}

/* Every process of this machine; malloc'd. */
static struct proctree_process *proctree_read(size_t *count)
{
    struct proctree_process *all = NULL;
    size_t most = 0;
    DIR *proc = opendir("/proc");
    *count = 0;
    for (struct dirent *d; proc != NULL && (d = readdir(proc)) != NULL;) {
        if (!isdigit((unsigned char)d->d_name[0]))
            continue;
        if (*count == most) {
            most = most == 0 ? 512 : 2 * most;
            struct proctree_process *more = realloc(all, most * sizeof *all);
            if (more == NULL)
                break;
            all = more;
        }
        *count += proctree_read_one(d->d_name, &all[*count]);
    }
    if (proc != NULL)
        closedir(proc);
    return all;
}

static bool is_listed(pid_t pid, const pid_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == pid)
            return true;
    return false;
}

static bool is_below(const struct proctree_process *all, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].pid == pid)
            return all[i].below;
    return false;
}

size_t proctree_mark(struct proctree_process *all, size_t count, pid_t root, const pid_t *spare,
                     size_t spare_count)
{
    size_t living = 0;
    for (bool grown = true; grown;) {
        grown = false;
        for (size_t i = 0; i < count; i++) {
            struct proctree_process *p = &all[i];
            if (p->below || is_listed(p->pid, spare, spare_count))
                continue;
            if (p->parent != root && !is_below(all, count, p->parent))
                continue;
            p->below = grown = true;
            living += !p->zombie;
        }
    }
    return living;
}

/* Never kills another process that has got the pid since: a descriptor of it is opened first, then
 * its start is compared. */
static void proctree_kill_one(const struct proctree_process *p)
{
    struct proctree_process now;
    char pid[16];
    int fd = pidfd_open(p->pid, 0);
    if (fd < 0)
        return;
    snprintf(pid, sizeof pid, "%d", p->pid);
    if (proctree_read_one(pid, &now) && now.start == p->start)
        pidfd_send_signal(fd, SIGKILL, NULL, 0);
    close(fd);
}

static long elapsed_ms(const struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

/* A subreaper without children has no descendants: orphans below become its children. */
static bool has_no_child(void)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return pid < 0 && errno == ECHILD;
}

int proctree_end(const pid_t *spare, size_t spare_count, int patience_ms)
{
    struct timespec begin;
    if (spare_count == 0 && has_no_child()) /* mostly so, and /proc takes milliseconds to read */
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        size_t count, living;
        struct proctree_process *all = proctree_read(&count);
        living = proctree_mark(all, count, getpid(), spare, spare_count);
        for (size_t i = 0; i < count; i++) {
            if (!all[i].below)
                continue;
            if (!all[i].zombie)
                proctree_kill_one(&all[i]);
            waitpid(all[i].pid, NULL,
                    WNOHANG); /* works for children only; all become children in time */
        }
        free(all);
        if (living == 0)
            return 0;
        if (elapsed_ms(&begin) > patience_ms)
            return -ETIMEDOUT;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    }
}

static sigset_t supervise_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    return set;
}

int proctree_supervise_begin(void)
{
    const sigset_t set = supervise_signals();
    return sigprocmask(SIG_BLOCK, &set, NULL) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0
               ? 0
               : -errno;
}

int proctree_supervise(pid_t command, int patience_ms)
{
    const sigset_t set = supervise_signals();
    int status = SIGKILL, one;
    bool over = false;
    for (pid_t pid; !over;) {
        while (!over && (pid = waitpid(-1, &one, WNOHANG)) > 0) {
            over = pid == command;
            status = over ? one : status;
        }
        over = over || (pid < 0 && errno == ECHILD) || sigwaitinfo(&set, NULL) == SIGTERM;
    }
    proctree_end(NULL, 0, patience_ms);
    return status;
}

void proctree_each(pid_t root, void (*each)(void *ctx, const struct proctree_process *p), void *ctx)
{
    size_t count;
    struct proctree_process *all = proctree_read(&count);
    proctree_mark(all, count, root, NULL, 0);
    for (size_t i = 0; i < count; i++)
        if (all[i].below && !all[i].zombie)
            each(ctx, &all[i]);
    free(all);
}
