/* SPDX-License-Identifier: BSD-3-Clause */
/* preload_clock.c -- the clocks, where the program reads them: the leader's.
 *
 * Programs seed their random numbers with the wall clock, Fortran's by its own (SYSTEM_CLOCK, which
 * is the steady one), stop after so many seconds, or share out their work by the time that it took.
 * Lanes that did so by their own clocks would diverge. Only calls from the program itself, its
 * libraries that use MPI and those of its language are taken: what Open MPI and other libraries ask
 * for is their own business, and differs from lane to lane. */
#include "caller.h"
#include "preload.h"
#include "src/common/began.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

extern struct preload_questions p2pgrid_preload_questions;
static const struct preload_questions *const ask = &p2pgrid_preload_questions;

enum { NS_IN_S = 1000000000, STEP_NS = NS_IN_S / 128 };

static int64_t ns_of(const struct timespec *t)
{
    return (int64_t)t->tv_sec * NS_IN_S + t->tv_nsec;
}

static struct timespec time_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_IN_S, .tv_nsec = ns % NS_IN_S};
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec t = {0};
    STOCK(clock_gettime)(clock, &t);
    return ns_of(&t);
}

/* False: it is not the program that asks. */
static bool clock_tell(enum preload_clock which, int64_t *ns)
{
    const int before = errno;
    double time = (double)*ns / NS_IN_S;
    const bool told = ask->clock(which, &time);
    if (told)
        *ns = (int64_t)(time * NS_IN_S + 0.5);
    errno = before;
    return told;
}

/* --- the wall clock --- */

/* Before MPI_Init nobody can be asked, but programs seed with the time there, too. What all lanes
 * know is when mpirun began: so the time stands still, except for a microsecond each time that it
 * is asked for, and not for long, as a program may wait for it. */
static struct {
    int64_t last_ns;  /* what was given last; 0: not known */
    int64_t until_ns; /* by the steady clock */
} early;

__attribute__((constructor)) static void early_begin(void)
{
    enum { LONGEST_S = 10 };
    long seconds, ns;
    const char *text = getenv(BEGAN_VARIABLE), *asked = getenv("OMPI_MCA_pml_replica_clock");
    if (text == NULL || sscanf(text, "%ld.%9ld", &seconds, &ns) != 2 || ns < 0 || seconds <= 0 ||
        (asked != NULL && strcmp(asked, "0") == 0))
        return;
    early.last_ns = seconds * NS_IN_S + ns;
    early.until_ns = now_ns(CLOCK_MONOTONIC) + (int64_t)LONGEST_S * NS_IN_S;
}

static bool early_is_asked(void)
{
    return early.last_ns != 0 && !ask->has_begun && program_is_mpi() && thread_is_first() &&
           now_ns(CLOCK_MONOTONIC) < early.until_ns;
}

/* False: the process's own time is to be given. */
static bool wall_tell(int64_t *ns, const void *caller)
{
    if (caller_of(caller) == CALLER_OTHER)
        return false;
    if (ask->clock == NULL && early_is_asked()) {
        *ns = early.last_ns += 1000;
        return true;
    }
    if (ask->clock == NULL || !clock_tell(PRELOAD_WALL, ns))
        return false;
    if (*ns < early.last_ns) /* mpirun's host is ahead of the leader's */
        *ns = early.last_ns;
    return true;
}

time_t time(time_t *out)
{
    /* the coarse one: seconds begin with it for time(), too */
    int64_t ns = now_ns(CLOCK_REALTIME_COARSE);
    wall_tell(&ns, CALLER);
    if (out != NULL)
        *out = ns / NS_IN_S;
    return ns / NS_IN_S;
}

int gettimeofday(struct timeval *out, void *zone)
{
    int rc = STOCK(gettimeofday)(out, zone);
    if (rc != 0)
        return rc;
    int64_t ns = (int64_t)out->tv_sec * NS_IN_S + (int64_t)out->tv_usec * 1000;
    if (wall_tell(&ns, CALLER))
        *out = (struct timeval){.tv_sec = ns / NS_IN_S, .tv_usec = ns % NS_IN_S / 1000};
    return rc;
}

int timespec_get(struct timespec *out, int base)
{
    int rc = STOCK(timespec_get)(out, base);
    int64_t ns = rc == TIME_UTC ? ns_of(out) : 0;
    if (rc == TIME_UTC && wall_tell(&ns, CALLER))
        *out = time_of(ns);
    return rc;
}

/* --- clocks that run from some moment on --- */

/* A program that waits for its own threads or children looks at the clock as often as it happens
 * to, so from the first one on these clocks are its own. So they are in Python and in libraries,
 * which wait for much by them. The library of Fortran waits for nothing. */
static bool run_is_asked(const void *caller)
{
    const enum caller who = caller_of(caller);
    return ask->clock != NULL && program_is_mpi() &&
           (who == CALLER_FORTRAN || (who >= CALLER_PROGRAM && !program_has_helpers()));
}

/* What is counted by this clock, and nobody waits by. */
struct count {
    bool is_early;   /* it was looked at before MPI_Init */
    int64_t more_ns; /* what the program had minus the own clock, at the last look */
};

/* The kernel waits by this clock. So what the program has of it differs from its own by little:
 * what is the same in all lanes is the time between two looks, in seconds with a fraction, too, as
 * steps are one of a power of two. Counts of Fortran and OpenMP are the same themselves, as
 * programs seed with them, unless they were looked at before MPI_Init. */
