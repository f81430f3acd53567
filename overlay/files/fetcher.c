/* SPDX-License-Identifier: BSD-3-Clause */
/* fetcher.c -- messages about files to those that they are for. */
#include "fetcher_state.h"
#include "packed.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <stdlib.h>

enum takes {
#define TO_files(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void fetcher_take(struct fetcher *f, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_files_ask:
        giver_ask(f, from, &m->files_ask);
        break;
    case MSG_files_data:
        fetching_data(f, from, &m->files_data);
        break;
    case MSG_files_refused:
        fetching_refused(f, from, &m->files_refused);
        break;
    case MSG_files_join:
        offer_join(f, from, &m->files_join);
        break;
    case MSG_files_get:
        fetching_get(f, from, &m->files_get);
        break;
    case MSG_files_got:
        offer_got(f, &from->peer.id, &m->files_got);
        break;
    case MSG_files_failed:
        offer_failed(f, from, &m->files_failed);
        break;
    case MSG_files_leave:
        offer_rests(f, &from->peer.id, &m->files_leave.list);
        break;
    }
}

static void fetcher_on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct fetcher *f = ctx;
    giver_forget(f, peer);
    offer_gone(f, peer);
    fetching_gone(f, peer, why);
}

static void fetcher_on_pump(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    giver_pump(ctx);
}

int fetcher_open(struct fetcher **out, struct node *node, struct store *store, struct err *e)
{
    struct fetcher *f = calloc(1, sizeof *f);
    *out = NULL;
    if (f != NULL) {
        f->packed = packed_new();
        f->pump = evtimer_new(node->base, fetcher_on_pump, f);
    }
    if (f == NULL || f->packed == NULL || f->pump == NULL ||
        links_on_gone(node->links, fetcher_on_gone, f) != 0) {
        if (f != NULL && f->pump != NULL)
            event_free(f->pump);
        if (f != NULL)
            packed_free(f->packed);
        free(f);
        return err_set(e, ENOMEM, "no memory");
    }
    f->node = node;
    f->store = store;
    *out = f;
    return 0;
}

void fetcher_close(struct fetcher *f)
{
    if (f == NULL)
        return;
    links_forget_gone(f->node->links, fetcher_on_gone, f);
    while (f->all != NULL)
        fetcher_cancel(f->all);
    while (f->gifts != NULL) {
        struct gift *g = f->gifts;
        f->gifts = g->next;
        free(g->bytes);
        free(g);
    }
    offers_free(f);
    packed_free(f->packed);
    event_free(f->pump);
    free(f);
}

void fetcher_tell(const struct fetcher *f, uint32_t token, fetcher_row_fn *row, void *ctx)
{
    fetching_tell(f, token, row, ctx);
    offers_tell(f, token, row, ctx);
}

void fetcher_totals(const struct fetcher *f, struct msg_local_totals *out)
{
    out->fetched = f->fetched;
    out->given = f->given;
}
