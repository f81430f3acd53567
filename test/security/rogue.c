/* SPDX-License-Identifier: BSD-3-Clause */
/* rogue.c -- a guest that tries what no guest may. Started outside of a room it shows that the same
 * acts work there.
 *
 *     rogue refused|done VERB=WHAT...   does each act; status 0 when all were refused, or all done
 *     rogue serve ADDRESS:PORT
 *     rogue serve                       listens at some port below those of ranks, and prints it
 *     rogue fork|fill|eat|stay|hide memory|hide disk      goes on until it is ended, or gives up */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/inotify.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- acts: 0, or the errno they met --- */

static int outcome(long rc)
{
    return rc < 0 ? errno : 0;
}

static int open_file(const char *path, int flags)
{
    int fd = open(path, flags, 0600);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static int act_read(const char *path)
{
    return open_file(path, O_RDONLY);
}

static int act_write(const char *path)
{
    return open_file(path, O_WRONLY | O_CREAT);
}

static int act_list(const char *path)
{
    return open_file(path, O_RDONLY | O_DIRECTORY);
}

static int act_symlink(const char *path)
{
    unlink("symlink");
    return symlink(path, "symlink") == 0 ? open_file("symlink", O_RDONLY) : errno;
}

static int act_hardlink(const char *path)
{
    unlink("hardlink");
    return link(path, "hardlink") == 0 ? open_file("hardlink", O_RDONLY) : errno;
}

static int act_dots(const char *path)
{
    char up[4096];
    snprintf(up, sizeof up, "./../../../../../../../../../../../../../../..%s", path);
    return open_file(up, O_RDONLY);
}

static int act_rename(const char *path)
{
    int rc = open_file("mine", O_WRONLY | O_CREAT);
    return rc == 0 ? outcome(rename("mine", path)) : rc;
}

static int act_chmod(const char *path)
{
    return outcome(chmod(path, 0644));
}

static int act_date(const char *path)
{
    return outcome(utimensat(AT_FDCWD, path, NULL, 0));
}

static int act_set_id(const char *name) /* of its own file */
{
    int rc = open_file(name, O_WRONLY | O_CREAT);
    return rc == 0 ? outcome(chmod(name, 04755)) : rc;
}

static int act_watch(const char *path)
{
    int fd = inotify_init1(IN_CLOEXEC);
    int rc = fd < 0 ? errno : outcome(inotify_add_watch(fd, path, IN_OPEN));
    close(fd);
    return rc;
}

static int act_kill(const char *pid)
{
    return outcome(kill(atoi(pid), 0));
}

static int act_trace(const char *pid)
{
    return outcome(ptrace(PTRACE_SEIZE, atoi(pid), NULL, NULL));
}

static int act_peek(const char *pid)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)&act_peek, 1};
    return outcome(process_vm_readv(atoi(pid), &here, 1, &there, 1, 0));
}

static int act_renice(const char *pid)
{
    return outcome(setpriority(PRIO_PROCESS, (id_t)atoi(pid), 19));
}

static int act_dial(const char *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int rc = outcome(connect(fd, (struct sockaddr *)&at, sizeof at));
    close(fd);
    return rc;
}

/* ADDRESS:PORT; a guest is refused before anything is sent. */
static int act_call(const char *where)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    char ip[64];
    unsigned port;
    if (sscanf(where, "%63[^:]:%u", ip, &port) != 2 || inet_pton(AF_INET, ip, &at.sin_addr) != 1)
        return EINVAL;
    at.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int rc = outcome(connect(fd, (struct sockaddr *)&at, sizeof at));
    close(fd);
    return rc;
}

/* Connects by sending. */
static int act_open_fast(const char *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int rc = outcome(sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&at, sizeof at));
    close(fd);
    return rc;
}

