/* SPDX-License-Identifier: BSD-3-Clause */
/* next.c -- the daemon of the version after this one: p2pd's own code, whose `ping` has one field
 * more and which has one message more, `next_word` (test/wire/local.mk). It says both to all its
 * links, every second, and logs what it hears of them.
 *
 *     next --config FILE                       speaks versions WIRE_LOWEST to WIRE_HIGHEST
 *     NEXT_LOWEST=90 NEXT_HIGHEST=99 next ...   other ones, whatever they are */
#define main p2pd_main
#define dispatch_open next_dispatch_open
#define links_open next_links_open
int p2pd_main(int argc, char **argv);
#include "overlay/daemon/daemon.c"
#include "overlay/daemon/main.c"
#undef links_open
#undef dispatch_open
#undef main
#include "overlay/transport/link_state.h"
#include "overlay/wire/version.h"
#include "overlay/base/log.h"
#include "overlay/crypto/identity.h"
#include <event2/event.h>

void dispatch_open(struct daemon *d);
int links_open(struct links **out, struct event_base *base, const struct settings *settings,
               const struct identity *identity, struct log *log, struct err *e);

enum { WORD = 4711, EXTRA = 42 };

static struct next {
    struct node *node;
    links_receive_fn *others;
    struct event *timer;
} next;

static void next_say(evutil_socket_t fd, short what, void *ctx)
{
    struct message m = {.kind = MSG_ping, .ping = {.token = 0, .extra = EXTRA}};
    (void)fd, (void)what, (void)ctx;
    links_spread(next.node->links, &m, NULL);
    m = (struct message){.kind = MSG_next_word, .next_word.number = WORD};
    links_spread(next.node->links, &m, NULL);
}

static bool next_receive(void *ctx, const struct link_peer *from, const struct message *m)
{
    if (m->kind == MSG_next_word)
        log_info(next.node->log, "next: version %u: word %u from %s", from->version,
                 m->next_word.number, from->card->name);
    else if (m->kind == MSG_ping && m->ping.token == 0)
        log_info(next.node->log, "next: version %u: ping with %u from %s", from->version,
                 m->ping.extra, from->card->name);
    return m->kind == MSG_next_word || next.others(ctx, from, m);
}

/* Before the first link is dialled, which the ring may do while it is opened. */
int next_links_open(struct links **out, struct event_base *base, const struct settings *settings,
                    const struct identity *identity, struct log *log, struct err *e)
{
    const char *lowest = getenv("NEXT_LOWEST"), *highest = getenv("NEXT_HIGHEST");
    int rc = links_open(out, base, settings, identity, log, e);
    if (rc == 0 && lowest != NULL && highest != NULL) {
        (*out)->hello.lowest = (uint8_t)atoi(lowest);
        (*out)->hello.highest = (uint8_t)atoi(highest);
    }
    return rc;
}

void next_dispatch_open(struct daemon *d)
{
    struct node *node = &d->node;
    dispatch_open(d);
    next = (struct next){.node = node, .others = node->links->receive};
    links_on_message(node->links, next_receive, node->links->receive_ctx);
    next.timer = event_new(node->base, -1, EV_PERSIST, next_say, NULL);
    event_add(next.timer, &(struct timeval){.tv_sec = 1});
}

int main(int argc, char **argv)
{
    return p2pd_main(argc, argv);
}
