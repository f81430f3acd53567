/* SPDX-License-Identifier: BSD-3-Clause */
/* ports.c -- which TCP ports a job listens at. */
#include "ports.h"
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_free(uint16_t port)
{
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof at) == 0;
    if (fd >= 0)
        close(fd);
    return bound;
}

uint16_t ports_pick(void)
{
    enum { PORTS = PORTS_CONTROL_LAST - PORTS_CONTROL_FIRST + 1 };
    uint32_t first = 0;
    if (getrandom(&first, sizeof first, 0) != sizeof first)
        first = (uint32_t)getpid();
    for (uint32_t i = 0; i < PORTS; i++) {
        uint16_t port = (uint16_t)(PORTS_CONTROL_FIRST + (first % PORTS + i) % PORTS);
        if (is_free(port))
            return port;
    }
    return 0;
}