static struct steady {
    bool known;
    int64_t ahead_ns; /* the leader's clock minus the own one at the first look, in steps */
    int64_t late_ns;  /* the own one minus what the program had, at the last look */
    struct count fortran, openmp, ticks;
} steady, raw;

/* count: what is asked for; NULL: the clock itself. */
static bool steady_tell(struct steady *s, struct count *count, int64_t *ns, const void *caller)
{
    int64_t told = *ns;
    if (!run_is_asked(caller) || !clock_tell(s == &raw ? PRELOAD_RAW : PRELOAD_STEADY, &told)) {
        if (count == NULL || caller_of(caller) < CALLER_PROGRAM)
            return false;
        count->is_early = count->is_early || !ask->has_begun;
        *ns += count->more_ns;
        return true;
    }
    if (!s->known) {
        s->ahead_ns = (told - *ns) / STEP_NS * STEP_NS;
        s->known = true;
    }
    const int64_t given = count != NULL && !count->is_early ? told : told - s->ahead_ns;
    if (count != NULL)
        count->more_ns = given - *ns;
    else
        s->late_ns = *ns - given;
    *ns = given;
    return true;
}

/* Until a moment by the clock that the program had: as long as it thinks. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                    struct timespec *remains)
{
    struct timespec own = *until;
    if (clock == CLOCK_MONOTONIC && (flags & TIMER_ABSTIME) != 0 && until->tv_nsec >= 0 &&
        until->tv_nsec < NS_IN_S && run_is_asked(CALLER) && thread_is_first() &&
        ns_of(until) > -steady.late_ns)
        own = time_of(ns_of(until) + steady.late_ns);
    return STOCK(clock_nanosleep)(clock, flags, &own, remains);
}

static bool run_tell(clockid_t clock, int64_t *ns, const void *caller)
{
    struct steady *s = clock == CLOCK_MONOTONIC_RAW ? &raw : &steady;
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        return wall_tell(ns, caller);
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
        return steady_tell(s, caller_of(caller) == CALLER_FORTRAN ? &s->fortran : NULL, ns, caller);
    case CLOCK_PROCESS_CPUTIME_ID:
        return run_is_asked(caller) && clock_tell(PRELOAD_USED, ns);
    case CLOCK_THREAD_CPUTIME_ID:
        return run_is_asked(caller) && clock_tell(PRELOAD_USED_BY_THREAD, ns);
    default:
        return false;
    }
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int rc = STOCK(clock_gettime)(clock, t);
    if (rc != 0)
        return rc;
    int64_t ns = ns_of(t);
    if (run_tell(clock, &ns, CALLER))
        *t = time_of(ns);
    return rc;
}

/* OpenMP's, for C and for Fortran. */
double omp_get_wtime(void);
double omp_get_wtime_(void);

static double steady_seconds(const void *caller)
{
    int64_t ns = now_ns(CLOCK_MONOTONIC);
    steady_tell(&steady, &steady.openmp, &ns, caller);
    return (double)ns / NS_IN_S;
}

double omp_get_wtime(void)
{
    return steady_seconds(CALLER);
}

double omp_get_wtime_(void)
{
    return steady_seconds(CALLER);
}

/* --- what was used so far --- */

clock_t clock(void)
{
    int64_t ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (run_is_asked(CALLER))
        clock_tell(PRELOAD_USED, &ns);
    return (clock_t)(ns / (NS_IN_S / CLOCKS_PER_SEC));
}

static bool is_later(const struct timeval *a, const struct timeval *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_usec > b->tv_usec;
}

/* When the leader has died: not less than before. */
static void used_keep(struct rusage *used, const struct rusage *last)
{
    if (is_later(&last->ru_utime, &used->ru_utime))
        used->ru_utime = last->ru_utime;
    if (is_later(&last->ru_stime, &used->ru_stime))
        used->ru_stime = last->ru_stime;
    if (last->ru_maxrss > used->ru_maxrss)
        used->ru_maxrss = last->ru_maxrss;
}

int getrusage(__rusage_who_t who, struct rusage *out)
{
    static struct rusage last;
    int rc = STOCK(getrusage)(who, out);
    if (rc != 0 || who != RUSAGE_SELF || !run_is_asked(CALLER))
        return rc;
    struct rusage used = *out;
    used_keep(&used, &last);
    if (ask->fact(&used, sizeof used))
        *out = last = used;
    return rc;
}

/* Its count begins where the kernel likes. */
clock_t times(struct tms *out)
{
    static clock_t begin;
    static bool known;
    const clock_t own = STOCK(times)(out);
    const int64_t tick_ns = NS_IN_S / sysconf(_SC_CLK_TCK);
    int64_t now = now_ns(CLOCK_MONOTONIC), used = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (own == (clock_t)-1 || !run_is_asked(CALLER) ||
        !steady_tell(&steady, &steady.ticks, &now, CALLER))
        return own;
    if (!known)
        begin = own - (clock_t)(now / tick_ns);
    known = true;
    if (out != NULL && clock_tell(PRELOAD_USED, &used)) {
        out->tms_utime = (clock_t)(used / tick_ns);
        out->tms_stime = 0;
    }
    return begin + (clock_t)(now / tick_ns);
}
