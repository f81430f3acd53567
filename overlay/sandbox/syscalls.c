/* SPDX-License-Identifier: BSD-3-Clause */
/* syscalls.c -- system calls that a guest is denied. */
#include "syscalls.h"
#include "landlock.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { FCHMODAT2 = 452 };  /* younger than our headers; the same on every architecture */
enum { LOW = 0xffffffff }; /* the kernel takes an int of a 64-bit register: so do the rules */

static int deny_calls(scmp_filter_ctx filter, const char *const *names, size_t count)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        int number = seccomp_syscall_resolve_name(names[i]);
        if (number != __NR_SCMP_ERROR)
            rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
    }
    return rc;
}

static int deny_kernel(scmp_filter_ctx filter)
{
    static const char *const names[] = {
        /* keys, tracing, and what looks into the kernel */
        "add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd", "ptrace",
        "kcmp", "lookup_dcookie", "syslog",
        /* file systems and namespaces */
        "mount", "umount2", "pivot_root", "move_mount", "open_tree", "fsopen", "fsmount",
        "fsconfig", "fspick", "mount_setattr", "unshare", "setns", "name_to_handle_at",
        "open_by_handle_at", "quotactl", "quotactl_fd", "acct",
        /* the machine */
        "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot",
        "swapon", "swapoff", "iopl", "ioperm", "modify_ldt", "vhangup", "settimeofday",
        "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname",
        /* a second way to make system calls, past this filter */
        "io_uring_setup", "io_uring_enter", "io_uring_register"};
    return deny_calls(filter, names, sizeof names / sizeof *names);
}

/* A user namespace would give a guest a root of its own. clone3 hides its flags from filters: glibc
 * falls back to clone when it is not there. */
static int deny_namespaces(scmp_filter_ctx filter)
{
    static const uint64_t flags[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWNET,   CLONE_NEWPID,
                                     CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};
    int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    for (size_t i = 0; i < sizeof flags / sizeof *flags && rc == 0; i++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                              SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
    return rc;
}

/* Leaves TCP, and UDP for the broker: no Landlock rule knows SCTP, or TCP under another name. */
static int deny_others(scmp_filter_ctx filter, uint64_t family)
{
    static const uint64_t types[] = {SOCK_RAW, SOCK_RDM, SOCK_SEQPACKET, SOCK_DCCP};
    int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 2,
                              SCMP_A0(SCMP_CMP_EQ, family), SCMP_A2(SCMP_CMP_GT, IPPROTO_TCP));
    for (size_t i = 0; i < sizeof types / sizeof *types && rc == 0; i++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 2,
                              SCMP_A0(SCMP_CMP_EQ, family),
                              SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, types[i]));
    return rc;
}

/* Sending with this flag connects. */
static int deny_fast_open(scmp_filter_ctx filter)
{
    const uint64_t flag = MSG_FASTOPEN;
    int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(sendto), 1,
                              SCMP_A3(SCMP_CMP_MASKED_EQ, flag, flag));
    if (rc == 0)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(sendmsg), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, flag, flag));
    return rc != 0 ? rc
                   : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(sendmmsg), 1,
                                      SCMP_A3(SCMP_CMP_MASKED_EQ, flag, flag));
}

/* A UNIX socket leads to programs that trust every process of their user: session bus, ssh-agent,
 * display, p2pd. Landlock does not guard sockets with a path. Left are IP, the kernel's own
 * addresses (netlink: which interfaces there are), and pairs of connected streams. */