static int act_udp(const char *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    int rc = fd < 0 ? errno
                    : outcome(sendto(fd, "x", 1, MSG_NOSIGNAL, (struct sockaddr *)&at, sizeof at));
    if (fd >= 0)
        close(fd);
    return rc;
}

static int act_bind(const char *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int rc = outcome(bind(fd, (struct sockaddr *)&at, sizeof at));
    close(fd);
    return rc;
}

static int act_socket(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int rc = fd < 0 ? errno : outcome(connect(fd, (struct sockaddr *)&at, sizeof at));
    if (fd >= 0)
        close(fd);
    return rc;
}

static int act_segment(const char *size)
{
    int id = shmget(IPC_PRIVATE, (size_t)atoi(size), 0600);
    return id < 0 ? errno : outcome(shmctl(id, IPC_RMID, NULL));
}

static int act_namespace(const char *flags)
{
    (void)flags;
    pid_t child = fork();
    if (child == 0)
        _exit(outcome(unshare(CLONE_NEWUSER)));
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static const struct {
    const char *verb;
    int (*act)(const char *what);
    int refusals[3]; /* what a guest may meet */
} acts[] = {
    {"read", act_read, {EACCES, ENOENT}}, /* not seen, or not touched */
    {"write", act_write, {EACCES, EROFS}},
    {"list", act_list, {EACCES, ENOENT}},
    {"symlink", act_symlink, {EACCES, ENOENT, EROFS}},
    {"hardlink", act_hardlink, {EACCES, EPERM, ENOENT}},
    {"dots", act_dots, {EACCES, ENOENT}},
    {"rename", act_rename, {EACCES, EXDEV, EROFS}},
    {"chmod", act_chmod, {EPERM, ENOENT, EROFS}},
    {"date", act_date, {EPERM, ENOENT, EROFS}},
    {"setid", act_set_id, {EPERM, EROFS}},
    {"watch", act_watch, {EPERM}},
    {"kill", act_kill, {ESRCH, EPERM}},
    {"trace", act_trace, {EPERM}},
    {"peek", act_peek, {ESRCH, EPERM}},
    {"renice", act_renice, {ESRCH, EPERM}},
    {"dial", act_dial, {EACCES}},
    {"bind", act_bind, {EACCES}},
    {"call", act_call, {EACCES, ECONNREFUSED}},
    {"fast", act_open_fast, {EACCES}},
    {"udp", act_udp, {EPIPE, EACCES, ENOTCONN}}, /* its socket is one of TCP */
    {"socket", act_socket, {EACCES}},
    {"segment", act_segment, {EPERM}},
    {"namespace", act_namespace, {EPERM}},
};
enum { ACTS = sizeof acts / sizeof acts[0] };

static bool is_refusal(size_t act, int met)
{
    for (int i = 0; i < 3; i++)
        if (met != 0 && acts[act].refusals[i] == met)
            return true;
    return false;
}

/* As it should be: 1. */
static int try(const char *word, bool refused)
{
    for (size_t i = 0; i < ACTS; i++) {
        size_t n = strlen(acts[i].verb);
        if (strncmp(word, acts[i].verb, n) != 0 || word[n] != '=')
            continue;
        int met = acts[i].act(word + n + 1);
        if (refused ? is_refusal(i, met) : met == 0)
            return 1;
        printf("%s: %s\n", word, met == 0 ? "done" : strerror(met));
        return 0;
    }
    printf("%s: no such act\n", word);
    return 0;
}

/* --- without end, as far as a room should tell; each stops by itself long before it could harm the
 * host of a test whose sandbox fails --- */

enum { MOST_CHILDREN = 1000, MOST_MIB = 512, LINGER_S = 20 }; /* a busy peer looks late */

static int nobody_stopped_me(const char *what)
{
    printf("nobody stopped me: %s\n", what);
    return 1;
}

/* One after the other, and none of them forks. */
static int fork_on(void)
{
    int children = 0;
    if (geteuid() == 0)
        return nobody_stopped_me("not tried: no limit of processes holds for root");
    for (int tries = 0; children < MOST_CHILDREN && tries < 60000; tries++) {
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            alarm(60);
            for (;;)
                pause();
        }
        children += child > 0;
        if (child < 0)
            usleep(1000);
    }
    return nobody_stopped_me("children");
}

