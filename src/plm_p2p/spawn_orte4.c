/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn_orte4.c -- a peer's MPI_Comm_spawn, as ORTE reads it: is anything in it that no program
 * needs? What may stand there is listed, all else is refused (trust.c). */
#include "plm_p2p.h"
#include "trust.h"
#include "opal/dss/dss.h"
#include "orte/constants.h"
#include "orte/mca/rmaps/rmaps_types.h"
#include "orte/mca/rml/rml.h"
#include "orte/util/attr.h"
#include <stdlib.h>

static bool is_usual_of_job(orte_attribute_key_t key)
{
    switch (key) {
    case ORTE_JOB_ROOM_NUM:
    case ORTE_JOB_LAUNCH_PROXY:
    case ORTE_JOB_INFO_CACHE:
    case ORTE_JOB_NON_ORTE_JOB:
    case ORTE_JOB_INDEX_ARGV:
    case ORTE_JOB_CONTINUOUS_OP:
    case ORTE_JOB_REPORT_BINDINGS:
    case ORTE_JOB_NOTIFY_COMPLETION:
    case ORTE_JOB_SILENT_TERMINATION:
    case ORTE_JOB_TAG_OUTPUT:
    case ORTE_JOB_TIMESTAMP_OUTPUT:
    case ORTE_JOB_MERGE_STDERR_STDOUT:
    case ORTE_JOB_SET_ENVAR: /* of the processes, where they are started */
    case ORTE_JOB_UNSET_ENVAR:
    case ORTE_JOB_PREPEND_ENVAR:
    case ORTE_JOB_APPEND_ENVAR:
    case ORTE_JOB_ADD_ENVAR:
        return true;
    default:
        return false;
    }
}

static bool is_usual_of_app(orte_attribute_key_t key)
{
    switch (key) {
    case ORTE_APP_DASH_HOST: /* looked into */
    case ORTE_APP_USER_CWD:
    case ORTE_APP_RECOV_DEF:
    case ORTE_APP_MAX_RESTARTS:
    case ORTE_APP_MAX_PPN:
    case ORTE_APP_MIN_NODES:
    case ORTE_APP_SET_ENVAR:
    case ORTE_APP_UNSET_ENVAR:
    case ORTE_APP_PREPEND_ENVAR:
    case ORTE_APP_APPEND_ENVAR:
    case ORTE_APP_ADD_ENVAR:
        return true;
    default:
        return false;
    }
}

static const char *name_of(orte_attribute_key_t key)
{
    switch (key) {
    case ORTE_APP_HOSTFILE:
        return "info 'hostfile'";
    case ORTE_APP_ADD_HOSTFILE:
        return "info 'add-hostfile'";
    case ORTE_APP_ADD_HOST:
        return "info 'add-host'";
    case ORTE_APP_PREFIX_DIR:
        return "info 'ompi_prefix'";
    case ORTE_APP_PRELOAD_BIN:
        return "info 'ompi_preload_binary'";
    case ORTE_APP_PRELOAD_FILES:
        return "info 'ompi_preload_files'";
    case ORTE_JOB_OUTPUT_TO_FILE:
        return "an output folder";
    default:
        return "an attribute";
    }
}

static const char *find_strange(opal_list_t *attributes, bool (*is_usual)(orte_attribute_key_t))
{
    orte_attribute_t *a;
    OPAL_LIST_FOREACH(a, attributes, orte_attribute_t)
    {
        if (!is_usual(a->key))
            return name_of(a->key);
    }
    return NULL;
}

/* The parent's programs are read by ORTE: there must be some. */
static bool has_parent(const orte_job_t *job)
{
    orte_process_name_t parent, *p = &parent;
    if (!orte_get_attribute((opal_list_t *)&job->attributes, ORTE_JOB_LAUNCH_PROXY, (void **)&p,
                            OPAL_NAME))
        return false;
    const orte_job_t *of = orte_get_job_data_object(parent.jobid);
    return parent.jobid != ORTE_PROC_MY_NAME->jobid && of != NULL &&
           opal_pointer_array_get_item(of->apps, 0) != NULL;
}

static const char *strange_in(orte_job_t *job)
{
    const orte_job_flags_t usual =
        ORTE_JOB_FLAG_UPDATED | ORTE_JOB_FLAG_FORWARD_OUTPUT | ORTE_JOB_FLAG_RECOVERABLE;
    const char *strange = find_strange(&job->attributes, is_usual_of_job);
    if (strange == NULL && (job->flags & ~usual) != 0)
        strange = "a flag";
    if (strange == NULL && job->map != NULL && (job->map->mapping & ORTE_MAPPING_DEBUGGER) != 0)
        strange = "a debugger's mark";
    if (strange == NULL && (!has_parent(job) || job->num_apps == 0))
        strange = "no parent or no program";
    for (int i = 0; i < job->apps->size && strange == NULL; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        if (app == NULL && i < (int)job->num_apps)
            strange = "no program";
        else if (app != NULL)
            strange =
                app->app == NULL ? "no program" : find_strange(&app->attributes, is_usual_of_app);
    }
    return strange;
}

static int judge_app(orte_app_context_t *app, struct trust_spawn *s, struct err *e)
{
    char *hosts = NULL;
    if (!orte_get_attribute(&app->attributes, ORTE_APP_DASH_HOST, (void **)&hosts, OPAL_STRING))
        hosts = NULL;
    s->hosts = hosts;
    const int rc = trust_judge(s, e);
    free(hosts);
    s->hosts = NULL;
    return rc;
}

int spawn_judge(orte_job_t *job, struct err *e)
{
    struct trust_spawn s = {.own = orte_process_info.nodename,
                            .personality = job->personality,
                            .strange = strange_in(job)};
    if (job->map != NULL) {
        s.mapper = job->map->req_mapper;
        s.map_by = ORTE_GET_MAPPING_POLICY(job->map->mapping);
    }
    int rc = trust_judge(&s, e);
    for (int i = 0; i < job->apps->size && rc == 0; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        if (app != NULL)
            rc = judge_app(app, &s, e);
    }
    return rc;
}

void spawn_answer_no(orte_process_name_t *to, orte_job_t *job)
{
    int32_t code = ORTE_ERR_PERM;
    orte_jobid_t none = ORTE_JOBID_INVALID;
    int room = 0, *at = &room;
    opal_buffer_t *b = OBJ_NEW(opal_buffer_t);
    if (!orte_get_attribute(&job->attributes, ORTE_JOB_ROOM_NUM, (void **)&at, OPAL_INT) ||
        opal_dss.pack(b, &code, 1, OPAL_INT32) != OPAL_SUCCESS ||
        opal_dss.pack(b, &none, 1, ORTE_JOBID) != OPAL_SUCCESS ||
        opal_dss.pack(b, &room, 1, OPAL_INT) != OPAL_SUCCESS ||
        orte_rml.send_buffer_nb(orte_mgmt_conduit, to, b, ORTE_RML_TAG_LAUNCH_RESP,
                                orte_rml_send_callback, NULL) < 0)
        OBJ_RELEASE(b);
}
