/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting.c -- jobs that wait for slots, in many ways: each gets them within a bound, two large
 * ones never stand in each other's way, users get even shares, and nothing is left behind; also
 * where messages are lost and desktops vanish. */
#include "overlay/base/random.h"
#include "waiting_world.h"
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENDERS = 8,
    SLOTS = 4,
    ALL = LENDERS * SLOTS,
    SECOND = 1000,
    MINUTE = 60 * SECOND,
    HOUR = 60 * MINUTE,
    SMALL_LASTS = 2 * MINUTE, /* at most */
    NOTICED_MS = 20 * SECOND, /* a desktop that is gone, at the latest */
    SLACK = 20 * SECOND, /* to notice, search and claim: a few rounds, of which some are lost */
};

struct stream {
    struct world *w;
    unsigned owner, desktop, slots, count; /* count: jobs so far */
    uint64_t shortest_ms, longest_ms, until_ms;
    bool fresh; /* each job comes of another owner, who uses nothing yet */
};

static char wrong[256];

static void stream_next(void *ctx, unsigned job)
{
    struct stream *s = ctx;
    (void)job;
    if (world_now(s->w) >= s->until_ms)
        return;
    const unsigned who = s->fresh ? s->owner + 100 * ++s->count : s->owner;
    const uint64_t range = s->longest_ms - s->shortest_ms + 1;
    world_add(s->w,
              &(struct job_setup){.owner = who,
                                  .desktop = s->fresh ? who : s->desktop,
                                  .slots = s->slots,
                                  .lasts_ms = s->shortest_ms + world_chance(s->w, range),
                                  .for_ms = 100 * (uint64_t)HOUR,
                                  .ended = stream_next,
                                  .ctx = s},
              world_now(s->w) + world_chance(s->w, SECOND));
}

static struct world *make(uint64_t seed, unsigned loss)
{
    return world_new(
        &(struct world_setup){.seed = seed, .lenders = LENDERS, .slots = SLOTS, .loss = loss});
}

/* `count` streams of small jobs, more than there is room for. */
static void flood(struct world *w, struct stream *streams, unsigned count, bool fresh,
                  uint64_t until_ms)
{
    for (unsigned i = 0; i < count; i++) {
        streams[i] = (struct stream){.w = w,
                                     .owner = 10 + i,
                                     .desktop = 10 + i,
                                     .slots = 1 + (unsigned)world_chance(w, 3),
                                     .shortest_ms = 10 * SECOND,
                                     .longest_ms = SMALL_LASTS,
                                     .until_ms = until_ms,
                                     .fresh = fresh};
        stream_next(&streams[i], 0);
    }
}

static bool complain(const char *what, uint64_t ms)
{
    snprintf(wrong, sizeof wrong, "%s: %u s", what, (unsigned)(ms / SECOND));
    return false;
}

static bool runs_within(struct world *w, unsigned job, uint64_t bound_ms, const char *what)
{
    const uint64_t end = world_now(w) + bound_ms;
    while (world_state(w, job) < JOB_RUNS && world_now(w) < end)
        world_run(w, world_now(w) + SECOND);
    return world_state(w, job) >= JOB_RUNS || complain(what, bound_ms);
}

/* All streams have ended: what waited has run, and nothing is lent, listed or on its way. */
static bool is_clean(struct world *w)
{
    world_run(w, world_now(w) + 2 * HOUR);
    for (unsigned i = 0; i < world_jobs(w); i++)
        if (world_state(w, i) == JOB_WAITS)
            return complain("at the end a job still waits", world_waited(w, i));
    if (world_lost(w) != 0)
        return complain("leases were lost of desktops that were there, until", world_now(w));
    return (world_lent(w) == 0 && world_listed(w) == 0) || complain("at the end slots are held", 0);
}

/* --- what is shown --- */

/* One that wants every slot is not passed by small ones: those that were first run, and all that
 * ran then ends. */
static bool large(uint64_t seed, unsigned loss)
{
    struct world *w = make(seed, loss);
    struct stream streams[24];
    flood(w, streams, 24, false, 20 * MINUTE);
    world_run(w, 5 * MINUTE);
    const unsigned job =
        world_add(w,
                  &(struct job_setup){
                      .owner = 1, .desktop = 1, .slots = ALL, .lasts_ms = MINUTE, .for_ms = HOUR},
                  world_now(w));
    const bool good =
        runs_within(w, job, 2 * SMALL_LASTS + SLACK, "a large job waits") && is_clean(w);
    world_free(w);
    return good;
}

