/* SPDX-License-Identifier: BSD-3-Clause */
/* contact.c -- dials the contacts until the ring is found, and periodically after that, so that a
 * ring that was cut in two merges again. In a small ring each peer does so often; in a large ring
 * each does so rarely, which together is as often. */
#include "contact.h"
#include "overlay/base/addr.h"
#include "overlay/node/node.h"
#include "overlay.h"
#include "overlay/transport/link.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_MS = 200, LONGEST_MS = 30000, SMALL_MS = 20000, LARGE_MS = 300000, POLL_MS = 50 };

/* One address of the settings. A name is resolved in a thread of the C library's, since that may
 * take seconds, from all sources of nsswitch.conf; and again for each try, as desktops move. */
struct contact {
    struct gaicb request; /* must stay where it is until done */
    struct addrinfo hints;
    char host[ADDR_HOST + 1];
    uint16_t port;
    bool resolving;
};

struct contacts {
    struct node *node;
    struct overlay *overlay;
    struct event *timer, *poll;
    contacts_found_fn *found;
    void *ctx;
    int wait_ms;
    bool answered;   /* a contact has, since the last try */
    bool found_once; /* from then on failures are not logged */
    unsigned count;
    struct contact all[SETTINGS_JOIN];
};

static void contact_on_met(void *ctx, const struct addr *at, const struct link_peer *who,
                           const char *why)
{
    struct contacts *c = ctx;
    char where[ADDR_TEXT + 1];
    addr_text(at, where);
    c->answered = c->answered || who != NULL;
    if (who != NULL)
        c->found(c->ctx, &who->peer);
    else if (!c->found_once)
        log_info(c->node->log, "no contact at %s: %s", where, why);
}

static void contact_dial(struct contacts *c, const struct addr *at)
{
    struct part_peer self = links_self(c->node->links);
    if (!addr_equal(at, &self.addr))
        links_meet(c->node->links, at, contact_on_met, c);
}

static void contact_resolve(struct contact *one)
{
    struct gaicb *request = &one->request;
    one->hints = (struct addrinfo){.ai_socktype = SOCK_STREAM};
    one->request = (struct gaicb){.ar_name = one->host, .ar_request = &one->hints};
    one->resolving = getaddrinfo_a(GAI_NOWAIT, &request, 1, NULL) == 0;
}

static void try_one(struct contacts *c, struct contact *one)
{
    struct addr at = {.port = one->port};
    if (one->resolving)
        return;
    if (addr_parse_ip(&at, one->host)) {
        contact_dial(c, &at);
        return;
    }
    contact_resolve(one);
    event_add(c->poll, &(struct timeval){.tv_usec = POLL_MS * 1000});
}

/* A name may stand for several desktops: all are tried. */
static void take_names(struct contacts *c, struct contact *one)
{
    struct addr at;
    for (const struct addrinfo *i = one->request.ar_result; i != NULL; i = i->ai_next) {
        if (!addr_from_sock(&at, i->ai_addr))
            continue;
        at.port = one->port;
        contact_dial(c, &at);
    }
    freeaddrinfo(one->request.ar_result);
}

static void contact_on_poll(evutil_socket_t fd, short what, void *ctx)
{
    struct contacts *c = ctx;
    bool more = false;
    (void)fd, (void)what;
    for (unsigned i = 0; i < c->count; i++) {
        struct contact *one = &c->all[i];
        int rc = one->resolving ? gai_error(&one->request) : EAI_CANCELED;
        if (rc == EAI_INPROGRESS) {
            more = true;
        } else if (one->resolving) {
            one->resolving = false;
            if (rc == 0)
                take_names(c, one);
            else
                log_info(c->node->log, "no contact at %s: %s", one->host, gai_strerror(rc));
        }
    }
    if (more)
        event_add(c->poll, &(struct timeval){.tv_usec = POLL_MS * 1000});
}

static void contacts_wait(struct contacts *c, int ms)
{
    event_add(c->timer, &(struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000});
}

/* Between half and one and a half times as long, so that not all peers try at once. */
static int again_ms(const struct contacts *c)
{
    int ms = overlay_is_small(c->overlay) ? SMALL_MS : LARGE_MS;
    return ms / 2 + (int)randombytes_uniform((uint32_t)ms);
}

