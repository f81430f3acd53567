/* SPDX-License-Identifier: BSD-3-Clause */
/* mailbox.c -- from PMIx's threads to this program's event loop. PMIx hands its upcalls nothing of
 * ours, so there is one mailbox, and it is here. */
#include "mailbox.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct post {
    struct post *next;
    mailbox_fn *run;
    void *work;
};

static struct {
    pthread_mutex_t lock; /* of first and last */
    struct post *first, **last;
    int signal; /* eventfd */
    struct event *event;
    struct server *server;
} mailbox = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &mailbox.first, .signal = -1};

static struct post *mailbox_take_all(void)
{
    pthread_mutex_lock(&mailbox.lock);
    struct post *all = mailbox.first;
    mailbox.first = NULL;
    mailbox.last = &mailbox.first;
    pthread_mutex_unlock(&mailbox.lock);
    return all;
}

static void mailbox_on_signal(evutil_socket_t fd, short what, void *ctx)
{
    eventfd_t ignored;
    (void)what, (void)ctx;
    eventfd_read(fd, &ignored);
    for (struct post *p = mailbox_take_all(), *next; p != NULL; p = next) {
        next = p->next;
        p->run(mailbox.server, p->work);
        free(p);
    }
}

void mailbox_post(mailbox_fn *run, void *work)
{
    struct post *p = malloc(sizeof *p);
    if (p == NULL)
        abort(); /* the caller waits for an answer that would never come */
    *p = (struct post){.run = run, .work = work};
    pthread_mutex_lock(&mailbox.lock);
    *mailbox.last = p;
    mailbox.last = &p->next;
    pthread_mutex_unlock(&mailbox.lock);
    eventfd_write(mailbox.signal, 1);
}

int mailbox_open(struct event_base *base, struct server *server)
{
    mailbox.server = server;
    mailbox.signal = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (mailbox.signal < 0)
        return -errno;
    mailbox.event = event_new(base, mailbox.signal, EV_READ | EV_PERSIST, mailbox_on_signal, NULL);
    return mailbox.event != NULL && event_add(mailbox.event, NULL) == 0 ? 0 : -ENOMEM;
}
