/* SPDX-License-Identifier: BSD-3-Clause */
/* backoff.c -- judges every few dozen polls; a sleepy thread, at each. */
#include "backoff.h"

enum { TESTS_MS = 1, WAITS_MS = 8, WAITS_MOST_MS = 64, TIMED_MS = 4, TIMED_MOST_MS = 8 };
enum { MEETING_NS = 40000000 };
enum { POLLS = 32, POLLS_A_TURN = 8, POLL_NS = 4000, BUSY_NS = 100000 };
/* A program that tests works if it is out of MPI for one in so much of its time. */
enum { OUT_PART = 4 };
enum { AWAKE_PART = 4 }; /* so many times as long as it sleeps, a program that tests is awake */

bool backoff_poll(struct backoff *n, bool only)
{
    n->polls += only ? POLLS_A_TURN : 1;
    const bool due = n->polls >= POLLS;
    n->polls %= POLLS;
    return n->sleepy || due;
}

bool backoff_meets(struct meeting *m, unsigned connections, uint64_t now)
{
    if (m->until == 0 || m->connections != connections)
        *m = (struct meeting){.connections = connections, .until = now + MEETING_NS};
    return now < m->until;
}

enum { ONE = 1, FEW = 4, MORE = 64, MANY = 1024 }; /* rounds of polls */

/* A peer that copies answers at once, and waking up takes longer than waiting for it; except on a
 * processor that others want, too. In a crowd they may want it although this thread runs there
 * alone: the kernel takes one that polls for one that computes, and brings none from another
 * processor before it sleeps. */
static unsigned backoff_patience(struct backoff_case is, bool tests, bool is_alone,
                                 bool is_being_read)
{
    if (is.meets && !is_being_read && !tests)
        return ONE;
    if (is.crowd)
        return FEW;
    if (is_alone)
        return is_being_read ? MANY : MORE;
    return tests ? MORE : FEW;
}

/* What a program does between its tests may be all that it does: for four times as long as it has
 * slept it goes on without. */
static bool backoff_makes_up(const struct backoff *n, uint64_t now)
{
    return now - n->woke < AWAKE_PART * n->nap;
}

void backoff_slept_in_test(struct backoff *n, uint64_t now, uint64_t took)
{
    n->woke = now;
    n->nap = took;
    n->sleepy = false; /* until the next judgement */
}

/* Processor time is compared, since yielding takes time of another kind. Who else has run is not
 * known of a time in which this thread slept, nor of a first round whether the program works. */
void backoff_judge(struct backoff *n, struct backoff_case is, uint64_t now, uint64_t used,
                   bool is_being_read)
{
    const uint64_t went = now - n->went, took = used - n->used;
    const bool is_alone = n->slept || went < took + took / 4;
    const bool tests = !is.waits && !is.for_word, counted = n->counts;
    const bool is_busy = took >= (n->sleepy ? BUSY_NS : POLLS * POLL_NS) ||
                         (tests && counted && n->out >= took / OUT_PART);
    n->went = now;
    n->used = used;
    n->slept = false;
    n->quiet = is_busy ? 0 : n->quiet + 1;
    n->counts = tests && !is_busy;
    n->out = 0;
    n->sleepy = !is_busy &&
                (n->sleepy || n->quiet >= backoff_patience(is, tests, is_alone, is_being_read)) &&
                (!tests || (counted && !backoff_makes_up(n, now)));
}

/* A wait sleeps at once where the program sleeps between its polls: a thread that yields runs again
 * only when all others have had a turn. And where it waits for a time, as that takes long. */
bool backoff_is_due(const struct backoff *n, const struct contention *c, struct backoff_case is)
{
    if (is.for_time)
        return true;
    return c->rests ? is.waits || is.for_word : n->sleepy || contention_is_here(c);
}

int backoff_ms(const struct backoff *n, struct backoff_case is, bool has_timed_work)
{
    if (!is.waits)
        return TESTS_MS;
    const int most = has_timed_work ? TIMED_MOST_MS : WAITS_MOST_MS;
    const int ms = (has_timed_work ? TIMED_MS : WAITS_MS) << n->longer;
    return ms < most ? ms : most;
}

int backoff_at_fence_ms(uint64_t waited)
{
    enum { MS = 1000000, PART = 32 };
    if (waited < MS)
        return 0;
    const uint64_t part = waited / MS / PART, ms = part > 1 ? part : 1;
    return ms < WAITS_MOST_MS ? (int)ms : WAITS_MOST_MS;
}

void backoff_works(struct backoff *n)
{
    n->quiet = n->polls = 0;
    n->sleepy = n->counts = false;
}

void backoff_polled(struct backoff *n, bool waits, bool slept, bool news)
{
    n->slept |= slept;
    if (news)
        backoff_works(n);
    if (news || !waits)
        n->longer = 0;
    else if (slept && WAITS_MS << n->longer < WAITS_MOST_MS)
        n->longer++;
}