static void contact_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct contacts *c = ctx;
    (void)fd, (void)what;
    bool done = c->answered;
    c->found_once = c->found_once || done;
    c->answered = false;
    for (unsigned i = 0; i < c->count; i++)
        try_one(c, &c->all[i]);
    c->wait_ms = 2 * c->wait_ms < LONGEST_MS ? 2 * c->wait_ms : LONGEST_MS;
    contacts_wait(c, done ? again_ms(c) : c->wait_ms);
}

static bool is_resolving(const struct contacts *c)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->all[i].resolving)
            return true;
    return false;
}

void contacts_try(struct contacts *c)
{
    const struct settings *s = &c->node->settings;
    c->wait_ms = FIRST_MS;
    c->answered = c->found_once = false;
    if (!is_resolving(c)) {
        c->count = (unsigned)s->join_count;
        for (unsigned i = 0; i < c->count; i++)
            addr_split(s->join[i], SETTINGS_PORT, c->all[i].host, &c->all[i].port, NULL);
    }
    if (c->count > 0)
        contacts_wait(c, 0);
}

int contacts_open(struct contacts **out, struct node *node, struct overlay *overlay,
                  contacts_found_fn *found, void *ctx)
{
    struct contacts *c = calloc(1, sizeof *c);
    if (c == NULL)
        return -ENOMEM;
    c->node = node;
    c->overlay = overlay;
    c->found = found;
    c->ctx = ctx;
    c->timer = evtimer_new(node->base, contact_on_time, c);
    c->poll = evtimer_new(node->base, contact_on_poll, c);
    if (c->timer == NULL || c->poll == NULL) {
        contacts_close(c);
        return -ENOMEM;
    }
    *out = c;
    return 0;
}

void contacts_close(struct contacts *c)
{
    if (c == NULL)
        return;
    links_forget_met(c->node->links, c);
    if (c->timer != NULL)
        event_free(c->timer);
    if (c->poll != NULL)
        event_free(c->poll);
    for (unsigned i = 0; i < c->count; i++) {
        struct contact *one = &c->all[i];
        const struct gaicb *wait[] = {&one->request};
        while (one->resolving && gai_cancel(&one->request) == EAI_NOTCANCELED &&
               gai_error(&one->request) == EAI_INPROGRESS)
            gai_suspend(wait, 1, NULL);
        if (one->resolving && gai_error(&one->request) == 0)
            freeaddrinfo(one->request.ar_result);
    }
    free(c);
}

/* --- the list on disk: `ID ADDRESS` a line --- */

static int list_path(const struct node *node, const char *file, char out[SETTINGS_PATH + 16])
{
    return snprintf(out, SETTINGS_PATH + 16, "%s/%s", node->settings.state, file);
}

void contacts_save(struct node *node, const struct part_peer *peers, unsigned count)
{
    char path[SETTINGS_PATH + 16], fresh[SETTINGS_PATH + 16];
    list_path(node, "peers", path);
    list_path(node, "peers.new", fresh);
    FILE *f = fopen(fresh, "we");
    if (f == NULL)
        return;
    for (unsigned i = 0; i < count; i++) {
        char id[ID_TEXT + 1], address[ADDR_TEXT + 1];
        id_text(&peers[i].id, id);
        addr_text(&peers[i].addr, address);
        fprintf(f, "%s %s\n", id, address);
    }
    if (fclose(f) == 0)
        rename(fresh, path); /* after a crash either list is there, complete */
}

unsigned contacts_load(struct node *node, struct part_peer peers[CONTACTS_MAX])
{
    char path[SETTINGS_PATH + 16], id[ID_TEXT + 1], address[ADDR_TEXT + 1];
    unsigned count = 0;
    list_path(node, "peers", path);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return 0;
    while (count < CONTACTS_MAX && fscanf(f, "%40s %55s", id, address) == 2)
        if (id_parse(&peers[count].id, id) && addr_parse(&peers[count].addr, address, 0, NULL) == 0)
            count++;
    fclose(f);
    return count;
}
