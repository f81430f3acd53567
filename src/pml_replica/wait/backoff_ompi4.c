/* SPDX-License-Identifier: BSD-3-Clause */
/* backoff_ompi4.c -- a waiter that finds nothing sleeps, since a desktop is shared, also with the
 * other lanes: what backoff.h and contention.h need to know of this thread. */
#include "src/pml_replica/glue.h"
#include "ompi/runtime/mpiruntime.h"
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* How often the thread has gone to sleep. One that yields, or loses the processor, stays awake. */
static uint64_t thread_sleeps(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
}

/* Of the kernel itself: the preloaded sysinfo() looks up in which library its caller is, which
 * takes longer than the call. */
static bool load_is_high(void)
{
    struct sysinfo machine;
    return syscall(SYS_sysinfo, &machine) == 0 &&
           contention_load_is_high(machine.loads[0], replica.processors);
}

/* In a call until something comes: in one of ours, or in Open MPI's own loop for requests. */
static bool program_waits(void)
{
    return replica.waits || replica.awaiting > 0;
}

/* Requests that are not for messages alone may be completed by other means than by what wakes us.
 */
static bool has_timed_work(void)
{
    return replica.awaiting_others > 0 || engine_has_timed_work(replica.engine);
}

/* They meet when the program first talks, and not before. */
static bool processes_meet(uint64_t now)
{
    return ompi_mpi_state >= OMPI_MPI_STATE_INIT_COMPLETED &&
           backoff_meets(&replica.meeting, transport_connections(replica.transport), now);
}

/* Of those that this process has met. */
static bool machine_is_crowded(void)
{
    return transport_near(replica.transport) + 1 > replica.processors;
}

/* MPI_Init waits and sleeps in ways of its own, while other processes start. To meet takes long in
 * each of them, in which it gives its processor to none. */
static void contention_update(struct contention *c)
{
    if (ompi_mpi_state < OMPI_MPI_STATE_INIT_COMPLETED)
        return;
    const uint64_t now = now_ns(CLOCK_MONOTONIC_COARSE);
    if (!contention_poll(c, now, !program_waits()))
        return;
    const uint64_t used = now_ns(CLOCK_THREAD_CPUTIME_ID), slept = thread_sleeps();
    if (processes_meet(now))
        contention_restart(c, now, used, slept);
    else
        contention_judge(c, now, used, slept, load_is_high());
}

void backoff_begin(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    replica.processors = processors > 0 ? (unsigned)processors : 1;
}

/* In MPI_Init or MPI_Finalize, and in no call of ours. */
static bool program_is_at_fence(int32_t state)
{
    return replica.depth == 0 && replica.awaiting == 0 &&
           (state < OMPI_MPI_STATE_INIT_COMPLETED ||
            state >= OMPI_MPI_STATE_FINALIZE_PAST_COMM_SELF_DESTRUCT);
}

/* MPI_Init has two: one before there are links, one after. */
int backoff_at_fence(void)
{
    struct fence *f = &replica.fence;
    const int32_t state = ompi_mpi_state;
    const bool linked = replica.engine != NULL;
    if (!program_is_at_fence(state))
        return 0;
    const uint64_t now = now_ns(CLOCK_MONOTONIC_COARSE);
    if (f->state != state || f->linked != linked)
        *f = (struct fence){.state = state, .linked = linked, .since = now};
    return backoff_at_fence_ms(now - f->since);
}

void link_leaves(void)
{
    backoff_leaves(&replica.backoff, now_ns(CLOCK_MONOTONIC));
}

void link_is_back(void)
{
    backoff_is_back(&replica.backoff, now_ns(CLOCK_MONOTONIC));
}

int backoff_due(void)
{
    contention_update(&replica.contention);
    struct backoff_case is = {.waits = program_waits(),
                              .for_word = engine_waits_for_others(replica.engine),
                              .for_time = replica.waits_for_time};
    if (backoff_poll(&replica.backoff, replica.single_poll)) {
        const uint64_t now = now_ns(CLOCK_MONOTONIC);
        is.meets = processes_meet(now);
        is.crowd = machine_is_crowded();
        backoff_judge(&replica.backoff, is, now, now_ns(CLOCK_THREAD_CPUTIME_ID),
                      transport_is_being_read(replica.transport));
    }
    if (!backoff_is_due(&replica.backoff, &replica.contention, is))
        return 0;
    return backoff_ms(&replica.backoff, is, has_timed_work());
}

int backoff_poll_links(int timeout_ms)
{
    replica.slept = timeout_ms != 0;
    const uint64_t begin = replica.slept ? now_ns(CLOCK_MONOTONIC) : 0;
    const uint64_t before = replica.slept ? thread_sleeps() : 0;
    int n = transport_poll(replica.transport, timeout_ms);
    if (replica.slept) {
        const uint64_t now = now_ns(CLOCK_MONOTONIC);
        if (!program_waits() && !engine_waits_for_others(replica.engine))
            backoff_slept_in_test(&replica.backoff, now, now - begin);
        contention_slept(&replica.contention, now - begin, (uint64_t)timeout_ms * 1000000,
                         thread_sleeps() - before);
    }
    backoff_polled(&replica.backoff, program_waits(), replica.slept, n > 0);
    return n;
}