static int deny_sockets(scmp_filter_ctx filter)
{
    static const uint64_t types[] = {SOCK_DGRAM, SOCK_RAW}; /* of a pair: may send to a path */
    int rc = deny_others(filter, AF_INET);
    if (rc == 0)
        rc = deny_others(filter, AF_INET6);
    if (rc == 0)
        rc = deny_fast_open(filter);
    if (rc == 0) /* of netlink: interfaces and routes */
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 2,
                              SCMP_A0(SCMP_CMP_EQ, AF_NETLINK), SCMP_A2(SCMP_CMP_NE, 0));
    for (uint64_t family = 0; family <= AF_NETLINK && rc == 0; family++)
        if (family != AF_INET && family != AF_INET6 && family != AF_NETLINK)
            rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1,
                                  SCMP_A0(SCMP_CMP_EQ, family));
    if (rc == 0)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1,
                              SCMP_A0(SCMP_CMP_GT, AF_NETLINK));
    for (size_t i = 0; i < sizeof types / sizeof *types && rc == 0; i++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socketpair), 1,
                              SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, types[i]));
    return rc;
}

/* System V segments live on without a process that has them, unseen from outside of the namespace;
 * and secret memory is not even in smaps. */
static int deny_hidden_memory(scmp_filter_ctx filter)
{
    static const char *const names[] = {"shmget", "memfd_secret"};
    return deny_calls(filter, names, sizeof names / sizeof *names);
}

/* Other processes of the same user, where no namespace hides them. */
static int deny_neighbours(scmp_filter_ctx filter)
{
    static const char *const objects[] = {"shmget", "shmat",  "shmctl",  "semget",
                                          "semop",  "semctl", "msgget",  "msgsnd",
                                          "msgrcv", "msgctl", "mq_open", "mq_unlink"};
    static const char *const of_others[] = {
        "prlimit64",     "sched_setaffinity", "sched_setparam", "sched_setscheduler",
        "sched_setattr", "migrate_pages",     "move_pages"};
    static const uint64_t everyone = LOW; /* kill(-1) */
    int rc = deny_calls(filter, objects, sizeof objects / sizeof *objects);
    for (size_t i = 0; i < sizeof of_others / sizeof *of_others && rc == 0; i++) {
        int number = seccomp_syscall_resolve_name(of_others[i]);
        if (number != __NR_SCMP_ERROR)
            rc =
                seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 1, SCMP_A0(SCMP_CMP_NE, 0));
    }
    if (rc == 0)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(setpriority), 1,
                              SCMP_A0(SCMP_CMP_NE, PRIO_PROCESS));
    return rc != 0 ? rc
                   : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(kill), 1,
                                      SCMP_A0(SCMP_CMP_MASKED_EQ, LOW, everyone));
}

/* Tracing within the room stays possible under Landlock: ranks of one host copy each other's large
 * messages with process_vm_readv. */
static int deny_tracing(scmp_filter_ctx filter)
{
    static const char *const names[] = {"process_vm_readv", "process_vm_writev", "pidfd_getfd"};
    return deny_calls(filter, names, sizeof names / sizeof *names);
}

/* A set-ID file runs as its owner: another user of the host could start it. No filter sees the
 * flags of openat2; programs fall back to openat. */
static int deny_set_id(scmp_filter_ctx filter)
{
    static const struct {
        int number;
        unsigned mode; /* which argument */
        int flags;     /* the argument that says whether there is a mode; -1: there always is */
    } calls[] = {{SCMP_SYS(chmod), 1, -1},   {SCMP_SYS(fchmod), 1, -1}, {SCMP_SYS(fchmodat), 2, -1},
                 {FCHMODAT2, 2, -1},         {SCMP_SYS(creat), 1, -1},  {SCMP_SYS(mkdir), 1, -1},
                 {SCMP_SYS(mkdirat), 2, -1}, {SCMP_SYS(mknod), 1, -1},  {SCMP_SYS(mknodat), 2, -1},
                 {SCMP_SYS(open), 2, 1},     {SCMP_SYS(openat), 3, 2}};
    static const uint64_t bits[] = {S_ISUID, S_ISGID}, makes[] = {O_CREAT, O_TMPFILE};
    int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0);
    for (size_t i = 0; i < 2 * sizeof calls / sizeof *calls && rc == 0; i++) {
        const uint64_t bit = bits[i % 2];
        const struct scmp_arg_cmp mode = SCMP_CMP(calls[i / 2].mode, SCMP_CMP_MASKED_EQ, bit, bit);
        if (calls[i / 2].flags < 0)
            rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i / 2].number, 1, mode);
        for (size_t k = 0; k < 2 && calls[i / 2].flags >= 0 && rc == 0; k++)
            rc = seccomp_rule_add(
                filter, SCMP_ACT_ERRNO(EPERM), calls[i / 2].number, 2, mode,
                SCMP_CMP((unsigned)calls[i / 2].flags, SCMP_CMP_MASKED_EQ, makes[k], makes[k]));
    }
    return rc;
}

