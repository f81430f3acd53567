/* SPDX-License-Identifier: BSD-3-Clause */
/* backoff.c -- judges every few hundred looks; one who is sleepy, at each. */
#include "backoff.h"

enum { ASKS_MS = 1, WAITS_MS = 8, WAITS_MOST_MS = 64, ERRANDS_MS = 4, ERRANDS_MOST_MS = 8 };
enum { LOOKS = 512, LOOKS_A_TURN = 8, LOOK_NS = 4000, BUSY_NS = 100000 };

bool nap_look(struct nap *n, bool only)
{
    n->looks += only ? LOOKS_A_TURN : 1;
    const bool due = n->looks >= LOOKS;
    n->looks %= LOOKS;
    return n->sleepy || due;
}

/* The word of a peer that copies is due at once, and waking up takes longer than the wait; but for
 * a processor that others want, too. */
static unsigned patience(uint64_t went, uint64_t used, bool lends)
{
    enum { FEW = 4, MANY = 64 };
    return lends && went < used + used / 4 ? MANY : FEW;
}

/* Processor time is compared, since yielding takes time of another kind. */
void nap_judge(struct nap *n, uint64_t now, uint64_t used, bool lends)
{
    const uint64_t went = now - n->went, took = used - n->used;
    n->went = now;
    n->used = used;
    if (took >= (n->sleepy ? BUSY_NS : LOOKS * LOOK_NS))
        n->quiet = 0;
    else
        n->quiet++;
    n->sleepy = n->quiet >= patience(went, took, lends);
}

/* Who waits naps at once where the program sleeps between its looks: who yields gets his turn only
 * when the others have had theirs. And where he waits for a time, as that takes long. */
bool nap_is_due(const struct nap *n, const struct crowd *c, struct nap_case is)
{
    if (is.for_time)
        return true;
    return c->rests ? is.waits || is.for_word : n->sleepy || crowd_is_here(c);
}

int nap_ms(const struct nap *n, struct nap_case is, bool has_errands)
{
    if (!is.waits)
        return ASKS_MS;
    const int most = has_errands ? ERRANDS_MOST_MS : WAITS_MOST_MS;
    const int ms = (has_errands ? ERRANDS_MS : WAITS_MS) << n->longer;
    return ms < most ? ms : most;
}

int nap_at_fence_ms(uint64_t waited)
{
    enum { MS = 1000000, PART = 32 };
    const uint64_t ms = waited / MS / PART;
    return ms < WAITS_MOST_MS ? (int)ms : WAITS_MOST_MS;
}

void nap_looked(struct nap *n, bool waits, bool slept, bool news)
{
    if (news) {
        n->quiet = n->looks = 0;
        n->sleepy = false;
    }
    if (news || !waits)
        n->longer = 0;
    else if (slept && WAITS_MS << n->longer < WAITS_MOST_MS)
        n->longer++;
}
