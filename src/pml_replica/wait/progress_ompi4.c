/* SPDX-License-Identifier: BSD-3-Clause */
/* progress_ompi4.c -- a thread that looks after the links while the program computes.
 *
 * Others wait for this process although its program does not: a leader until its decisions are held
 * here, a sender for room in its log, anybody for a sign of life. The attendant does all that an
 * MPI call would do for them, but completes no request: what it finds done is left for the
 * program's next call, so that Open MPI is called by the program's thread alone.
 *
 * It looks up 100 times a second, sees from a counter whether the program has looked at the links
 * since, and only when it has not does it begin to listen. Calls alone do not count: one that asks
 * for the time, or that follows a word that is here already, does not look. Then it looks up when
 * something urgent comes, or when the clocks want to be looked at. All that is seldom, and seldomer
 * while the program sleeps at the links: each time takes some from who computes there. */
#include "src/pml_replica/glue.h"
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LOOK_MS = 10, LOOK_MOST_MS = 40, CLOCKS_MS = 80 };

/* Once around; true: there is more to do. */
static bool attend(void)
{
    if (!turn_take(&replica.turn))
        return false;
    replica.attending = true;
    bool more = link_attend();
    replica.attending = false;
    turn_give(&replica.turn);
    return more;
}

static void *live(void *arg)
{
    (void)arg;
    struct pollfd p[] = {{.fd = replica.attendant_end, .events = POLLIN},
                         {.fd = transport_descriptor(replica.transport), .events = POLLIN}};
    uint64_t seen = 0;
    bool away = false, more = false;
    int look_ms = LOOK_MS;
    while (poll(p, away ? 2 : 1, more ? 0 : away ? CLOCKS_MS : look_ms) <= 0 || p[0].revents == 0) {
        away = turn_is_away(&replica.turn, &seen);
        if (away || !turn_is_idle(&replica.turn))
            look_ms = LOOK_MS;
        else if (look_ms < LOOK_MOST_MS)
            look_ms *= 2;
        more = away && attend();
    }
    return NULL;
}

/* Without it everything is right, too, only later. The program's signals are not its business. */
void attendant_start(void)
{
    sigset_t all, before;
    replica.attendant_end = eventfd(0, EFD_CLOEXEC);
    if (replica.attendant_end < 0)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    replica.has_attendant = pthread_create(&replica.attendant, NULL, live, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void attendant_stop(void)
{
    const uint64_t one = 1;
    if (replica.has_attendant && write(replica.attendant_end, &one, sizeof one) == sizeof one)
        pthread_join(replica.attendant, NULL);
    replica.has_attendant = false;
    if (replica.attendant_end >= 0)
        close(replica.attendant_end);
    replica.attendant_end = -1;
}
