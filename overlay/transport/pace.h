/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.h -- how much of a file may be on its way over a connection. A queue before a link makes
 * everything else late that goes over that link, also by other connections, so no more is sent than
 * what the link carries in its shortest round trip and a little more (as in BBR, Cardwell et al.
 * 2016, and with the target of LEDBAT, RFC 6817). */
#ifndef P2P_OVERLAY_TRANSPORT_PACE_H
#define P2P_OVERLAY_TRANSPORT_PACE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PACE_QUEUE_US = 25000, /* what a queue may take */
    PACE_LEAST =
        64 * 1024, /* in flight in any case: round trips are long where hosts are busy, too */
};

/* Bytes in flight at most; rate: what is carried, bytes a second, 0: it is not known yet. */
size_t pace_most(uint64_t rate, uint32_t least_rtt_us);
/* Of a socket: bytes that may still be sent now. */
size_t pace_room(int fd);
#endif
