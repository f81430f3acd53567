/* SPDX-License-Identifier: BSD-3-Clause */
/* allocate.c -- PMIx_Allocation_request: new, extend, release, re-acquire by id. An allocation is
 * the user's, not the tool's: it stays when the tool leaves, until its time is over. */
#include "server.h"
#include "p2pgrid_pmix.h"
#include "infos.h"
#include "overlay/core/lease/request_message.h"
#include "overlay/core/lease/share.h"
#include "overlay/client/words.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_S = 3600, SECONDS_MOST = 365 * 24 * 3600, SLOTS_MOST = 65536, CLAIM_MS = 15000 };

/* RESERVE: make it, or find it; CLAIM: add slots; PROLONG: add time; then tell of it. UNDO: of a
 * new one for which there were too few. */
enum step { STEP_RESERVE, STEP_CLAIM, STEP_PROLONG, STEP_TELL, STEP_RELEASE, STEP_UNDO };

struct pmix_request {
    struct server *server;
    pmix_alloc_directive_t what;
    uint32_t slots, nodes, seconds;
    enum share_strategy strategy;
    char require[1024], name[64];
    struct id id;
    enum step step;
    uint32_t code; /* why it failed */
    char why[512];
    struct infos *out;
    char *hosts; /* comma between */
    uint32_t host_count;
    pmix_info_cbfunc_t answer;
    void *ctx;
};

static void allocate_step(struct pmix_request *r, enum step step);

/* ---- reading, on PMIx's thread ---- */

static bool take_u32(const pmix_info_t *info, uint32_t most, uint32_t *value)
{
    uint64_t n;
    if (!take_number(info, &n) || n > most)
        return false;
    *value = (uint32_t)n;
    return true;
}

static bool take_strategy(const pmix_info_t *info, enum share_strategy *strategy)
{
    char word[16];
    return take_text(info, word, sizeof word) && share_strategy_named(word, strategy);
}

/* False: a value that cannot be used. What nobody here knows is left aside, as PMIx wants it. */
static bool allocate_read_one(struct pmix_request *r, const pmix_info_t *info)
{
    char id[ID_TEXT + 1];
    if (PMIX_CHECK_KEY(info, PMIX_ALLOC_NUM_CPUS))
        return take_u32(info, SLOTS_MOST, &r->slots);
    if (PMIX_CHECK_KEY(info, PMIX_ALLOC_NUM_NODES))
        return take_u32(info, SLOTS_MOST, &r->nodes);
    if (PMIX_CHECK_KEY(info, PMIX_ALLOC_TIME))
        return take_u32(info, SECONDS_MOST, &r->seconds);
    if (PMIX_CHECK_KEY(info, PMIX_ALLOC_ID))
        return take_text(info, id, sizeof id) && id_parse(&r->id, id);
    if (PMIX_CHECK_KEY(info, PMIX_ALLOC_REQ_ID))
        return take_text(info, r->name, sizeof r->name);
    if (PMIX_CHECK_KEY(info, P2PGRID_REQUIRE))
        return take_text(info, r->require, sizeof r->require);
    if (PMIX_CHECK_KEY(info, P2PGRID_STRATEGY))
        return take_strategy(info, &r->strategy);
    return true;
}

static bool allocate_makes_sense(const struct pmix_request *r)
{
    bool wants = r->slots > 0 || r->nodes > 0;
    switch (r->what) {
    case PMIX_ALLOC_NEW:
        return wants && id_is_zero(&r->id);
    case PMIX_ALLOC_EXTEND:
        return (wants || r->seconds > 0) && !id_is_zero(&r->id);
    case PMIX_ALLOC_RELEASE:
    case PMIX_ALLOC_REAQUIRE:
        return !id_is_zero(&r->id);
    }
    return false;
}

/* ---- one step after the other, in the loop ---- */

static void allocate_add_host(struct pmix_request *r, const char *name)
{
    size_t length = r->hosts != NULL ? strlen(r->hosts) : 0, more = strlen(name);
    const char *at = r->hosts;
    for (; at != NULL && (at = strstr(at, name)) != NULL; at += more)
        if ((at == r->hosts || at[-1] == ',') && (at[more] == ',' || at[more] == '\0'))
            return;
    char *grown = realloc(r->hosts, length + more + 2);
    if (grown == NULL)
        return;
    r->hosts = grown;
    sprintf(grown + length, "%s%s", length > 0 ? "," : "", name);
    r->host_count++;
}

static void allocate_on_row(void *ctx, const struct message *m)
{
    struct pmix_request *r = ctx;
    if (m->kind == MSG_local_reservation && r->step == STEP_RESERVE)
        r->id = m->local_reservation.reservation;
    if (m->kind == MSG_local_lease && r->step == STEP_TELL)
        allocate_add_host(r, m->local_lease.name);
    if (m->kind != MSG_local_reservation || r->step != STEP_TELL)
        return;
    char id[ID_TEXT + 1];
    id_text(&r->id, id);
    put_text(r->out, PMIX_ALLOC_ID, id);
    put_text(r->out, PMIX_ALLOC_REQ_ID, m->local_reservation.name);
    put_u64(r->out, PMIX_ALLOC_NUM_CPUS, m->local_reservation.slots);
    put_u32(r->out, PMIX_ALLOC_TIME, m->local_reservation.seconds);
    put_u32(r->out, P2PGRID_USED, m->local_reservation.used);
}