/* Landlock judges none of these: they would reach all files of the user. */
static int deny_metadata(scmp_filter_ctx filter)
{
    static const char *const names[] = {
        "chmod",        "fchmod",        "fchmodat",    "fchmodat2",  "chown",       "fchown",
        "lchown",       "fchownat",      "utime",       "utimes",     "futimesat",   "utimensat",
        "setxattr",     "lsetxattr",     "fsetxattr",   "setxattrat", "removexattr", "lremovexattr",
        "fremovexattr", "removexattrat", "file_setattr"};
    return deny_calls(filter, names, sizeof names / sizeof *names);
}

/* Nor does it judge these before its third ABI. */
static int deny_truncation(scmp_filter_ctx filter)
{
    static const char *const names[] = {"truncate", "truncate64"};
    const uint64_t mask = O_TRUNC | O_ACCMODE, read_only = O_TRUNC | O_RDONLY;
    int rc = deny_calls(filter, names, sizeof names / sizeof *names);
    if (rc == 0)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(open), 1,
                              SCMP_A1(SCMP_CMP_MASKED_EQ, mask, read_only));
    return rc != 0 ? rc
                   : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(openat), 1,
                                      SCMP_A2(SCMP_CMP_MASKED_EQ, mask, read_only));
}

/* A watch tells which programs and files others open, and when. */
static int deny_watching(scmp_filter_ctx filter)
{
    static const char *const names[] = {"inotify_init", "inotify_init1", "fanotify_init"};
    return deny_calls(filter, names, sizeof names / sizeof *names);
}

static int deny_files(scmp_filter_ctx filter, const struct syscalls_sandbox *sandbox)
{
    int rc = deny_set_id(filter);
    if (rc == 0 && !sandbox->viewed)
        rc = deny_metadata(filter);
    if (rc == 0 && !sandbox->viewed && sandbox->landlock < LANDLOCK_ABI_TRUNCATE)
        rc = deny_truncation(filter);
    return rc == 0 ? deny_watching(filter) : rc;
}

/* Where orted puts ranks into their lanes' roots it may call chroot(2). That only changes where
 * names begin: there is no root but this mount namespace's, and neither Landlock nor this filter
 * goes by names; no file runs with other rights, whatever it finds at /etc or /lib. */
static int deny_roots(scmp_filter_ctx filter, bool lanes)
{
    static const char *const names[] = {"chroot"};
    return lanes ? 0 : deny_calls(filter, names, 1);
}

int syscalls_deny(const struct syscalls_sandbox *sandbox, struct err *e)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == NULL)
        return err_set(e, ENOMEM, "cannot make a seccomp filter");
    int rc = deny_kernel(filter);
    if (rc == 0)
        rc = deny_roots(filter, sandbox->lanes);
    if (rc == 0)
        rc = deny_namespaces(filter);
    if (rc == 0)
        rc = deny_sockets(filter);
    if (rc == 0)
        rc = deny_files(filter, sandbox);
    if (rc == 0 && !sandbox->counted)
        rc = deny_hidden_memory(filter);
    if (rc == 0 && !sandbox->namespaced)
        rc = deny_neighbours(filter);
    if (rc == 0 && sandbox->landlock == 0)
        rc = deny_tracing(filter);
    if (rc == 0)
        rc = seccomp_load(filter);
    seccomp_release(filter);
    return rc == 0 ? 0 : err_set(e, -rc, "cannot load the seccomp filter: %s", strerror(-rc));
}
