/* SPDX-License-Identifier: BSD-3-Clause */
/* room.h -- what p2pd and p2pd-room say to each other.
 *
 *     p2pd-room FOLDER        descriptor ROOM_CONTROL: a SOCK_SEQPACKET socket to p2pd;
 *                             ROOM_ORDER: a file with a room_order (see room.def): in no argument
 *                             nor variable that others could read, or that ld.so would obey;
 *                             ROOM_HARDWARE: hwloc's XML of this machine, or nothing
 *     p2pd-room forkserver          the process that forks them (forkserver.h)
 *
 * The room reports, one packet each, text:
 *
 *     started PID
 *     failed WHY                      instead of `started`
 *     calls IP PORT                   a guest's connect() to a peer of its job waits for ROOM_CALL;
 *                                     IP: in hex
 *     ended WAIT-STATUS LAST-WORDS    the command ended; its descendants are being ended
 *     overstepped WHY                 a guest took more than is lent to it; it is stopped, and
 * ended when p2pd says so, or does not answer for a moment
 *
 * and closes the socket by ending, when no process of it lives and the folders are gone. It ends on
 * any packet except ROOM_SUSPEND, ROOM_RESUME, ROOM_PEERS, ROOM_CALL, ROOM_SIBLINGS and
 * ROOM_FORGET, on SIGTERM, and when the other end is closed. */
#ifndef P2P_OVERLAY_SANDBOX_ROOM_H
#define P2P_OVERLAY_SANDBOX_ROOM_H
#include <stdint.h>

enum { ROOM_CONTROL = 3, ROOM_ORDER, ROOM_HARDWARE, ROOM_FILES = ROOM_HARDWARE - ROOM_CONTROL + 1 };
enum { ROOM_REPORT = 2048, ROOM_PATIENCE_MS = 3000 };
/* An IPv6 address, or IPv4 mapped into it; then 1, or 0: it is not known yet that the peer is
 * there. */
enum { ROOM_PEER = 17, ROOM_PEERS_MOST = 4096, ROOM_SIBLINGS_MOST = 64 };

#define ROOM_SUSPEND "s" /* all but the command itself */
#define ROOM_RESUME "r"
#define ROOM_PEERS "p" /* then all peers that a guest may connect to: ROOM_PEER each */
/* Then the pids (pid_t each) of all other rooms of its submitter's jobs here: a guest may connect
 * to what listens in them. */
#define ROOM_SIBLINGS "k"
#define ROOM_CALL "c" /* then a room_call: may a guest connect there? */
struct room_call {
    uint8_t ip[ROOM_PEER - 1];
    uint16_t port;
    uint8_t yes;
};
#define ROOM_FORGET "f" /* what the lanes have changed is not kept */
#define ROOM_PREFIX "lease-"
/* Beside the room's folder, with the same ending: what the lanes of a command that has ended by
 * itself have changed, as lane-K/upper or lane-K/tree. */
#define ROOM_RESULTS "results-"
#define ROOM_MEMORY "/dev/shm"
#define ROOM_MEMORY_PREFIX "p2pgrid-"
#endif
