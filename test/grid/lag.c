/* SPDX-License-Identifier: BSD-3-Clause */
/* lag.c -- a cable with a length: two network interfaces, and what goes into one comes out of the
 * other after so many microseconds. For contrib/grid --sites, as root in its network namespace.
 *
 *     lag TAP TAP MICROSECONDS
 *
 * Prints a line once both interfaces are there. Frames keep their order; when more than ROOM wait,
 * the next ones are lost, as with any cable. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { FRAME = 2048, ROOM = 4096 };

struct frame {
    uint64_t due_ns;
    size_t length;
    unsigned char bytes[FRAME];
};

/* One direction. */
struct lane {
    int from, to;
    struct frame *frames; /* a ring of ROOM */
    size_t first, count;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int open_tap(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0) {
        fprintf(stderr, "lag: %s: %s\n", name, strerror(errno));
        exit(1);
    }
    return fd;
}

static void take(struct lane *l, uint64_t delay_ns)
{
    static unsigned char lost[FRAME];
    for (;;) {
        struct frame *f = &l->frames[(l->first + l->count) % ROOM];
        bool room = l->count < ROOM;
        ssize_t n = read(l->from, room ? f->bytes : lost, FRAME);
        if (n <= 0)
            return;
        if (!room)
            continue;
        f->due_ns = now_ns() + delay_ns;
        f->length = (size_t)n;
        l->count++;
    }
}

/* Returns when the next frame is due; UINT64_MAX: none waits. */
static uint64_t give(struct lane *l)
{
    while (l->count > 0) {
        const struct frame *f = &l->frames[l->first];
        if (f->due_ns > now_ns())
            return f->due_ns;
        if (write(l->to, f->bytes, f->length) < 0 && errno != EAGAIN && errno != EIO)
            exit(1); /* EIO: the interface is not up yet */
        l->first = (l->first + 1) % ROOM;
        l->count--;
    }
    return UINT64_MAX;
}

int main(int argc, char **argv)
{
    struct lane there = {0}, back = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: lag TAP TAP MICROSECONDS\n");
        return 2;
    }
    uint64_t delay_ns = strtoull(argv[3], NULL, 10) * 1000;
    there.from = back.to = open_tap(argv[1]);
    there.to = back.from = open_tap(argv[2]);
    there.frames = calloc(ROOM, sizeof *there.frames);
    back.frames = calloc(ROOM, sizeof *back.frames);
    if (there.frames == NULL || back.frames == NULL)
        return 1;
    puts("ready");
    fflush(stdout);
    for (;;) {
        uint64_t next = give(&there), other = give(&back), now = now_ns();
        next = other < next ? other : next;
        uint64_t wait = next > now ? next - now : 0;
        struct timespec t = {.tv_sec = (time_t)(wait / 1000000000),
                             .tv_nsec = (long)(wait % 1000000000)};
        struct pollfd both[] = {{.fd = there.from, .events = POLLIN},
                                {.fd = back.from, .events = POLLIN}};
        if (ppoll(both, 2, next == UINT64_MAX ? NULL : &t, NULL) < 0 && errno != EINTR)
            return 1;
        take(&there, delay_ns);
        take(&back, delay_ns);
    }
}
