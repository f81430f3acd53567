/* SPDX-License-Identifier: BSD-3-Clause */
/* overview.c -- the state of everything as one answer, of the rows that other questions have. */
#include "local_state.h"
#include "overlay/client/words.h"
#include "overlay/files/fetcher.h"
#include "overlay/lend/grant.h"
#include "overlay/lend/lender.h"
#include "status.h"

/* A part's own local_done is not said: more parts follow. */
static void overview_row(void *client, const struct message *m)
{
    if (m->kind != MSG_local_done)
        local_say(client, m);
}

static void overview_desktop(struct local_client *c, uint32_t token)
{
    const struct local *l = c->local;
    struct msg_local_terms terms = {.token = token};
    const struct message m = {.kind = MSG_local_terms, .local_terms = &terms};
    status_self(l->node, l->parts.overlay, l->parts.grant, token, overview_row, c);
    lender_describe(l->parts.lender, &terms);
    local_say(c, &m);
}

static void overview_totals(struct local_client *c, uint32_t token)
{
    const struct local *l = c->local;
    struct message m = {.kind = MSG_local_totals};
    rpc_totals(l->rpc, &m.local_totals);
    peer_cache_totals(l->peer_cache, &m.local_totals);
    fetcher_totals(l->parts.fetcher, &m.local_totals);
    m.local_totals.launched = grant_launched(l->parts.grant);
    m.local_totals.token = token;
    local_say(c, &m);
}

void local_overview(struct local_client *c, const struct msg_local_overview *question)
{
    const struct local *l = c->local;
    const uint32_t token = question->token;
    struct message done = {.kind = MSG_local_done};
    if ((question->parts & OVERVIEW_DESKTOP) != 0)
        overview_desktop(c, token);
    if ((question->parts & OVERVIEW_PEERS) != 0)
        done.local_done.count = peer_cache_tell(l->peer_cache, token, local_say, c);
    if ((question->parts & OVERVIEW_MEMBERS) != 0)
        members_tell(l->members, token, overview_row, c);
    if ((question->parts & OVERVIEW_JOBS) != 0)
        rpc_jobs(l->rpc, c, token);
    if ((question->parts & OVERVIEW_TRANSFERS) != 0)
        fetcher_tell(l->parts.fetcher, token, local_say, c);
    if ((question->parts & OVERVIEW_TOTALS) != 0)
        overview_totals(c, token);
    done.local_done.token = token;
    local_say(c, &done);
}
