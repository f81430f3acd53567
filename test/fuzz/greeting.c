/* SPDX-License-Identifier: BSD-3-Clause */
/* greeting.c -- strangers that connect and say anything, in two pieces, are not heard, and nothing
 * of theirs is kept. */
#include "src/transport/greeting.h"
#include "src/transport/transport.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *place(void *arg, uint32_t from, const void *head, size_t head_length, size_t length)
{
    (void)arg, (void)from, (void)head, (void)head_length, (void)length;
    abort();
}

static void arrived(void *arg, uint32_t from, const void *head, size_t head_length, void *payload,
                    size_t length)
{
    (void)arg, (void)from, (void)head, (void)head_length, (void)payload, (void)length;
    abort();
}

static void sent(void *arg, uint32_t to, void *token)
{
    (void)arg, (void)to, (void)token;
}

static void lost(void *arg, uint32_t peer, const char *reason)
{
    (void)arg, (void)peer, (void)reason;
    abort();
}

static const char *address(void *arg, uint32_t peer)
{
    (void)arg, (void)peer;
    return NULL;
}

static struct transport *listening(struct sockaddr_in *at)
{
    static struct transport *t;
    struct transport_options o = {.count = 2, .listen = "127.0.0.1", .secret = {1}};
    struct transport_events e = {NULL, place, arrived, sent, lost, address};
    unsigned port;
    if (t == NULL && transport_open(&t, &o, &e) != 0)
        abort();
    if (sscanf(transport_address(t), "%*s %*s %*s %*s %u", &port) != 1)
        abort();
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sockaddr_in at;
    struct transport *t = listening(&at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        if (errno != EADDRNOTAVAIL && errno != EINTR)
            abort();
        close(fd); /* no port is left for a moment, so many were there; or libFuzzer's alarm rang */
        usleep(1000);
        return 0;
    }
    size_t first = size > 0 ? data[0] % size : 0;
    (void)!send(fd, data, first, MSG_NOSIGNAL);
    transport_poll(t, 1);
    (void)!send(fd, data + first, size - first, MSG_NOSIGNAL);
    transport_poll(t, 1);
    /* No FIN, for the port's sake: thousands come in a second. */
    struct linger now = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
    transport_poll(t, 0);

    struct greeting g;
    static const uint8_t secret[GREETING_SECRET] = {1};
    if (size >= GREETING_BYTES &&
        (greeting_read(&g, secret, NULL, data) || greeting_read(&g, secret, data, data)))
        abort();
    return 0;
}
