/* SPDX-License-Identifier: BSD-3-Clause */
/* garbage.c -- says wrong things on the daemon's local socket; each time it must be dropped, and
 * soon. */
#include "raw.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 3000, RANDOM_TRIES = 50 };

static const char *path;

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
            int fd = raw_dial(path);
            if (greeted)
                raw_greet(fd);
            raw_put(fd, wrong[i].bytes, wrong[i].length);
            expect_dropped(fd, "a frame that is none");
        }
    struct message m = {.kind = MSG_lease_ask}; /* what only daemons say to each other */
    int fd = raw_dial(path);
    raw_greet(fd);
    raw_say(fd, &m);
    expect_dropped(fd, "a message of links");
    m = (struct message){.kind = MSG_local_status}; /* before hello */
    fd = raw_dial(path);
    raw_say(fd, &m);
    expect_dropped(fd, "no hello");
    dropped += 2;
    srand(5);
    for (int i = 0; i < RANDOM_TRIES; i++, dropped++) {
        uint8_t noise[512];
        for (size_t k = 0; k < sizeof noise; k++)
            noise[k] = (uint8_t)rand();
        noise[0] |= 0x80; /* no length that could be waited for */
        fd = raw_dial(path);
        raw_put(fd, noise, sizeof noise);
        expect_dropped(fd, "noise");
    }
    printf("%u times dropped\n", dropped);
    return 0;
}
