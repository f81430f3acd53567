/* SPDX-License-Identifier: BSD-3-Clause */
/* rtc_p2p_component_orte4.c -- where orted has forked a rank and is about to execute the program,
 * the rank goes into its lane's view. Where nothing can be mounted, what orted looks for in the
 * job's folder, before it forks any, is in lane 0's copy. */
#include "lane_enter.h"
#include "opal/mca/base/base.h"
#include "opal/util/opal_environ.h"
#include "orte/constants.h"
#include "orte/mca/odls/base/odls_private.h"
#include "orte/mca/rtc/base/base.h"
#include "orte/mca/rtc/rtc.h"
#include "orte/util/proc_info.h"
#include "overlay/files/gather.h"
#include "src/common/log.h"
#include "src/common/param.h"
#include "src/common/selection.h"
#include "src/errmgr_replica/survive_orte4.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PRIORITY = 10 }; /* after what binds the process, which reads files of the host */

static int rtc_p2p_register(void);
static int rtc_p2p_query(mca_base_module_t **module, int *priority);

struct rtc_p2p_component {
    orte_rtc_base_component_t super;
    int priority, verbose; /* parameters */
    struct lane_roots roots;
    const char *programs; /* LANE_PROGRAMS_VARIABLE, or NULL */
};

struct rtc_p2p_component mca_rtc_p2p_component = {
    .super = {.base_version = {ORTE_RTC_BASE_VERSION_1_0_0, .mca_component_name = "p2p",
                               PARAM_VERSION(component), .mca_query_component = rtc_p2p_query,
                               .mca_register_component_params = rtc_p2p_register},
              .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT}},
};
static struct rtc_p2p_component *const self = &mca_rtc_p2p_component;

/* Without a mount its copy of the folder has another name. False: it is not in the folder. */
static bool move_path(char **path, unsigned lane)
{
    char normal[PATH_MAX], there[PATH_MAX];
    if (*path == NULL || (*path)[0] != '/' || !gather_normal("/", *path, normal, sizeof normal) ||
        !lane_roots_aside(&self->roots, lane, normal, there))
        return false;
    free(*path);
    *path = strdup(there);
    return true;
}

/* A guest may execute no file that it can write to, so not that of its copy: the one that came. */
static void take_program(char **program, const char *folder)
{
    char normal[PATH_MAX], *came;
    if (self->programs == NULL || !gather_normal(folder, *program, normal, sizeof normal))
        return;
    const char *const below = lane_roots_beneath(&self->roots, normal);
    if (below == NULL || asprintf(&came, "%s%s", self->programs, below) < 0)
        return;
    if (access(came, X_OK) != 0) {
        free(came);
        return;
    }
    free(*program);
    *program = came;
}

/* orted goes to the working folder that it has found, and executes what it has found there. Both
 * are members of what says so, the variables, too. */
static void move_aside(const orte_proc_t *process, char ***environment, unsigned lane)
{
    orte_odls_spawn_caddy_t *of =
        (void *)((char *)environment - offsetof(orte_odls_spawn_caddy_t, env));
    if (of->child != process || of->wdir == NULL)
        return;
    move_path(&of->cmd, lane);
    if (!move_path(&of->app->cwd, lane))
        return;
    take_program(&of->cmd, of->app->cwd);
    free(of->wdir);
    of->wdir = strdup(of->app->cwd);
    opal_setenv("PWD", of->wdir, true, environment);
    opal_setenv(OPAL_MCA_PREFIX "initial_wdir", of->wdir, true, environment);
}

/* orted looks for folder and program of each application before it forks a rank of it. */
static void rtc_p2p_assign(orte_job_t *job)
{
    for (int i = 0; i < job->apps->size; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        if (app == NULL || ORTE_FLAG_TEST(job, ORTE_JOB_FLAG_DEBUGGER_DAEMON))
            continue;
        move_path(&app->cwd, 0);
        move_path(&app->app, 0);
    }
}

static void set_variables(unsigned lane, char ***environment)
{
    char text[PATH_MAX + 64];
    opal_unsetenv(LANE_ROOTS_VARIABLE, environment);
    opal_unsetenv(LANE_PROGRAMS_VARIABLE, environment);
    for (unsigned i = 0; lane_variable(&self->roots, lane, i, text, sizeof text) == 0; i++) {
        char *value = strchr(text, '=');
        *value = '\0';
        opal_setenv(text, value + 1, true, environment);
    }
}

/* In the child. Its stderr leads to mpirun already. */
static void rtc_p2p_set(orte_job_t *job, orte_proc_t *process, char ***environment, int error)
{
    unsigned rank, lane = 0;
    struct err e = {0};
    (void)error;
    if (job == NULL || process == NULL || ORTE_FLAG_TEST(job, ORTE_JOB_FLAG_DEBUGGER_DAEMON))
        return;
    if (survive_active() && !survive_place(&process->name, survive_ranks(job), &rank, &lane))
        lane = 0;
    if (lane_enter(&self->roots, lane, &e) != 0) {
        log_line("%s: %s", orte_process_info.nodename, e.text);
        _exit(ORTE_ERROR_DEFAULT_EXIT_CODE);
    }
    set_variables(lane, environment);
    move_aside(process, environment, lane);
}

static orte_rtc_base_module_t module = {.assign = rtc_p2p_assign, .set = rtc_p2p_set};

static int rtc_p2p_register(void)
{
    self->priority = PRIORITY;
    param_common(&self->super.base_version, &orte_rtc_base_framework, &self->priority,
                 &self->verbose);
    return ORTE_SUCCESS;
}

static int rtc_p2p_query(mca_base_module_t **chosen, int *priority)
{
    const char *text = getenv(LANE_ROOTS_VARIABLE);
    *chosen = NULL;
    *priority = 0;
    if (!ORTE_PROC_IS_DAEMON || !selection_is_p2p() || text == NULL ||
        !lane_roots_parse(&self->roots, text))
        return ORTE_ERROR;
    self->programs = getenv(LANE_PROGRAMS_VARIABLE);
    *priority = self->priority;
    *chosen = (mca_base_module_t *)&module;
    return ORTE_SUCCESS;
}
