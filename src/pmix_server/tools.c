/* SPDX-License-Identifier: BSD-3-Clause */
/* tools.c -- tools that connect and leave. Who they are was seen at the door; a refusal here would
 * crash PMIx 4.2.2. */
#include "face.h"
#include "door.h"
#include "put.h"
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
    struct face *face = ctx;
    (void)fd, (void)what;
    face->quiet_s = door_connections() == 0 ? face->quiet_s + 1 : 0;
    if (face->quiet_s > (face->seen < MANY ? IDLE_S : IDLE_AFTER_MANY_S))
        event_base_loopbreak(face->base);
}

static void welcome(struct face *face, void *work)
{
    struct arrival *a = work;
    static unsigned serial;
    char name[32];
    if (a->tool.nspace[0] == '\0') {
        snprintf(name, sizeof name, FACE_NSPACE ".tool.%u", ++serial);
        PMIX_LOAD_PROCID(&a->tool, name, 0);
    }
    face->seen++;
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
    bridge_post(welcome, a);
}

static void farewell(struct face *face, void *work)
{
    pmix_proc_t *tool = work;
    (void)face;
    PMIx_server_deregister_nspace(tool->nspace, NULL, NULL);
    free(tool);
}

static void has_left(const pmix_proc_t *tool)
{
    pmix_proc_t *copy = malloc(sizeof *copy);
    if (copy == NULL)
        abort();
    *copy = *tool;
    bridge_post(farewell, copy);
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
static void on_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                    size_t count, pmix_info_t results[], size_t result_count,
                    pmix_event_notification_cbfunc_fn_t done, void *ctx)
{
    (void)id, (void)status, (void)results, (void)result_count;
    has_left(source);
    for (size_t i = 0; i < count; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_PROCID) && info[i].value.type == PMIX_PROC)
            has_left(info[i].value.data.proc);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, ctx);
}

void tools_watch(void)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
    PMIx_Register_event_handler(&lost, 1, NULL, 0, on_lost, NULL, NULL);
}
