/* SPDX-License-Identifier: BSD-3-Clause */
/* garbage.c -- says wrong things on the daemon's local socket; each time it must be dropped, and
 * soon. */
#include "message.h"
#include "place.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_MS = 3000, RANDOM_TRIES = 50 };

static const char *path;

static int dial(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
        perror(path);
        exit(1);
    }
    return fd;
}

/* Everything that the daemon says is thrown away, until it hangs up. */
static void expect_dropped(int fd, const char *what)
{
    char bytes[4096];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (poll(&p, 1, PATIENCE_MS) == 1) {
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n == 0 || (n < 0 && errno == ECONNRESET)) {
            close(fd);
            return;
        }
    }
    fprintf(stderr, "not dropped: %s\n", what);
    exit(1);
}

static void put(int fd, const void *bytes, size_t length)
{
    if (send(fd, bytes, length, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
        perror("send");
}

static void put_message(int fd, const struct message *m)
{
    static uint8_t frame[WIRE_MAX_FRAME];
    put(fd, frame, message_encode(m, frame, sizeof frame));
}

static void greet(int fd)
{
    struct message hello = {.kind = MSG_local_hello};
    hello.local_hello.protocol = LOCAL_PROTOCOL;
    put_message(fd, &hello);
}

int main(int argc, char **argv)
{
    static const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff}, none[] = {0, 0, 0, 0};
    static const uint8_t unknown[] = {0, 0, 0, 3, 0xfe, 1, 2}, cut[] = {0, 0, 0, 2, 0x82, 0};
    unsigned dropped = 0;
    path = argc > 1 ? argv[1] : "";
    const struct {
        const uint8_t *bytes;
        size_t length;
    } wrong[] = {
        {huge, sizeof huge}, {none, sizeof none}, {unknown, sizeof unknown}, {cut, sizeof cut}};
    for (int greeted = 0; greeted < 2; greeted++)
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++, dropped++) {
            int fd = dial();
            if (greeted)
                greet(fd);
            put(fd, wrong[i].bytes, wrong[i].length);
            expect_dropped(fd, "a frame that is none");
        }
    struct message m = {.kind = MSG_lease_ask}; /* what only daemons say to each other */
    int fd = dial();
    greet(fd);
    put_message(fd, &m);
    expect_dropped(fd, "a message of links");
    m = (struct message){.kind = MSG_local_status}; /* before hello */
    fd = dial();
    put_message(fd, &m);
    expect_dropped(fd, "no hello");
    dropped += 2;
    srand(5);
    for (int i = 0; i < RANDOM_TRIES; i++, dropped++) {
        uint8_t noise[512];
        for (size_t k = 0; k < sizeof noise; k++)
            noise[k] = (uint8_t)rand();
        noise[0] |= 0x80; /* no length that could be waited for */
        fd = dial();
        put(fd, noise, sizeof noise);
        expect_dropped(fd, "noise");
    }
    printf("%u times dropped\n", dropped);
    return 0;
}