static void allocate_finish(struct pmix_request *r)
{
    if (r->code != 0)
        put_text(r->out, P2PGRID_REASON, r->why);
    else if (r->hosts != NULL) {
        put_u64(r->out, PMIX_ALLOC_NUM_NODES, r->host_count);
        put_text(r->out, PMIX_ALLOC_NODE_LIST, r->hosts);
    }
    r->answer(server_status(r->code), r->out->at, r->out->count, r->ctx, infos_release, r->out);
    free(r->hosts);
    free(r);
}

/* So many different peers are wanted. */
static void allocate_check_nodes(struct pmix_request *r)
{
    if (r->host_count >= r->nodes) {
        allocate_finish(r);
        return;
    }
    r->code = ENOSPC;
    snprintf(r->why, sizeof r->why, "asked for %u peers, found %u", r->nodes, r->host_count);
    infos_free(r->out);
    allocate_step(r, STEP_UNDO);
}

static void allocate_on_done(void *ctx, const struct msg_local_done *done)
{
    struct pmix_request *r = ctx;
    if (done->code != 0 && r->code == 0) {
        r->code = done->code;
        memcpy(r->why, done->reason, sizeof r->why);
        if (r->step == STEP_CLAIM && r->what == PMIX_ALLOC_NEW)
            allocate_step(r, STEP_UNDO);
        else
            allocate_finish(r);
        return;
    }
    switch (r->step) {
    case STEP_RESERVE:
        allocate_step(r, STEP_CLAIM);
        return;
    case STEP_CLAIM:
        allocate_step(r, r->what == PMIX_ALLOC_EXTEND && r->seconds > 0 ? STEP_PROLONG : STEP_TELL);
        return;
    case STEP_PROLONG:
        allocate_step(r, STEP_TELL);
        return;
    case STEP_TELL:
        if (r->what == PMIX_ALLOC_NEW)
            allocate_check_nodes(r);
        else
            allocate_finish(r);
        return;
    case STEP_RELEASE:
    case STEP_UNDO:
        allocate_finish(r);
        return;
    }
}

static void allocate_claim(const struct pmix_request *r, struct msg_local_allocate *asked)
{
    const struct request request = {.slots = r->slots > r->nodes ? r->slots : r->nodes,
                                    .strategy = r->nodes > 0 ? SHARE_SPREAD : r->strategy,
                                    .timeout_ms = CLAIM_MS,
                                    .use = LEASE_RESERVES,
                                    .reservation = r->id,
                                    .require = r->require};
    const char *problem = request_write(&request, asked);
    assert(problem == NULL); /* what was read is in its bounds */
    (void)problem;
}

static void allocate_step(struct pmix_request *r, enum step step)
{
    static const uint8_t verbs[] = {[STEP_RESERVE] = RESERVE_NEW,
                                    [STEP_PROLONG] = RESERVE_PROLONG,
                                    [STEP_TELL] = RESERVE_TELL,
                                    [STEP_RELEASE] = RESERVE_RELEASE,
                                    [STEP_UNDO] = RESERVE_RELEASE};
    struct msg_local_allocate asked = {0};
    struct message m = {.kind = MSG_local_reserve};
    r->step = step;
    if (step == STEP_CLAIM) {
        allocate_claim(r, &asked);
        m = (struct message){.kind = MSG_local_allocate, .local_allocate = &asked};
    } else {
        m.local_reserve.verb = verbs[step];
        m.local_reserve.reservation = r->id;
        m.local_reserve.seconds = r->seconds > 0 ? r->seconds : USUAL_S;
        m.local_reserve.stays = 1;
        strcpy(m.local_reserve.name, r->name);
    }
    daemon_ask(r->server->daemon, &m, allocate_on_row, allocate_on_done, r);
}

static void allocate_begin(struct server *server, void *work)
{
    struct pmix_request *r = work;
    r->server = server;
    if (r->what == PMIX_ALLOC_NEW)
        allocate_step(r, STEP_RESERVE);
    else if (r->what == PMIX_ALLOC_EXTEND)
        allocate_step(r, r->slots > 0 || r->nodes > 0 ? STEP_CLAIM : STEP_PROLONG);
    else
        allocate_step(r, r->what == PMIX_ALLOC_RELEASE ? STEP_RELEASE : STEP_TELL);
}

pmix_status_t allocate_upcall(const pmix_proc_t *tool, pmix_alloc_directive_t directive,
                              const pmix_info_t data[], size_t count, pmix_info_cbfunc_t answer,
                              void *ctx)
{
    struct pmix_request *r = calloc(1, sizeof *r);
    bool good = true;
    (void)tool;
    if (r == NULL || (r->out = calloc(1, sizeof *r->out)) == NULL) {
        free(r);
        return PMIX_ERR_NOMEM;
    }
    r->what = directive;
    for (size_t i = 0; i < count; i++)
        good = allocate_read_one(r, &data[i]) && good;
    if (!good || !allocate_makes_sense(r)) {
        infos_release(r->out);
        free(r);
        return PMIX_ERR_BAD_PARAM;
    }
    r->answer = answer;
    r->ctx = ctx;
    mailbox_post(allocate_begin, r);
    return PMIX_SUCCESS;
}