/* Several that want more than half never hold a part each of what the others want. */
static bool halves(uint64_t seed, unsigned loss)
{
    enum { WAITERS = 6 };
    struct world *w = make(seed, loss);
    for (unsigned i = 0; i < WAITERS; i++)
        world_add(w,
                  &(struct job_setup){.owner = i,
                                      .desktop = i,
                                      .slots = ALL / 2 + 1 + (unsigned)world_chance(w, ALL / 2),
                                      .lasts_ms = 30 * SECOND,
                                      .for_ms = 10 * (uint64_t)HOUR},
                  world_chance(w, 200));
    bool good = true;
    world_run(w, WAITERS * (30 * SECOND + SLACK));
    for (unsigned i = 0; i < WAITERS && good; i++)
        if (world_state(w, i) < JOB_RUNS)
            good = complain("one of several large jobs waits", world_waited(w, i));
    good = good && is_clean(w);
    world_free(w);
    return good;
}

/* Users with many jobs in the list, and large ones, get no more than others. */
static bool fair(uint64_t seed, unsigned loss)
{
    enum { USERS = 4, STREAMS = 1 + 3 + 9 + 16 };
    static const unsigned streams_of[USERS] = {1, 3, 9, 16}, slots_of[USERS] = {8, 4, 2, 2};
    struct world *w = make(seed, loss);
    struct stream streams[STREAMS];
    unsigned n = 0;
    for (unsigned user = 0; user < USERS; user++)
        for (unsigned i = 0; i < streams_of[user]; i++, n++) {
            streams[n] = (struct stream){.w = w,
                                         .owner = user,
                                         .desktop = user,
                                         .slots = slots_of[user],
                                         .shortest_ms = 30 * SECOND,
                                         .longest_ms = SMALL_LASTS,
                                         .until_ms = HOUR};
            stream_next(&streams[n], 0);
        }
    world_run(w, HOUR);
    uint64_t sum = 0, least = UINT64_MAX, most = 0;
    double squares = 0;
    for (unsigned user = 0; user < USERS; user++) {
        const uint64_t work = world_work(w, user);
        sum += work;
        squares += (double)work * (double)work;
        least = work < least ? work : least;
        most = work > most ? work : most;
    }
    const double jain = (double)sum * (double)sum / (USERS * squares);
    const double used = (double)sum / ((double)ALL * HOUR);
    bool good = true;
    if (jain < 0.93 || used < 0.75) {
        snprintf(wrong, sizeof wrong,
                 "shares are uneven, or too little is used: Jain %.3f, %.0f%% used, %.2f at least "
                 "and %.2f at most of an even share",
                 jain, 100 * used, (double)least * USERS / (double)sum,
                 (double)most * USERS / (double)sum);
        good = false;
    }
    good = good && is_clean(w);
    world_free(w);
    return good;
}

/* An owner of much waits longer than one of nothing, and not for ever. */
static bool aging(uint64_t seed, unsigned loss)
{
    struct world *w = make(seed, loss);
    struct stream streams[24];
    const struct job_setup much = {
        .owner = 1, .desktop = 1, .slots = 16, .lasts_ms = 3 * HOUR, .for_ms = 4 * HOUR};
    struct job_setup more = much;
    more.slots = 8;
    more.lasts_ms = MINUTE;
    world_add(w, &much, 0);
    world_run(w, MINUTE);
    flood(w, streams, 24, true, 30 * MINUTE);
    world_run(w, 5 * MINUTE);
    const unsigned job = world_add(w, &more, world_now(w));
    const bool good =
        runs_within(w, job, 6 * WAIT_AGE_MS + SMALL_LASTS + SLACK, "who uses much waits");
    world_free(w);
    return good;
}

