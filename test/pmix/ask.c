/* SPDX-License-Identifier: BSD-3-Clause */
/* ask.c -- a PMIx tool like any other: knows p2pgrid's names, and nothing of its code. */
#include <pmix.h>
#include <pmix_tool.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char usage[] =
    "ask FOLDER query KEY [QUALIFIER=TEXT]...\n"
    "ask FOLDER alloc new|extend|release|take [slots=N] [nodes=N] [time=S] [id=ID] [name=TEXT]\n"
    "    [require=TEXT]\n"
    "ask FOLDER control terminate|pause|resume JOB\n"
    "ask FOLDER log TEXT\n"
    "ask FOLDER hear EVENTS\n"
    "  with ASK_UID=N it says that it is that user\n"
    "  prints KEY=VALUE, one a line, indented in arrays; ends with 0, or 1 and PMIx's word.\n";

enum { INFOS = 16 };

/* libpmix asks these whom it shall say that it is. */
uid_t geteuid(void)
{
    const char *lie = getenv("ASK_UID");
    return lie != NULL ? (uid_t)strtoul(lie, NULL, 10) : (uid_t)syscall(SYS_geteuid);
}

uid_t getuid(void)
{
    return geteuid();
}

static void print(const pmix_info_t *info, size_t count, unsigned depth)
{
    for (size_t i = 0; i < count; i++) {
        const pmix_value_t *v = &info[i].value;
        printf("%*s%s=", (int)depth, "", info[i].key);
        if (v->type == PMIX_STRING) {
            printf("%s\n", v->data.string);
        } else if (v->type == PMIX_UINT32) {
            printf("%u\n", v->data.uint32);
        } else if (v->type == PMIX_UINT64) {
            printf("%llu\n", (unsigned long long)v->data.uint64);
        } else if (v->type == PMIX_PROC_RANK) {
            printf("%u\n", v->data.rank);
        } else if (v->type == PMIX_STATUS) {
            printf("%d\n", (int)v->data.status);
        } else if (v->type == PMIX_PROC) {
            printf("%s:%u\n", v->data.proc->nspace, v->data.proc->rank);
        } else if (v->type == PMIX_DOUBLE) {
            printf("%.2f\n", v->data.dval);
        } else if (v->type == PMIX_DATA_ARRAY && v->data.darray->type == PMIX_INFO) {
            printf("%zu\n", v->data.darray->size);
            print(v->data.darray->array, v->data.darray->size, depth + 1);
        } else {
            printf("(%s)\n", PMIx_Data_type_string(v->type));
        }
    }
}

static int end(pmix_status_t status, const pmix_info_t *info, size_t count)
{
    print(info, count, 0);
    if (status != PMIX_SUCCESS)
        printf("status=%s\n", PMIx_Error_string(status));
    return status != PMIX_SUCCESS;
}

static int query(int argc, char **argv)
{
    pmix_query_t q;
    pmix_info_t *info = NULL;
    size_t count = 0;
    char *keys[] = {argv[0], NULL};
    PMIX_QUERY_CONSTRUCT(&q);
    q.keys = keys;
    PMIX_QUERY_QUALIFIERS_CREATE(&q, (size_t)argc - 1);
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        *value++ = '\0';
        PMIX_INFO_LOAD(&q.qualifiers[i - 1], argv[i], value, PMIX_STRING);
    }
    pmix_status_t rc = PMIx_Query_info(&q, 1, &info, &count);
    return end(rc, info, count);
}

static void load(pmix_info_t *info, const char *name, const char *value)
{
    uint64_t n = strtoull(value, NULL, 10);
    uint32_t s = (uint32_t)n;
    if (strcmp(name, "slots") == 0)
        PMIX_INFO_LOAD(info, PMIX_ALLOC_NUM_CPUS, &n, PMIX_UINT64);
    else if (strcmp(name, "nodes") == 0)
        PMIX_INFO_LOAD(info, PMIX_ALLOC_NUM_NODES, &n, PMIX_UINT64);
    else if (strcmp(name, "time") == 0)
        PMIX_INFO_LOAD(info, PMIX_ALLOC_TIME, &s, PMIX_UINT32);
    else if (strcmp(name, "id") == 0)
        PMIX_INFO_LOAD(info, PMIX_ALLOC_ID, value, PMIX_STRING);
    else if (strcmp(name, "name") == 0)
        PMIX_INFO_LOAD(info, PMIX_ALLOC_REQ_ID, value, PMIX_STRING);
    else
        PMIX_INFO_LOAD(info, "p2pgrid.require", value, PMIX_STRING);
}

