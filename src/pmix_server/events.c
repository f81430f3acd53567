/* SPDX-License-Identifier: BSD-3-Clause */
/* events.c -- p2pd's notices as PMIx events. PMIx keeps events and repeats them to tools that come
 * later, so each says when it was, and in which life of the daemon. */
#include "server.h"
#include "p2pgrid_pmix.h"
#include "infos.h"
#include "overlay/client/words.h"
#include <stdlib.h>

/* PMIx itself knows which tool wants what; every event is passed on. */
pmix_status_t events_register_upcall(pmix_status_t *codes, size_t code_count,
                                     const pmix_info_t info[], size_t count,
                                     pmix_op_cbfunc_t answer, void *ctx)
{
    (void)codes, (void)code_count, (void)info, (void)count, (void)answer, (void)ctx;
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t events_deregister_upcall(pmix_status_t *codes, size_t code_count,
                                       pmix_op_cbfunc_t answer, void *ctx)
{
    (void)codes, (void)code_count, (void)answer, (void)ctx;
    return PMIX_OPERATION_SUCCEEDED;
}

/* A tool's own event reaches the other tools here, through PMIx; it goes no further. */
pmix_status_t events_from_tool_upcall(pmix_status_t code, const pmix_proc_t *source,
                                      pmix_data_range_t range, pmix_info_t info[], size_t count,
                                      pmix_op_cbfunc_t answer, void *ctx)
{
    (void)code, (void)source, (void)range, (void)info, (void)count, (void)answer, (void)ctx;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t code_of(uint8_t what)
{
    switch (what) {
    case NOTICE_NODE_DOWN:
        return PMIX_EVENT_NODE_DOWN;
    case NOTICE_REPLICA_LOST:
        return P2PGRID_EVENT_REPLICA_LOST;
    case NOTICE_JOB_DONE:
        return PMIX_EVENT_JOB_END;
    case NOTICE_ALLOCATION_ENDED:
        return P2PGRID_EVENT_ALLOCATION_ENDED;
    }
    return PMIX_ERR_NOT_FOUND;
}

static void on_sent(pmix_status_t status, void *ctx)
{
    (void)status;
    infos_release(ctx);
}

void events_notice(void *ctx, const struct msg_local_notice *n)
{
    pmix_status_t code = code_of(n->what);
    struct infos *all = calloc(1, sizeof *all);
    pmix_proc_t self;
    char id[ID_TEXT + 1];
    (void)ctx;
    if (all == NULL || code == PMIX_ERR_NOT_FOUND) {
        free(all);
        return;
    }
    put_bool(all, PMIX_EVENT_NON_DEFAULT, true);
    put_u64(all, P2PGRID_TIME, n->time_ms);
    put_u64(all, P2PGRID_EPOCH, n->epoch);
    put_u64(all, P2PGRID_NUMBER, n->number);
    put_text(all, P2PGRID_TEXT, n->text);
    if (n->peer_name[0] != '\0')
        put_text(all, PMIX_HOSTNAME, n->peer_name);
    if (n->what == NOTICE_REPLICA_LOST) {
        put_proc(all, PMIX_EVENT_AFFECTED_PROC, n->job, n->rank);
        put_u32(all, P2PGRID_LANE, n->lane);
        put_u32(all, P2PGRID_LEFT, n->left);
    } else if (n->what == NOTICE_JOB_DONE) {
        put_proc(all, PMIX_EVENT_AFFECTED_PROC, n->job, PMIX_RANK_WILDCARD);
        put_status(all, PMIX_JOB_TERM_STATUS, (pmix_status_t)n->status);
    } else if (n->what == NOTICE_ALLOCATION_ENDED) {
        id_text(&n->reservation, id);
        put_text(all, PMIX_ALLOC_ID, id);
    }
    PMIX_LOAD_PROCID(&self, SERVER_NSPACE, 0);
    pmix_status_t rc =
        PMIx_Notify_event(code, &self, PMIX_RANGE_SESSION, all->at, all->count, on_sent, all);
    if (rc != PMIX_SUCCESS)
        infos_release(all);
}