static int fill_on(void)
{
    static char block[64 * 1024];
    memset(block, 'x', sizeof block);
    signal(SIGXFSZ, SIG_IGN);
    for (unsigned i = 0; i < MOST_MIB / 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "file%u", i);
        int fd = open(name, O_WRONLY | O_CREAT, 0600);
        for (int k = 0; k < 64 && write(fd, block, sizeof block) > 0; k++)
            ;
        if (fd >= 0)
            close(fd);
        usleep(20000);
    }
    sleep(LINGER_S);
    return nobody_stopped_me("files");
}

/* Shared memory, of which no limit of one process knows. */
static int eat_on(void)
{
    enum { PIECE = 4 << 20 };
    for (unsigned i = 0; i < MOST_MIB / 4; i++) {
        char *p = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (p != MAP_FAILED)
            memset(p, 1, PIECE);
        usleep(20000);
    }
    sleep(LINGER_S);
    return nobody_stopped_me("memory");
}

/* Memory that is in no process and below no folder: files without a name, each written, none
 * mapped.
 */
static int hide_on(const char *where)
{
    static char block[64 * 1024];
    memset(block, 'x', sizeof block);
    for (unsigned i = 0; i < MOST_MIB / 4; i++) {
        int fd = strcmp(where, "memory") == 0 ? memfd_create("hidden", 0)
                                              : open("hidden", O_RDWR | O_CREAT, 0600);
        unlink("hidden");
        for (int k = 0; k < 64 && write(fd, block, sizeof block) > 0; k++)
            ;
        usleep(20000);
    }
    sleep(LINGER_S);
    return nobody_stopped_me("files without a name");
}

/* Leaves its session, its parent and every signal behind; what was started ends at once. */
static void stay(void)
{
    if (fork() != 0)
        return;
    setsid();
    if (fork() != 0)
        _exit(0);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_IGN);
    signal(SIGALRM, SIG_DFL);
    alarm(60);
    for (;;)
        pause();
}

static int serve_at(const char *where)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    char ip[64];
    unsigned port;
    if (sscanf(where, "%63[^:]:%u", ip, &port) != 2 || inet_pton(AF_INET, ip, &at.sin_addr) != 1)
        return 2;
    at.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 8) != 0)
        return 1;
    puts(where);
    fflush(stdout);
    for (;;)
        pause();
}

static int serve(void)
{
    for (int port = 20000 + getpid() % 10000; port < 31000; port++) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 8) != 0) {
            close(fd);
            continue;
        }
        printf("%d\n", port);
        fflush(stdout);
        for (;;)
            pause();
    }
    return 1;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (strcmp(verb, "serve") == 0)
        return argc > 2 ? serve_at(argv[2]) : serve();
    if (strcmp(verb, "fork") == 0)
        return fork_on();
    if (strcmp(verb, "fill") == 0)
        return fill_on();
    if (strcmp(verb, "eat") == 0)
        return eat_on();
    if (strcmp(verb, "hide") == 0)
        return hide_on(argc > 2 ? argv[2] : "memory");
    if (strcmp(verb, "stay") == 0) {
        stay();
        puts("something stays");
        return 0;
    }
    bool refused = strcmp(verb, "refused") == 0;
    if (!refused && strcmp(verb, "done") != 0) {
        fprintf(stderr, "usage: see the source\n");
        return 2;
    }
    int right = 0;
    for (int i = 2; i < argc; i++)
        right += try(argv[i], refused);
    printf("%d of %d %s\n", right, argc - 2, verb);
    return right == argc - 2 ? 0 : 1;
}
