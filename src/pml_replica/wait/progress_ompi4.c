/* SPDX-License-Identifier: BSD-3-Clause */
/* progress_ompi4.c -- a thread that polls the links while the program computes.
 *
 * Others wait for this process although its program does not: a leader until its decisions are held
 * here, a sender for room in its log, any process for a sign of life. The progress thread does all
 * that an MPI call would do for them, but completes no request: what it finds done is left for the
 * program's next call, so that Open MPI is called by the program's thread alone.
 *
 * It wakes up 100 times a second, sees from a counter whether the program has polled the links
 * since, and only when it has not does it begin to listen. Calls alone do not count: one that asks
 * for the time, or that follows a decision that is here already, does not poll. Then it wakes up
 * when something urgent comes, or when the clocks have to be looked at. All that is seldom, and
 * seldomer while the program sleeps at the links: each time takes processor time from those that
 * compute there. */
#include "src/pml_replica/glue.h"
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { POLL_MS = 10, POLL_MOST_MS = 40, CLOCKS_MS = 80 };

/* One round; true: there is more to do. */
static bool progress_once(void)
{
    if (!biased_lock_try(&replica.links_lock))
        return false;
    replica.in_progress_thread = true;
    bool more = link_progress_beside();
    replica.in_progress_thread = false;
    biased_lock_release(&replica.links_lock);
    return more;
}

static void *progress_run(void *arg)
{
    (void)arg;
    struct pollfd p[] = {{.fd = replica.progress_end, .events = POLLIN},
                         {.fd = transport_descriptor(replica.transport), .events = POLLIN}};
    uint64_t seen = 0;
    bool away = false, more = false;
    int poll_ms = POLL_MS;
    while (poll(p, away ? 2 : 1, more ? 0 : away ? CLOCKS_MS : poll_ms) <= 0 || p[0].revents == 0) {
        away = biased_lock_is_away(&replica.links_lock, &seen);
        if (away || !biased_lock_is_idle(&replica.links_lock))
            poll_ms = POLL_MS;
        else if (poll_ms < POLL_MOST_MS)
            poll_ms *= 2;
        more = away && progress_once();
    }
    return NULL;
}

/* Without it everything is right too, only later. The program's signals are not its business. */
void progress_start(void)
{
    sigset_t all, before;
    replica.progress_end = eventfd(0, EFD_CLOEXEC);
    if (replica.progress_end < 0)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    replica.has_progress = pthread_create(&replica.progress_thread, NULL, progress_run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_stop(void)
{
    const uint64_t one = 1;
    if (replica.has_progress && write(replica.progress_end, &one, sizeof one) == sizeof one)
        pthread_join(replica.progress_thread, NULL);
    replica.has_progress = false;
    if (replica.progress_end >= 0)
        close(replica.progress_end);
    replica.progress_end = -1;
}
