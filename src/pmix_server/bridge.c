/* SPDX-License-Identifier: BSD-3-Clause */
/* bridge.c -- from PMIx's threads to this program's event loop. PMIx hands its upcalls nothing of
 * ours, so there is one bridge, and it is here. */
#include "bridge.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct post {
    struct post *next;
    bridge_fn *run;
    void *work;
};

static struct {
    pthread_mutex_t lock; /* of first and last */
    struct post *first, **last;
    int signal; /* eventfd */
    struct event *event;
    struct face *face;
} bridge = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &bridge.first, .signal = -1};

static struct post *take(void)
{
    pthread_mutex_lock(&bridge.lock);
    struct post *all = bridge.first;
    bridge.first = NULL;
    bridge.last = &bridge.first;
    pthread_mutex_unlock(&bridge.lock);
    return all;
}

static void on_signal(evutil_socket_t fd, short what, void *ctx)
{
    eventfd_t ignored;
    (void)what, (void)ctx;
    eventfd_read(fd, &ignored);
    for (struct post *p = take(), *next; p != NULL; p = next) {
        next = p->next;
        p->run(bridge.face, p->work);
        free(p);
    }
}

void bridge_post(bridge_fn *run, void *work)
{
    struct post *p = malloc(sizeof *p);
    if (p == NULL)
        abort(); /* the caller waits for an answer that would never come */
    *p = (struct post){.run = run, .work = work};
    pthread_mutex_lock(&bridge.lock);
    *bridge.last = p;
    bridge.last = &p->next;
    pthread_mutex_unlock(&bridge.lock);
    eventfd_write(bridge.signal, 1);
}

int bridge_open(struct event_base *base, struct face *face)
{
    bridge.face = face;
    bridge.signal = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (bridge.signal < 0)
        return -errno;
    bridge.event = event_new(base, bridge.signal, EV_READ | EV_PERSIST, on_signal, NULL);
    return bridge.event != NULL && event_add(bridge.event, NULL) == 0 ? 0 : -ENOMEM;
}

void bridge_close(void)
{
    if (bridge.event != NULL)
        event_free(bridge.event);
    close(bridge.signal);
}
