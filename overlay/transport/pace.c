/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.c -- by what the kernel measures. */
#include "pace.h"
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

size_t pace_most(uint64_t rate, uint32_t least_rtt_us)
{
    enum { SECOND_US = 1000000, MORE = 16 * 1024 };
    const uint64_t us = (uint64_t)PACE_QUEUE_US + least_rtt_us;
    if (rate > UINT64_MAX / 4 / us)
        return SIZE_MAX / 2;
    const uint64_t most =
        rate * us / SECOND_US + MORE; /* more, or a faster link is not found out */
    return most > PACE_LEAST ? (size_t)most : PACE_LEAST;
}

size_t pace_room(int fd)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    const size_t most = pace_most(info.tcpi_delivery_rate, info.tcpi_min_rtt),
                 flight = (size_t)info.tcpi_unacked * info.tcpi_snd_mss + info.tcpi_notsent_bytes;
    return most > flight ? most - flight : 0;
}
