/* SPDX-License-Identifier: BSD-3-Clause */
/* tools.c -- tools that connect and leave. Their user was checked by access.c; a refusal here would
 * crash PMIx 4.2.2. */
#include "server.h"
#include "access.h"
#include "infos.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without a tool for so long this program ends, and p2pd listens again. libpmix 4.2.2 keeps some
 * 4 kB of every tool that it has seen: after many of them the first quiet second will do. */
enum { IDLE_S = 30, MANY = 512, IDLE_AFTER_MANY_S = 1 };

struct arrival {
    pmix_proc_t tool;
    pmix_tool_connection_cbfunc_t answer;
    void *ctx;
};

/* Every second. PMIx does not tell of every tool that dies, so the connections are counted. */
void tools_rest(evutil_socket_t fd, short what, void *ctx)
{
    struct server *server = ctx;
    (void)fd, (void)what;
    server->quiet_s = access_connections() == 0 ? server->quiet_s + 1 : 0;
    if (server->quiet_s > (server->seen < MANY ? IDLE_S : IDLE_AFTER_MANY_S))
        event_base_loopbreak(server->base);
}

static void tool_welcome(struct server *server, void *work)
{
    struct arrival *a = work;
    static unsigned serial;
    char name[32];
    if (a->tool.nspace[0] == '\0') {
        snprintf(name, sizeof name, SERVER_NSPACE ".tool.%u", ++serial);
        PMIX_LOAD_PROCID(&a->tool, name, 0);
    }
    server->seen++;
    a->answer(PMIX_SUCCESS, &a->tool, a->ctx);
    free(a);
}

void tools_upcall(pmix_info_t *info, size_t count, pmix_tool_connection_cbfunc_t answer, void *ctx)
{
    struct arrival *a = calloc(1, sizeof *a);
    char name[PMIX_MAX_NSLEN + 1];
    if (a == NULL)
        abort();
    for (size_t i = 0; i < count; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_NSPACE) && take_text(&info[i], name, sizeof name))
            PMIX_LOAD_NSPACE(a->tool.nspace, name);
        else if (PMIX_CHECK_KEY(&info[i], PMIX_RANK) && info[i].value.type == PMIX_PROC_RANK)
            a->tool.rank = info[i].value.data.rank;
    a->answer = answer;
    a->ctx = ctx;
    mailbox_post(tool_welcome, a);
}

static void tool_farewell(struct server *server, void *work)
{
    pmix_proc_t *tool = work;
    (void)server;
    PMIx_server_deregister_nspace(tool->nspace, NULL, NULL);
    free(tool);
}

static void tool_has_left(const pmix_proc_t *tool)
{
    pmix_proc_t *copy = malloc(sizeof *copy);
    if (copy == NULL)
        abort();
    *copy = *tool;
    mailbox_post(tool_farewell, copy);
}

/* What follows is the end of its connection, which counts. */
pmix_status_t tools_left_upcall(const pmix_proc_t *tool, void *object, pmix_op_cbfunc_t answer,
                                void *ctx)
{
    (void)tool, (void)object, (void)answer, (void)ctx;
    return PMIX_OPERATION_SUCCEEDED;
}

/* PMIx gathers those that leave at about the same time: one is the source, the others are listed.
 */
static void tool_on_lost(size_t id, pmix_status_t status, const pmix_proc_t *source,
                         pmix_info_t info[], size_t count, pmix_info_t results[],
                         size_t result_count, pmix_event_notification_cbfunc_fn_t done, void *ctx)
{
    (void)id, (void)status, (void)results, (void)result_count;
    tool_has_left(source);
    for (size_t i = 0; i < count; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_PROCID) && info[i].value.type == PMIX_PROC)
            tool_has_left(info[i].value.data.proc);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, ctx);
}

void tools_watch(void)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
    PMIx_Register_event_handler(&lost, 1, NULL, 0, tool_on_lost, NULL, NULL);
}
