/* SPDX-License-Identifier: BSD-3-Clause */
/* raw.h -- the daemon's local socket without the client library: for tests that say what that would
 * not. raw_dial() ends the program when nobody listens; that the daemon hangs up is no error. */
#ifndef P2P_RAW_H
#define P2P_RAW_H
#include "overlay/wire/message.h"
#include "overlay/client/socket_path.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

static inline int raw_dial(const char *path)
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

static inline void raw_put(int fd, const void *bytes, size_t length)
{
    if (send(fd, bytes, length, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
        perror("send");
}

static inline void raw_say(int fd, const struct message *m)
{
    static uint8_t frame[WIRE_MAX_FRAME];
    raw_put(fd, frame, message_encode(m, frame, sizeof frame));
}

static inline void raw_greet(int fd)
{
    struct message hello = {.kind = MSG_local_hello};
    hello.local_hello.protocol = LOCAL_PROTOCOL;
    raw_say(fd, &hello);
}
#endif
