/* SPDX-License-Identifier: BSD-3-Clause */
/* ports.c -- which TCP ports a job listens at. */
#include "ports.h"
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
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

/* An abstract socket name, which only one process can bind; the kernel frees it with the process.
 */
static int claim_port(uint16_t port)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "p2pgrid-port-%u", port);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&name,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

enum { PORTS = PORTS_CONTROL_LAST - PORTS_CONTROL_FIRST + 1 };

static uint16_t pick_from(uint32_t first, bool claimed, int *claim)
{
    for (uint32_t i = 0; i < PORTS; i++) {
        uint16_t port = (uint16_t)(PORTS_CONTROL_FIRST + (first + i) % PORTS);
        *claim = claimed ? claim_port(port) : -1;
        if (claimed && *claim < 0)
            continue;
        if (is_free(port))
            return port;
        if (claimed)
            close(*claim);
    }
    *claim = -1;
    return 0;
}

/* Another user of the host may occupy all names. Then a port that is merely free must do, of those
 * that guests may not connect to. */
uint16_t ports_pick(int *claim)
{
    uint32_t first = 0;
    if (getrandom(&first, sizeof first, 0) != sizeof first)
        first = (uint32_t)getpid();
    uint16_t port = pick_from(first % PORTS, true, claim);
    return port != 0 ? port : pick_from(first % PORTS, false, claim);
}
