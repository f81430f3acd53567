/* SPDX-License-Identifier: BSD-3-Clause */
/* control.c -- PMIx_Job_control: ends, pauses and resumes jobs of this user. */
#include "server.h"
#include "infos.h"
#include "overlay/client/words.h"
#include <stdlib.h>
#include <string.h>

struct order {
    struct message message;
    pmix_info_cbfunc_t answer;
    void *ctx;
};

static void control_on_done(void *ctx, const struct msg_local_done *done)
{
    struct order *o = ctx;
    o->answer(server_status(done->code), NULL, 0, o->ctx, NULL, NULL);
    free(o);
}

static void control_pass_on(struct server *server, void *work)
{
    struct order *o = work;
    daemon_ask(server->daemon, &o->message, NULL, control_on_done, o);
}

/* The one thing that is to be done; false: another, or several. */
static bool read_verb(const pmix_info_t directives[], size_t count, uint8_t *verb)
{
    unsigned found = 0;
    for (size_t i = 0; i < count; i++) {
        const pmix_info_t *d = &directives[i];
        if (PMIX_CHECK_KEY(d, PMIX_JOB_CTRL_TERMINATE) || PMIX_CHECK_KEY(d, PMIX_JOB_CTRL_KILL))
            *verb = ROSTER_TERMINATE;
        else if (PMIX_CHECK_KEY(d, PMIX_JOB_CTRL_PAUSE))
            *verb = ROSTER_PAUSE;
        else if (PMIX_CHECK_KEY(d, PMIX_JOB_CTRL_RESUME))
            *verb = ROSTER_RESUME;
        else
            continue;
        found += take_flag(d);
    }
    return found == 1;
}

pmix_status_t control_upcall(const pmix_proc_t *tool, const pmix_proc_t targets[],
                             size_t target_count, const pmix_info_t directives[], size_t count,
                             pmix_info_cbfunc_t answer, void *ctx)
{
    struct order *o = calloc(1, sizeof *o);
    (void)tool;
    if (o == NULL)
        return PMIX_ERR_NOMEM;
    struct msg_local_control *c = &o->message.local_control;
    o->message.kind = MSG_local_control;
    size_t length = target_count == 1 ? strnlen(targets[0].nspace, sizeof c->name) : 0;
    if (length == 0 || length == sizeof c->name || targets[0].rank != PMIX_RANK_WILDCARD ||
        !read_verb(directives, count, &c->verb)) {
        free(o);
        return PMIX_ERR_BAD_PARAM; /* whole jobs, one at a time */
    }
    memcpy(c->name, targets[0].nspace, length);
    o->answer = answer;
    o->ctx = ctx;
    mailbox_post(control_pass_on, o);
    return PMIX_SUCCESS;
}
