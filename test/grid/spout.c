/* SPDX-License-Identifier: BSD-3-Clause */
/* spout.c -- a program at the end of a control channel, in place of mpirun: writes all the time and
 * reads what comes, also when the other end is lost.
 *
 *     spout BYTES
 *
 * Prints its port on loopback, `came` when so many bytes have, `end` when the other side has ended,
 * and half a second later `wrote on` or what was wrong with a write or a read: by then Open MPI
 * would have ended the job. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { AFTER_MS = 500, PATIENCE_MS = 30000 };

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int trouble(const char *what)
{
    printf("%s: %s\n", what, strerror(errno));
    return 1;
}

static void say(const char *word)
{
    printf("%s\n", word);
    fflush(stdout);
}

static int spout(int fd, size_t expected)
{
    static char bytes[65536];
    size_t got = 0;
    long ended_ms = 0;
    const long begin_ms = now_ms();
    while (ended_ms == 0 || now_ms() - ended_ms < AFTER_MS) {
        struct pollfd p = {.fd = fd, .events = POLLOUT | (ended_ms == 0 ? POLLIN : 0)};
        poll(&p, 1, 50);
        if (ended_ms == 0 && now_ms() - begin_ms > PATIENCE_MS)
            return printf("it never ends\n"), 1;
        if (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) < 0 && errno != EAGAIN)
            return trouble("write"); /* before the end was read, as stock code writes first */
        const ssize_t n = ended_ms == 0 ? recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) : 1;
        if (n < 0 && errno != EAGAIN)
            return trouble("read");
        if (n == 0) {
            say("end");
            ended_ms = now_ms();
        } else if (ended_ms == 0 && n > 0 && (got += (size_t)n) == expected) {
            say("came");
        }
    }
    say("wrote on");
    return 0;
}

int main(int argc, char **argv)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    signal(SIGPIPE, SIG_IGN);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &size) != 0)
        return trouble("listen");
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    const int other = accept(fd, NULL, NULL);
    const size_t expected = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    return other < 0 ? trouble("accept") : spout(other, expected);
}
