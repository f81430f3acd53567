/* SPDX-License-Identifier: BSD-3-Clause */
/* broker.h -- the connect broker: where a guest may connect. The kernel asks the guest's room about
 * every connect() (seccomp's user notification, Linux 5.9), and the room connects the guest's
 * socket itself, to an address that it has copied and checked: what the guest writes into its
 * memory meanwhile changes nothing. A guest gets no UDP socket. Landlock limits the ports, but it
 * knows no addresses. */
#ifndef P2P_OVERLAY_SANDBOX_BROKER_H
#define P2P_OVERLAY_SANDBOX_BROKER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct broker;

/* In the guest, before it executes anything; needs no_new_privs. From now on the kernel asks about
 * each connect(), and the descriptor for its questions goes to `room`, a UNIX socket. 0 or -errno.
 */
int broker_install(int room);
/* Does this machine support it? Forks once. */
bool broker_probe(void);

/* What the broker asks the room. */
struct broker_host {
    bool (*is_own)(void *ctx, uint16_t port); /* only processes of the job itself listen there */
    /* May a guest connect to that port of its job's peer? broker_decide() tells, later. */
    void (*ask)(void *ctx, const uint8_t ip[16], uint16_t port);
    void *ctx;
};
/* In the room. notices: the descriptor that broker_install() has sent; the broker closes it. A
 * guest may connect to this host from the first, at ports of ranks where its own job listens, and
 * at `home` (0: none). NULL: out of memory. */
struct broker *broker_open(int notices, uint16_t home, const struct broker_host *host);
void broker_close(struct broker *p);
int broker_fd(const struct broker *p); /* readable: broker_serve() has something to do */
void broker_serve(struct broker *p);
/* Replaces the list of the other hosts: as in room.h. */
void broker_allow(struct broker *p, const uint8_t *peers, size_t length);
/* What the daemon there has said. A yes is remembered for a moment. */
void broker_decide(struct broker *p, const uint8_t ip[16], uint16_t port, bool yes);
/* Time passes: a call that waits for too long is refused. Monotonic. */
void broker_tick(struct broker *p, uint64_t now_ms);
/* Receives what broker_install() sent to the other end; -1: it did not. */
int broker_receive(int room);

/* The decision: may a guest connect to a sockaddr of that length? 0, the errno that it gets, or
 * EINPROGRESS: a daemon has to answer first. Where processes of another job listen, the guest gets
 * the errno of a port at which nothing listens. */
struct sockaddr;
int broker_judge(const struct broker *p, const struct sockaddr *to, size_t length);
#endif
