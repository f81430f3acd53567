/* SPDX-License-Identifier: BSD-3-Clause */
/* turn.c -- the attendant's side of the lock, which bears its cost. */
#include "turn.h"
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool barrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

void turn_init(struct turn *t)
{
    atomic_init(&t->calls, 0);
    atomic_init(&t->looks, 0);
    atomic_init(&t->idles, false);
    atomic_init(&t->wanted, false);
    t->fenced = !barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    pthread_mutex_init(&t->attended, NULL);
}

void turn_destroy(struct turn *t)
{
    pthread_mutex_destroy(&t->attended);
}

/* Called by the program that has just said to be inside: takes it back until it is true. */
void turn_await(struct turn *t)
{
    turn_leave(t);
    pthread_mutex_lock(&t->attended);
    uint64_t calls = atomic_load_explicit(&t->calls, memory_order_relaxed);
    atomic_store_explicit(&t->calls, calls + 1, memory_order_relaxed);
    pthread_mutex_unlock(&t->attended);
}

bool turn_take(struct turn *t)
{
    pthread_mutex_lock(&t->attended);
    atomic_store_explicit(&t->wanted, true, memory_order_relaxed);
    if (t->fenced || !barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&t->calls, memory_order_acquire) % 2 == 0)
        return true;
    turn_give(t);
    return false;
}

void turn_give(struct turn *t)
{
    atomic_store_explicit(&t->wanted, false, memory_order_release);
    pthread_mutex_unlock(&t->attended);
}

bool turn_is_away(struct turn *t, uint64_t *seen)
{
    const uint64_t looks = atomic_load_explicit(&t->looks, memory_order_relaxed);
    const bool inside = atomic_load_explicit(&t->calls, memory_order_relaxed) % 2 != 0;
    const bool away = !inside && looks == *seen;
    *seen = looks;
    return away;
}

bool turn_is_idle(const struct turn *t)
{
    return atomic_load_explicit(&t->idles, memory_order_relaxed);
}