/* One that can never have what it wants, and slots that never come free, do not stop the others. */
static bool passed(uint64_t seed, unsigned loss)
{
    struct world *w = make(seed, loss);
    const bool ever = world_chance(w, 2) == 0;
    const struct job_setup service = {
        .owner = 1, .desktop = 1, .slots = 1, .lasts_ms = 9 * HOUR, .for_ms = HOUR};
    const struct job_setup huge = {.owner = 2,
                                   .desktop = 2,
                                   .slots = ever ? ALL : ALL + 1,
                                   .lasts_ms = MINUTE,
                                   .for_ms = 2 * HOUR};
    const struct job_setup small = {
        .owner = 3, .desktop = 3, .slots = 2, .lasts_ms = MINUTE, .for_ms = HOUR};
    if (ever)
        world_add(w, &service, 0);
    world_run(w, MINUTE);
    world_add(w, &huge, world_now(w));
    world_run(w, 2 * MINUTE);
    const unsigned job = world_add(w, &small, world_now(w));
    const bool good = runs_within(w, job, (ever ? WAIT_HOLD_MS : SLACK) + SLACK,
                                  ever ? "behind one that waits in vain, a small job waits"
                                       : "behind one that wants too much, a small job waits");
    world_free(w);
    return good;
}

/* Desktops vanish and come back, jobs are cancelled, submitters die: all others get their slots. */
static bool churn(uint64_t seed, unsigned loss)
{
    struct world *w = make(seed, loss);
    struct stream streams[16];
    bool there[LENDERS], good = true;
    memset(there, true, sizeof there);
    flood(w, streams, 16, false, 20 * MINUTE);
    for (unsigned i = 0; i < 60; i++) {
        const unsigned lender = (unsigned)world_chance(w, LENDERS / 2);
        const unsigned job = (unsigned)world_chance(w, world_jobs(w));
        world_run(w, world_now(w) + NOTICED_MS);
        for (unsigned k = 0; k < LENDERS; k++)
            if (!there[k] && world_held(w, k) != 0)
                good = complain("slots of a desktop that is gone are held", NOTICED_MS);
        world_lender(w, lender, there[lender] = !there[lender]);
        if (i % 3 == 0)
            world_cancel(w, job);
        if (i % 7 == 0 && world_state(w, job) == JOB_WAITS)
            world_kill_job(w, job);
        if (i % 10 == 0)
            world_add(w,
                      &(struct job_setup){.owner = 1000 + i,
                                          .desktop = 1000 + i,
                                          .slots = ALL / 2,
                                          .lasts_ms = MINUTE,
                                          .for_ms = HOUR},
                      world_now(w));
    }
    for (unsigned i = 0; i < LENDERS; i++)
        if (!there[i])
            world_lender(w, i, true);
    good = is_clean(w) && good;
    world_free(w);
    return good;
}

/* --- all of it --- */

static const struct {
    const char *name;
    bool (*shows)(uint64_t seed, unsigned loss);
} sorts[] = {{"large", large}, {"halves", halves}, {"fair", fair},
             {"aging", aging}, {"passed", passed}, {"churn", churn}};

struct options {
    unsigned long seed, seeds;
    const char *only;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct options *o = state->input;
    if (key == 's')
        o->seed = strtoul(value, NULL, 0);
    else if (key == 'n')
        o->seeds = strtoul(value, NULL, 0);
    else if (key == 'o')
        o->only = value;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static bool show(const struct options *o, unsigned sort)
{
    for (unsigned long i = 0; i < o->seeds; i++) {
        const unsigned loss = i % 2 == 0 ? 0 : 30;
        if (sorts[sort].shows(o->seed + i, loss))
            continue;
        printf("%s\nreplay: test/sim/waiting --only %s --seed %lu --seeds 2\n", wrong,
               sorts[sort].name, o->seed + i - i % 2);
        return false;
    }
    printf("%s: %lu seeds\n", sorts[sort].name, o->seeds);
    return true;
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"seed", 's', "N", 0, "the first one (1)", 0},
        {"seeds", 'n', "N", 0, "so many, every second one with messages that are lost (4)", 0},
        {"only", 'o', "NAME", 0, "large, halves, fair, aging, passed or churn", 0},
        {0}};
    const struct argp argp = {
        .options = options, .parser = parse, .doc = "Jobs that wait for slots."};
    struct options o = {.seed = 1, .seeds = 4};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    bool good = true;
    for (unsigned i = 0; i < sizeof sorts / sizeof sorts[0]; i++)
        if (o.only == NULL || strcmp(o.only, sorts[i].name) == 0)
            good = show(&o, i) && good;
    return good ? 0 : 1;
}
