/* SPDX-License-Identifier: BSD-3-Clause */
/* nap_ompi4.c -- who waits in vain sleeps, since a desktop is shared, also by the other copies.
 *
 * Two things tell when. Many looks that found nothing, by one who does nothing else meanwhile: a
 * program that computes between two looks never sleeps. And a crowd (crowd.h). A program that
 * sleeps itself need not be put to sleep when it asks. Where it waits for a message, or for a word
 * of another copy, it naps at once: who yields gets his turn only when the others have had theirs.
 */
#include "glue.h"
#include "ompi/runtime/mpiruntime.h"
#include <sys/resource.h>

enum { NAP_MS = 1 };

/* How often the thread has gone to sleep. One that yields, or loses the processor, stays awake. */
static uint64_t sleeps(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
}

/* MPI_Init waits and sleeps in ways of its own, beside others that begin. */
static void look_around(struct crowd *c)
{
    if (ompi_mpi_state < OMPI_MPI_STATE_INIT_COMPLETED)
        return;
    const uint64_t now = now_ns(CLOCK_MONOTONIC_COARSE);
    if (crowd_look(c, now, !replica.waits))
        crowd_judge(c, now, now_ns(CLOCK_THREAD_CPUTIME_ID), sleeps());
}

/* While a peer copies from this process's memory its word is due at once, and waking up takes
 * longer than the wait; but for a processor that others want, too. */
static unsigned patience(struct napping *n, uint64_t used_ns)
{
    enum { FEW = 4, MANY = 64 };
    uint64_t now = now_ns(CLOCK_MONOTONIC), went = now - n->went_ns;
    n->went_ns = now;
    return transport_lends(replica.transport) && went < used_ns + used_ns / 4 ? MANY : FEW;
}

/* Processor time is compared, since yielding takes time of another kind. */
static bool is_sleepy(struct napping *n)
{
    enum { LOOKS = 512, LOOK_NS = 4000, BUSY_NS = 100000 };
    if (!n->sleepy && ++n->looks % LOOKS != 0)
        return false;
    uint64_t now = now_ns(CLOCK_THREAD_CPUTIME_ID), used = now - n->looked_ns;
    n->looked_ns = now;
    if (used >= (n->sleepy ? BUSY_NS : LOOKS * LOOK_NS))
        n->quiet = 0;
    else
        n->quiet++;
    n->sleepy = n->quiet >= patience(n, used);
    return n->sleepy;
}

int nap_due(void)
{
    struct crowd *c = &replica.crowd;
    look_around(c);
    const bool sleepy = is_sleepy(&replica.napping);
    if (c->rests)
        return replica.waits || engine_waits_for_word(replica.engine) ? NAP_MS : 0;
    return sleepy || crowd_is_here(c) ? NAP_MS : 0;
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
    if (n > 0) {
        replica.napping.quiet = replica.napping.looks = 0;
        replica.napping.sleepy = false;
    }
    return n;
}
