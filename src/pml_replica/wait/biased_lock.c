/* SPDX-License-Identifier: BSD-3-Clause */
/* biased_lock.c -- the progress thread's side of the lock, which bears its cost. */
#include "biased_lock.h"
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool kernel_barrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

void biased_lock_init(struct biased_lock *t)
{
    atomic_init(&t->calls, 0);
    atomic_init(&t->polls, 0);
    atomic_init(&t->idles, false);
    atomic_init(&t->wanted, false);
    t->fenced = !kernel_barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    pthread_mutex_init(&t->progress_inside, NULL);
}

void biased_lock_destroy(struct biased_lock *t)
{
    pthread_mutex_destroy(&t->progress_inside);
}

/* Called by the program, which has just said that it is inside: takes that back until it is true.
 */
void biased_lock_await(struct biased_lock *t)
{
    biased_lock_leave(t);
    pthread_mutex_lock(&t->progress_inside);
    uint64_t calls = atomic_load_explicit(&t->calls, memory_order_relaxed);
    atomic_store_explicit(&t->calls, calls + 1, memory_order_relaxed);
    pthread_mutex_unlock(&t->progress_inside);
}

bool biased_lock_try(struct biased_lock *t)
{
    pthread_mutex_lock(&t->progress_inside);
    atomic_store_explicit(&t->wanted, true, memory_order_relaxed);
    if (t->fenced || !kernel_barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&t->calls, memory_order_acquire) % 2 == 0)
        return true;
    biased_lock_release(t);
    return false;
}

void biased_lock_release(struct biased_lock *t)
{
    atomic_store_explicit(&t->wanted, false, memory_order_release);
    pthread_mutex_unlock(&t->progress_inside);
}

bool biased_lock_is_away(struct biased_lock *t, uint64_t *seen)
{
    const uint64_t polls = atomic_load_explicit(&t->polls, memory_order_relaxed);
    const bool inside = atomic_load_explicit(&t->calls, memory_order_relaxed) % 2 != 0;
    const bool away = !inside && polls == *seen;
    *seen = polls;
    return away;
}

bool biased_lock_is_idle(const struct biased_lock *t)
{
    return atomic_load_explicit(&t->idles, memory_order_relaxed);
}
