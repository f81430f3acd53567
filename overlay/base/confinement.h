/* SPDX-License-Identifier: BSD-3-Clause */
/* confinement.h -- what a machine can keep guests from, as bits of an ad and in words. */
#ifndef P2P_OVERLAY_BASE_CONFINEMENT_H
#define P2P_OVERLAY_BASE_CONFINEMENT_H
#include <stdbool.h>
#include <stddef.h>

/* Bits of part_ad.confinement; they travel, so they never change their meaning. */
enum confinement {
    CONFINE_LIMITS = 1 << 0,   /* memory, processes, file size, open files */
    CONFINE_SYSCALLS = 1 << 1, /* no tracing, mounting, kernel keys, namespaces, BPF ... */
    CONFINE_FILES = 1 << 2,    /* only what is listed can be read, only the room written */
    CONFINE_TCP = 1 << 3,      /* TCP ports to bind and to connect to are listed */
    CONFINE_SIGNALS = 1 << 4,  /* no signal reaches a process outside of the room */
    CONFINE_SOCKETS = 1 << 5,  /* no UNIX socket: no session bus, ssh-agent, display, p2pd */
    CONFINE_PEERS = 1 << 6,    /* connects to this host and the job's peers only */
    CONFINE_CGROUP = 1 << 7,   /* a control group of its own, killed as one */
};

/* Without one of these a guest could read or command what is its host's. TCP is left out: kernels
 * have it since 6.7 only. */
enum {
    CONFINE_USUAL =
        CONFINE_LIMITS | CONFINE_SYSCALLS | CONFINE_FILES | CONFINE_SIGNALS | CONFINE_SOCKETS
};

bool confinement_bit(const char *word, unsigned *bit); /* "files" */
/* Words for a person or an ad: "files, tcp, ...", "nothing". */
const char *confinement_text(unsigned bits, char *text, size_t size);
#endif
