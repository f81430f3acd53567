/* SPDX-License-Identifier: BSD-3-Clause */
/* giver.c -- gives what others ask for. A link carries everything else that daemons say, too, so
 * only little of a file is on its way at a time: what is said meanwhile is not late. */
#include "fetcher_state.h"
#include "pack.h"
#include "packed.h"
#include "overlay/crypto/identity.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GIVER_PIECE = 16 * 1024,
    GIVER_MOST = 256 * 1024, /* so much may wait for the kernel to take it */
    GIVER_LOOK_US = 1000,    /* until a link is looked at again */
    GIVER_WAITING = 16,      /* of one peer */
    GIVER_READ = 256 * 1024, /* after so much the daemon looks after others before it reads on */
    GIVER_FORGETS_S = 60,    /* packed objects, when nobody asks */
};

/* --- what is asked for --- */

static void refuse(struct fetcher *f, const struct part_peer *to, const struct hash *list,
                   uint32_t object, const char *why)
{
    struct message m = {.kind = MSG_files_refused,
                        .files_refused = {.list = *list, .object = object}};
    snprintf(m.files_refused.reason, sizeof m.files_refused.reason, "%.255s", why);
    link_send(f->node->links, to, &m);
}

static size_t waiting_for(const struct fetcher *f, const struct id *peer)
{
    size_t n = 0;
    for (const struct gift *g = f->gifts; g != NULL; g = g->next)
        n += id_equal(&g->to.id, peer);
    return n;
}

void giver_ask(struct fetcher *f, const struct link_peer *from, const struct msg_files_ask *ask)
{
    struct gift **end = &f->gifts;
    struct gift *g = waiting_for(f, &from->peer.id) < GIVER_WAITING ? calloc(1, sizeof *g) : NULL;
    if (g == NULL) {
        refuse(f, &from->peer, &ask->list, ask->object, "too much is asked for at a time");
        return;
    }
    g->to = from->peer;
    g->list = ask->list;
    g->object = ask->object;
    g->packs = ask->packs != 0 && ask->object != FETCHER_LIST;
    while (*end != NULL)
        end = &(*end)->next;
    *end = g;
    if (!f->pumping)
        event_active(f->pump, 0, 0);
    f->pumping = true;
}

/* --- reading it --- */

static int read_list(struct gift *g, const struct offer *o, struct err *e)
{
    g->bytes = malloc(o->length);
    if (g->bytes == NULL)
        return err_set(e, ENOMEM, "no memory");
    memcpy(g->bytes, o->bytes, o->length);
    return (int)o->length;
}

static int read_kept(struct fetcher *f, struct gift *g, struct err *e)
{
    struct tree *t = f->store != NULL ? store_lookup(f->store, &g->list) : NULL;
    int n = -ENOENT;
    if (t != NULL && g->object < tree_list(t)->object_count) {
        g->hash = tree_list(t)->objects[g->object].hash;
        n = tree_get(t, g->object, g->bytes);
    }
    if (t != NULL)
        tree_release(t);
    return n >= 0 ? n : err_set(e, -n, "it is not here");
}

static int gift_read(struct fetcher *f, struct gift *g, struct err *e)
{
    const struct offer *o = offer_find(f, &g->list);
    if (g->object == FETCHER_LIST)
        return o != NULL ? read_list(g, o, e) : err_set(e, ENOENT, "no such files are offered");
    g->bytes = malloc(LIST_CHUNK);
    if (g->bytes == NULL)
        return err_set(e, ENOMEM, "no memory");
    if (o == NULL)
        return read_kept(f, g, e);
    if (g->object >= o->list->object_count)
        return err_set(e, EINVAL, "there is no such object");
    g->hash = o->list->objects[g->object].hash;
    return offer_read(o, g->object, g->bytes, e);
}

/* --- giving it --- */

static void gift_free(struct fetcher *f, struct gift *g)
{
    struct gift **at = &f->gifts;
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    free(g->bytes);
    free(g);
}

/* Where it does not get smaller, or there is no memory, it goes as it is. */
static void gift_pack(struct fetcher *f, struct gift *g)
{
    uint8_t *packed = g->packs ? malloc(pack_most(g->length) + 1) : NULL;
    const size_t n =
        packed != NULL ? packed_make(f->packed, &g->hash, packed, g->bytes, g->length) : 0;
    if (n == 0) {
        free(packed);
        return;
    }
    free(g->bytes);
    g->bytes = packed;
    g->length = n;
    g->packed = (uint32_t)n;
}

/* False: it is over, in one way or another. */
static bool gift_begin(struct fetcher *f, struct gift *g)
{
    struct err e = {0};
    const int n = gift_read(f, g, &e);
    if (n < 0) {
        log_debug(f->node->log, "files: not given: %s", e.text);
        refuse(f, &g->to, &g->list, g->object, e.text);
        return false;
    }
    g->length = (size_t)n;
    f->read += g->length;
    gift_pack(f, g);
    return true;
}

static bool gift_piece(struct fetcher *f, struct gift *g)
{
    const size_t left = g->length - g->at, n = left < GIVER_PIECE ? left : GIVER_PIECE;
    struct message m = {.kind = MSG_files_data,
                        .files_data = {.list = g->list,
                                       .object = g->object,
                                       .offset = (uint32_t)g->at,
                                       .data = g->bytes + g->at,
                                       .data_length = (uint32_t)n,
                                       .packed = g->packed}};
    struct offer *o = offer_find(f, &g->list);
    if (link_send(f->node->links, &g->to, &m) != 0)
        return false;
    f->given += n;
    if (o != NULL)
        o->given += n;
    g->at += n;
    return g->at < g->length;
}

/* To each peer one object after the other, in the order in which it asked. */
static bool is_first(const struct fetcher *f, const struct gift *g)
{
    for (const struct gift *o = f->gifts; o != g; o = o->next)
        if (id_equal(&o->to.id, &g->to.id))
            return false;
    return true;
}

/* What is sent first makes the connection. */
static bool may_give(const struct fetcher *f, const struct gift *g)
{
    return !link_is_open(f->node->links, &g->to.id) || link_room(f->node->links, &g->to.id) > 0;
}

static void gift_go_on(struct fetcher *f, struct gift *g)
{
    if (g->bytes == NULL && f->read >= GIVER_READ)
        return;
    if (g->bytes == NULL && !gift_begin(f, g)) {
        gift_free(f, g);
        return;
    }
    while (link_backlog(f->node->links, &g->to.id) < GIVER_MOST && may_give(f, g))
        if (!gift_piece(f, g)) {
            gift_free(f, g);
            return;
        }
}

void giver_pump(struct fetcher *f)
{
    const struct timeval look = {.tv_usec = GIVER_LOOK_US}, forget = {.tv_sec = GIVER_FORGETS_S};
    if (f->gifts == NULL) {
        packed_clear(f->packed);
        f->pumping = false;
        return;
    }
    f->read = 0;
    for (struct gift *g = f->gifts, *next; g != NULL; g = next) {
        next = g->next;
        if (is_first(f, g))
            gift_go_on(f, g);
    }
    f->pumping = f->gifts != NULL;
    evtimer_add(f->pump, f->pumping ? &look : &forget);
}

void giver_forget(struct fetcher *f, const struct id *peer)
{
    for (struct gift *g = f->gifts, *next; g != NULL; g = next) {
        next = g->next;
        if (id_equal(&g->to.id, peer))
            gift_free(f, g);
    }
}