static int alloc(int argc, char **argv)
{
    static const char *const words[] = {"", "new", "extend", "release", "take"};
    pmix_info_t wish[INFOS], *info = NULL;
    size_t count = 0, wishes = 0;
    pmix_alloc_directive_t what = PMIX_ALLOC_NEW;
    for (unsigned i = 1; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(argv[0], words[i]) == 0)
            what = (pmix_alloc_directive_t)i;
    for (int i = 1; i < argc && wishes < INFOS; i++) {
        char *value = strchr(argv[i], '=');
        *value++ = '\0';
        load(&wish[wishes++], argv[i], value);
    }
    pmix_status_t rc = PMIx_Allocation_request(what, wish, wishes, &info, &count);
    return end(rc, info, count);
}

static int control(const char *verb, const char *job)
{
    const char *key = strcmp(verb, "pause") == 0    ? PMIX_JOB_CTRL_PAUSE
                      : strcmp(verb, "resume") == 0 ? PMIX_JOB_CTRL_RESUME
                                                    : PMIX_JOB_CTRL_TERMINATE;
    pmix_proc_t target;
    pmix_info_t order, *info = NULL;
    size_t count = 0;
    bool yes = true;
    PMIX_LOAD_PROCID(&target, job, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&order, key, &yes, PMIX_BOOL);
    pmix_status_t rc = PMIx_Job_control(&target, 1, &order, 1, &info, &count);
    return end(rc, info, count);
}

static int say(const char *text)
{
    pmix_info_t line;
    PMIX_INFO_LOAD(&line, PMIX_LOG_STDERR, text, PMIX_STRING);
    return end(PMIx_Log(&line, 1, NULL, 0), NULL, 0);
}

static atomic_int left; /* events to hear of, yet */

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t count, pmix_info_t results[], size_t result_count,
                     pmix_event_notification_cbfunc_fn_t done, void *ctx)
{
    (void)id, (void)source, (void)results, (void)result_count;
    printf("event=%d\n", (int)status);
    print(info, count, 1);
    fflush(stdout);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, ctx);
    left--;
}

/* Says `hears`, then what happens, and ends after so many events. */
static int hear(int events)
{
    pmix_status_t codes[] = {PMIX_EVENT_NODE_DOWN, PMIX_EVENT_JOB_END, PMIX_EXTERNAL_ERR_BASE - 1,
                             PMIX_EXTERNAL_ERR_BASE - 2};
    left = events;
    pmix_status_t rc = PMIx_Register_event_handler(codes, sizeof codes / sizeof codes[0], NULL, 0,
                                                   on_event, NULL, NULL);
    printf(rc >= 0 ? "hears\n" : "status=%s\n", PMIx_Error_string(rc));
    fflush(stdout);
    while (rc >= 0 && left > 0)
        poll(NULL, 0, 20);
    return rc < 0;
}

int main(int argc, char **argv)
{
    pmix_proc_t me;
    pmix_info_t how[2];
    bool yes = true;
    if (argc < 4 || (strcmp(argv[2], "control") == 0 && argc != 5)) {
        fputs(usage, stderr);
        return 2;
    }
    PMIX_INFO_LOAD(&how[0], PMIX_CONNECT_TO_SYSTEM, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&how[1], PMIX_SYSTEM_TMPDIR, argv[1], PMIX_STRING);
    pmix_status_t rc = PMIx_tool_init(&me, how, 2);
    if (rc != PMIX_SUCCESS) {
        printf("status=%s\n", PMIx_Error_string(rc));
        return 1;
    }
    int code = strcmp(argv[2], "query") == 0     ? query(argc - 3, argv + 3)
               : strcmp(argv[2], "alloc") == 0   ? alloc(argc - 3, argv + 3)
               : strcmp(argv[2], "control") == 0 ? control(argv[3], argv[4])
               : strcmp(argv[2], "hear") == 0    ? hear(atoi(argv[3]))
                                                 : say(argv[3]);
    PMIx_tool_finalize();
    return code;
}
