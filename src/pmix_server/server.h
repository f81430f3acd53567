/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h -- p2pd-pmix: what its upcalls share, all of it used in the event loop only. An upcall
 * runs on a thread of PMIx: it copies what it is given and posts it (mailbox.h). */
#ifndef P2P_SRC_PMIX_SERVER_SERVER_H
#define P2P_SRC_PMIX_SERVER_SERVER_H
#include "mailbox.h"
#include "daemon.h"
#include "snapshot.h"
#include <pmix.h>
#include <pmix_server.h>

#define SERVER_NSPACE "p2pd" /* of the server, rank 0 */

struct server {
    struct event_base *base;
    struct daemon *daemon;
    struct snapshot_maker *snapshots;
    struct event *idle;
    unsigned seen;    /* tools, since the beginning */
    unsigned quiet_s; /* without a connection */
};

/* The upcalls: see pmix_server.h. One in each file. */
pmix_status_t query_upcall(pmix_proc_t *tool, pmix_query_t *queries, size_t count,
                           pmix_info_cbfunc_t answer, void *ctx);
pmix_status_t allocate_upcall(const pmix_proc_t *tool, pmix_alloc_directive_t directive,
                              const pmix_info_t data[], size_t count, pmix_info_cbfunc_t answer,
                              void *ctx);
pmix_status_t control_upcall(const pmix_proc_t *tool, const pmix_proc_t targets[],
                             size_t target_count, const pmix_info_t directives[], size_t count,
                             pmix_info_cbfunc_t answer, void *ctx);
void log_upcall(const pmix_proc_t *tool, const pmix_info_t data[], size_t count,
                const pmix_info_t directives[], size_t directive_count, pmix_op_cbfunc_t answer,
                void *ctx);
void tools_upcall(pmix_info_t *info, size_t count, pmix_tool_connection_cbfunc_t answer, void *ctx);
pmix_status_t tools_left_upcall(const pmix_proc_t *tool, void *object, pmix_op_cbfunc_t answer,
                                void *ctx);
pmix_status_t events_register_upcall(pmix_status_t *codes, size_t code_count,
                                     const pmix_info_t info[], size_t count,
                                     pmix_op_cbfunc_t answer, void *ctx);
pmix_status_t events_deregister_upcall(pmix_status_t *codes, size_t code_count,
                                       pmix_op_cbfunc_t answer, void *ctx);
pmix_status_t events_from_tool_upcall(pmix_status_t code, const pmix_proc_t *source,
                                      pmix_data_range_t range, pmix_info_t info[], size_t count,
                                      pmix_op_cbfunc_t answer, void *ctx);

/* Says what can be asked for. Call it once PMIx runs. */
void attributes_register(void);
/* What PMIx keeps of tools that have gone is given back. Call it once PMIx runs. */
void tools_watch(void);
/* To be called every second: ends the loop after a time without tools. */
void tools_rest(evutil_socket_t fd, short what, void *server);
/* p2pd's notices become events: for daemon_open(). */
void events_notice(void *server, const struct msg_local_notice *notice);
/* What an errno value of p2pd is in PMIx. */
pmix_status_t server_status(uint32_t code);
#endif
