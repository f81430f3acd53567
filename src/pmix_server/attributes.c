/* SPDX-License-Identifier: BSD-3-Clause */
/* attributes.c -- which attributes p2pd-pmix understands, for tools that ask, such as pattrs.
 * libpmix 4.2.2 answers these itself, and crashes: it hands the answer to its own callback with its
 * own object as the context. This PMIx_Query_info_nb(), which libpmix calls for what tools ask,
 * stands between, and gives every answer the context that belongs to it. */
#include "server.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef pmix_status_t query_fn(pmix_query_t queries[], size_t count, pmix_info_cbfunc_t answer,
                               void *ctx);

/* libpmix answers in the order of the questions; all of it on its one thread. */
struct pending {
    struct pending *next;
    pmix_info_cbfunc_t answer;
    void *ctx;
};
static struct pending *first;

void attributes_register(void)
{
    /* pattrs prints as many of each as the first one has. */
    char *query[] = {"PMIX_NSPACE", "PMIX_HOSTNAME", "PMIX_ALLOC_ID", "PMIX_HWLOC_XML_V2", NULL};
    char *control[] = {"PMIX_JOB_CTRL_TERMINATE", "PMIX_JOB_CTRL_KILL", "PMIX_JOB_CTRL_PAUSE",
                       "PMIX_JOB_CTRL_RESUME", NULL};
    char *log[] = {"PMIX_LOG_STDERR", "PMIX_LOG_STDOUT", "PMIX_LOG_SYSLOG", "PMIX_LOG_LOCAL_SYSLOG",
                   NULL};
    char *allocate[] = {"PMIX_ALLOC_NUM_CPUS", "PMIX_ALLOC_NUM_NODES", "PMIX_ALLOC_TIME",
                        "PMIX_ALLOC_ID",       "PMIX_ALLOC_REQ_ID",    NULL};
    PMIx_Register_attributes("PMIx_Query_info", query);
    PMIx_Register_attributes("PMIx_Job_control", control);
    PMIx_Register_attributes("PMIx_Log", log);
    PMIx_Register_attributes("PMIx_Allocation_request", allocate);
}

static void attributes_on_answer(pmix_status_t status, pmix_info_t *info, size_t count, void *ctx,
                                 pmix_release_cbfunc_t release, void *release_ctx)
{
    struct pending **at = &first;
    while (*at != NULL && *at != ctx)
        at = &(*at)->next;
    if (*at == NULL)
        at = &first; /* a context of libpmix's own: see above */
    struct pending *p = *at;
    if (p == NULL)
        return;
    *at = p->next;
    p->answer(status, info, count, p->ctx, release, release_ctx);
    free(p);
}

pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t count, pmix_info_cbfunc_t answer,
                                 void *ctx)
{
    query_fn *theirs;
    *(void **)&theirs = dlsym(RTLD_NEXT, "PMIx_Query_info_nb");
    bool attributes = false;
    for (size_t i = 0; i < count; i++) {
        if (queries[i].keys == NULL || queries[i].keys[0] == NULL)
            return PMIX_ERR_BAD_PARAM; /* libpmix would read it all the same */
        attributes = attributes || strcmp(queries[i].keys[0], PMIX_QUERY_ATTRIBUTE_SUPPORT) == 0;
    }
    if (!attributes)
        return theirs(queries, count, answer, ctx);
    struct pending *p = malloc(sizeof *p), **last = &first;
    if (p == NULL)
        return PMIX_ERR_NOMEM;
    while (*last != NULL)
        last = &(*last)->next;
    *last = p;
    *p = (struct pending){.answer = answer, .ctx = ctx};
    return theirs(queries, count, attributes_on_answer, p);
}
