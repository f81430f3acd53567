/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c -- PMIx_Log: lines of text for p2pd's own log, which is where all channels end here. */
#include "server.h"
#include "infos.h"
#include "overlay/base/log.h"
#include <stdlib.h>
#include <string.h>

enum { LINES_MOST = 16 };

struct lines {
    char at[LINES_MOST][512];
    size_t count;
    pmix_status_t status;
    pmix_op_cbfunc_t answer;
    void *ctx;
};

static void write_lines(struct server *server, void *work)
{
    struct lines *l = work;
    for (size_t i = 0; i < l->count; i++) {
        struct message m = {.kind = MSG_local_note};
        m.local_note.level = LOG_LEVEL_INFO;
        memcpy(m.local_note.text, l->at[i], sizeof m.local_note.text);
        daemon_send(server->daemon, &m);
    }
    l->answer(l->status, l->ctx);
    free(l);
}

static bool is_text(const pmix_info_t *d)
{
    return PMIX_CHECK_KEY(d, PMIX_LOG_STDERR) || PMIX_CHECK_KEY(d, PMIX_LOG_STDOUT) ||
           PMIX_CHECK_KEY(d, PMIX_LOG_SYSLOG) || PMIX_CHECK_KEY(d, PMIX_LOG_LOCAL_SYSLOG);
}

void log_upcall(const pmix_proc_t *tool, const pmix_info_t data[], size_t count,
                const pmix_info_t directives[], size_t directive_count, pmix_op_cbfunc_t answer,
                void *ctx)
{
    struct lines *l = calloc(1, sizeof *l);
    (void)tool, (void)directives, (void)directive_count;
    if (l == NULL)
        abort();
    for (size_t i = 0; i < count && l->count < LINES_MOST; i++)
        if (is_text(&data[i]) && take_text(&data[i], l->at[l->count], sizeof l->at[0]))
            l->count++;
    l->status = l->count > 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
    l->answer = answer;
    l->ctx = ctx;
    mailbox_post(write_lines, l);
}
