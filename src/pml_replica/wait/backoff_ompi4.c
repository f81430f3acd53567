/* SPDX-License-Identifier: BSD-3-Clause */
/* backoff_ompi4.c -- who waits in vain sleeps, since a desktop is shared, also by the other copies:
 * what backoff.h and contention.h want to know of this thread. */
#include "src/pml_replica/glue.h"
#include "ompi/runtime/mpiruntime.h"
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* How often the thread has gone to sleep. One that yields, or loses the processor, stays awake. */
static uint64_t sleeps(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
}

static bool others_are_many(void)
{
    struct sysinfo machine;
    return sysinfo(&machine) == 0 && crowd_is_many(machine.loads[0], replica.processors);
}

/* In a call until something comes: of ours, or in Open MPI's own loop for requests. */
static bool program_waits(void)
{
    return replica.waits || replica.awaiting > 0;
}

/* Requests that are not of messages alone may be done by other ways than by what wakes us. */
static bool has_errands(void)
{
    return replica.awaiting_others > 0 || engine_has_errands(replica.engine);
}

/* MPI_Init waits and sleeps in ways of its own, beside others that begin. */
static void look_around(struct crowd *c)
{
    if (ompi_mpi_state < OMPI_MPI_STATE_INIT_COMPLETED)
        return;
    const uint64_t now = now_ns(CLOCK_MONOTONIC_COARSE);
    if (crowd_look(c, now, !program_waits()))
        crowd_judge(c, now, now_ns(CLOCK_THREAD_CPUTIME_ID), sleeps(), others_are_many());
}

void nap_begin(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    replica.processors = processors > 0 ? (unsigned)processors : 1;
}

/* In MPI_Init or MPI_Finalize, and in no call of ours. */
static bool is_at_fence(int32_t state)
{
    return replica.depth == 0 && replica.awaiting == 0 &&
           (state < OMPI_MPI_STATE_INIT_COMPLETED ||
            state >= OMPI_MPI_STATE_FINALIZE_PAST_COMM_SELF_DESTRUCT);
}

/* MPI_Init has two: one before there are links, one after. */
int nap_at_fence(void)
{
    struct fence *f = &replica.fence;
    const int32_t state = ompi_mpi_state;
    const bool linked = replica.engine != NULL;
    if (!is_at_fence(state))
        return 0;
    const uint64_t now = now_ns(CLOCK_MONOTONIC_COARSE);
    if (f->state != state || f->linked != linked)
        *f = (struct fence){.state = state, .linked = linked, .since = now};
    return nap_at_fence_ms(now - f->since);
}

int nap_due(void)
{
    look_around(&replica.crowd);
    if (nap_look(&replica.nap, replica.only_look))
        nap_judge(&replica.nap, now_ns(CLOCK_MONOTONIC), now_ns(CLOCK_THREAD_CPUTIME_ID),
                  transport_lends(replica.transport));
    const struct nap_case is = {.waits = program_waits(),
                                .for_word = engine_waits_for_word(replica.engine),
                                .for_time = replica.waits_for_time};
    if (!nap_is_due(&replica.nap, &replica.crowd, is))
        return 0;
    return nap_ms(&replica.nap, is, has_errands());
}

int nap_taken(int timeout_ms)
{
    replica.slept = timeout_ms != 0;
    const uint64_t begin = replica.slept ? now_ns(CLOCK_MONOTONIC) : 0;
    const uint64_t before = replica.slept ? sleeps() : 0;
    int n = transport_poll(replica.transport, timeout_ms);
    if (replica.slept)
        crowd_napped(&replica.crowd, now_ns(CLOCK_MONOTONIC) - begin,
                     (uint64_t)timeout_ms * 1000000, sleeps() - before);
    nap_looked(&replica.nap, program_waits(), replica.slept, n > 0);
    return n;
}
