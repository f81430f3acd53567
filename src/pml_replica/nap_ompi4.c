/* SPDX-License-Identifier: BSD-3-Clause */
/* nap_ompi4.c -- who waits in vain sleeps, since a desktop is shared, also by the other copies.
 *
 * Two things tell when. Many looks that found nothing, by one who does nothing else meanwhile: a
 * program that computes between two looks never sleeps. And a crowd: where others compute, to yield
 * costs the turns of all of them, at every look; who sleeps instead is woken before his turn. A
 * program that sleeps between two looks itself has no need of either. */
#include "glue.h"
#include <sys/resource.h>

enum { NAP_MS = 1 };

/* How often the thread has gone to sleep. One that yields, or loses the processor, stays awake. */
static uint64_t sleeps(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
}

/* Looks at what went on in the last few milliseconds. A crowd: whoever is given a turn keeps it for
 * about as long as the kernel lets him, so that little of the time is spent here. Ranks that wait
 * for each other, and give back what they do not need, are no crowd. One that stays is believed in
 * for longer and longer: to look again costs such a turn. */
static void look_around(struct crowd *c)
{
    enum { WINDOW_NS = 8000000, SHORT_NS = 16000000, LONG_NS = 128000000, TURN_NS = 1000000 };
    const uint64_t now = now_ns(CLOCK_MONOTONIC_COARSE), went = now - c->since_ns;
    c->looks++;
    if (went < WINDOW_NS)
        return;
    const uint64_t processor = now_ns(CLOCK_THREAD_CPUTIME_ID), used = processor - c->used_ns,
                   wanted = went > c->napped_ns ? went - c->napped_ns : 0, slept = sleeps();
    struct crowd next = {.since_ns = now, .used_ns = processor, .slept = slept};
    next.rests = slept - c->slept > c->naps + c->looks / 2;
    if (!next.rests && now < c->until_ns + 2 * WINDOW_NS) {
        next.until_ns = c->until_ns;
        next.lasts_ns = c->lasts_ns;
    }
    if (!next.rests && used < wanted / 4 && c->turns > 0 && wanted > (uint64_t)c->turns * TURN_NS) {
        next.lasts_ns = next.lasts_ns == 0 ? SHORT_NS : 2 * next.lasts_ns;
        if (next.lasts_ns > LONG_NS)
            next.lasts_ns = LONG_NS;
        next.until_ns = now + next.lasts_ns;
    }
    *c = next;
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
    return !c->rests && (sleepy || c->since_ns < c->until_ns) ? NAP_MS : 0;
}

int nap_taken(int timeout_ms)
{
    const uint64_t begin = timeout_ms != 0 ? now_ns(CLOCK_MONOTONIC) : 0;
    int n = transport_poll(replica.transport, timeout_ms);
    replica.slept = timeout_ms != 0;
    if (replica.slept) { /* what it was woken too late is no nap */
        const uint64_t took = now_ns(CLOCK_MONOTONIC) - begin,
                       asked = (uint64_t)timeout_ms * 1000000;
        replica.crowd.napped_ns += took < asked ? took : asked;
        replica.crowd.naps++;
    }
    if (n > 0) {
        replica.napping.quiet = replica.napping.looks = 0;
        replica.napping.sleepy = false;
    }
    return n;
}
