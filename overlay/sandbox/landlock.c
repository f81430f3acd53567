/* SPDX-License-Identifier: BSD-3-Clause */
/* landlock.c -- rules on what a process may touch; once enforced they cannot be taken back. */
#include "landlock.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE = 444, ADD = 445, RESTRICT = 446 }; /* the same on every architecture */
enum { RULE_PATH = 1, RULE_PORT = 2 };
enum { GET_VERSION = 1 };

/* Access to files, by the ABI that brought it: bits 0..12, 13, 14, 15. */
enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_TRUNCATE = 1 << 14,
    FS_IOCTL_DEV = 1 << 15,
    FS_READ = FS_READ_FILE | FS_READ_DIR,
    FS_ON_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
};
enum { NET_BIND = 1 << 0, NET_CONNECT = 1 << 1 };
enum { SCOPE_ABSTRACT_SOCKETS = 1 << 0, SCOPE_SIGNALS = 1 << 1 };

struct ruleset {
    uint64_t fs, net, scoped;
};

struct path_rule {
    uint64_t access;
    int32_t parent;
} __attribute__((packed));

struct port_rule {
    uint64_t access, port;
};

static long landlock_result(long r)
{
    return r < 0 ? -errno : r;
}

int landlock_abi(void)
{
    long abi = landlock_result(syscall(CREATE, NULL, 0, GET_VERSION));
    return abi > 0 ? (int)abi : 0;
}

static uint64_t known_access(int abi)
{
    if (abi >= LANDLOCK_ABI_IOCTL)
        return 0xffff;
    if (abi >= LANDLOCK_ABI_TRUNCATE)
        return 0x7fff;
    return abi >= LANDLOCK_ABI_REFER ? 0x3fff : 0x1fff;
}

static size_t ruleset_size(int abi)
{
    if (abi >= LANDLOCK_ABI_SCOPE)
        return sizeof(struct ruleset);
    return abi >= LANDLOCK_ABI_TCP ? offsetof(struct ruleset, scoped) : sizeof(uint64_t);
}

int landlock_open(int abi, bool tcp)
{
    struct ruleset set = {.fs = known_access(abi)};
    if (tcp && abi >= LANDLOCK_ABI_TCP)
        set.net = NET_BIND | NET_CONNECT;
    if (abi >= LANDLOCK_ABI_SCOPE)
        set.scoped = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS;
    return (int)landlock_result(syscall(CREATE, &set, ruleset_size(abi), 0));
}

static uint64_t access_for(int abi, enum landlock_use use)
{
    switch (use) {
    case LANDLOCK_READ:
        return FS_READ;
    case LANDLOCK_RUN:
        return FS_READ | FS_EXECUTE;
    case LANDLOCK_WRITE:
        return known_access(abi) & ~(uint64_t)FS_EXECUTE;
    }
    return 0;
}

int landlock_allow_file(int rules, int abi, int fd, enum landlock_use use)
{
    struct stat st;
    struct path_rule rule = {.access = access_for(abi, use), .parent = fd};
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rule.access &= FS_ON_FILES;
    return (int)landlock_result(syscall(ADD, rules, RULE_PATH, &rule, 0));
}

int landlock_allow_path(int rules, int abi, const char *path, enum landlock_use use)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = landlock_allow_file(rules, abi, fd, use);
    close(fd);
    return rc;
}

int landlock_allow_port(int rules, uint16_t port, bool bind, bool connect)
{
    struct port_rule rule = {.access = (bind ? NET_BIND : 0u) | (connect ? NET_CONNECT : 0u),
                             .port = port};
    return (int)landlock_result(syscall(ADD, rules, RULE_PORT, &rule, 0));
}

int landlock_enforce(int rules)
{
    return (int)landlock_result(syscall(RESTRICT, rules, 0));
}
