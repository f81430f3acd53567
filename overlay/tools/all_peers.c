/* SPDX-License-Identifier: BSD-3-Clause */
/* all_peers.c -- every peer of the grid that answers. */
#include "all_peers.h"
#include "overlay/client/ask.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WALK_MS = 20000, GRACE_MS = 3000 };

static void all_peers_row(void *ctx, const struct message *m)
{
    struct all_peers *c = ctx;
    if (m->kind != MSG_local_peer)
        return;
    if (c->count == c->most) {
        size_t most = c->most == 0 ? 64 : 2 * c->most;
        struct msg_local_peer *more = realloc(c->at, most * sizeof *more);
        if (more == NULL)
            return;
        c->at = more;
        c->most = most;
    }
    c->at[c->count++] = m->local_peer;
    if (c->progress)
        fprintf(stderr, "\r%zu peers...", c->count);
}

static int by_round_trip(const void *a, const void *b)
{
    const struct msg_local_peer *x = a, *y = b;
    if (x->rtt_us != y->rtt_us)
        return x->rtt_us < y->rtt_us ? -1 : 1;
    return strcmp(x->ad.name, y->ad.name);
}

int all_peers_ask(struct all_peers *c, struct client *client, const char *needs, struct err *e)
{
    struct message question = {.kind = MSG_local_peers, .local_peers.timeout_ms = WALK_MS};
    struct msg_local_done done;
    if (needs != NULL)
        snprintf(question.local_peers.needs, sizeof question.local_peers.needs, "%s", needs);
    *c = (struct all_peers){.progress = isatty(2)};
    int rc = client_ask(client, &question, WALK_MS + GRACE_MS, all_peers_row, c, &done, e);
    if (c->progress)
        fprintf(stderr, "\r\033[K");
    if (rc != 0)
        return rc;
    c->silent = done.silent;
    memcpy(c->other_versions, done.reason, sizeof c->other_versions);
    if (c->count > 0)
        qsort(c->at, c->count, sizeof c->at[0], by_round_trip);
    return 0;
}

const struct part_ad *all_peers_self(const struct all_peers *c)
{
    return c->count > 0 && c->at[0].rtt_us == 0 ? &c->at[0].ad : NULL;
}

void all_peers_clear(struct all_peers *c)
{
    free(c->at);
    *c = (struct all_peers){0};
}
