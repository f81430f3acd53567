/* SPDX-License-Identifier: BSD-3-Clause */
/* commit.h -- output commit for what a process prints: two numbers that it shares with the daemon
 * that reads its output. What the program wrote may depend on every decision that was counted
 * before; it may be shown when all of these are held by every living replica of the rank.
 * Elnozahy et al., "A Survey of Rollback-Recovery Protocols", 2002, section 2.3. */
#ifndef P2P_SRC_SURVIVE_COMMIT_H
#define P2P_SRC_SURVIVE_COMMIT_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* As it lies in the file. */
struct commit {
    _Atomic uint64_t decided; /* counted before the program knows of them; never less than before */
    _Atomic uint64_t held;    /* UINT64_MAX: nobody else needs them */
};

static inline void commit_note(struct commit *c, uint64_t decided, uint64_t held)
{
    atomic_store_explicit(&c->decided, decided, memory_order_release);
    atomic_store_explicit(&c->held, held, memory_order_release);
}

/* The process: a file in a folder that it shares with its daemon, nothing decided. NULL: errno says
 * why, and its output is shown at once. It stays mapped, and is never removed by this process. */
struct commit *commit_make(const char *folder, unsigned process);

/* The daemon: a descriptor of that file, or -errno (-ENOENT: it is not there yet). */
int commit_open(const char *folder, unsigned process);
/* Reads both numbers, which may change meanwhile; false: not to be had now. */
bool commit_read(int fd, uint64_t *decided, uint64_t *held);
#endif
