/* SPDX-License-Identifier: BSD-3-Clause */
/* broker.h -- whom a guest may call. The kernel asks its room about every connect() of the guest
 * (seccomp's user notification, Linux 5.9), and the room connects the guest's socket itself, to an
 * address that it has copied and looked at: what the guest writes into its memory meanwhile changes
 * nothing. Nothing is sent by UDP. Ports are limited by Landlock, addresses cannot be. */
#ifndef P2P_OVERLAY_SANDBOX_BROKER_H
#define P2P_OVERLAY_SANDBOX_BROKER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct broker;

/* In the guest, before it executes anything; needs no_new_privs. From now on its calls are asked
 * about, and the descriptor to answer at goes to `room`, a UNIX socket. 0 or -errno. */
int broker_install(int room);
/* Can this be had here? Forks once. */
bool broker_probe(void);

/* In the room. answers: as broker_install() has sent it; the broker's from now on. This host may be
 * called from the first, at the ports of ranks where its own job listens; home: one port more of
 * it, 0: none. NULL: out of memory. */
struct broker_host {
    bool (*is_own)(void *ctx,
                   uint16_t port); /* the job's own processes listen there, all that do */
    /* May a guest call that port of its job's peer? broker_decide() says so, later. */
    void (*ask)(void *ctx, const uint8_t ip[16], uint16_t port);
    void *ctx;
};
struct broker *broker_open(int answers, uint16_t home, const struct broker_host *host);
void broker_close(struct broker *p);
int broker_fd(const struct broker *p); /* readable: broker_serve() has something to do */
void broker_serve(struct broker *p);
/* The other hosts, in place of those before: as in room.h. */
void broker_allow(struct broker *p, const uint8_t *peers, size_t length);
/* What the daemon there has said. Yes is remembered for a moment. */
void broker_decide(struct broker *p, const uint8_t ip[16], uint16_t port, bool yes);
/* Time passes: who waits for too long is refused. Monotonic. */
void broker_tick(struct broker *p, uint64_t now_ms);
/* Receives what broker_install() sent to the other end; -1: it did not. */
int broker_receive(int room);

/* The decision: may a guest call a sockaddr of that length? 0, the errno that it meets, or
 * EINPROGRESS: that depends on who is found there. Where others than its job listen it meets what
 * it would where nobody does. */
struct sockaddr;
int broker_judge(const struct broker *p, const struct sockaddr *to, size_t length);
#endif
