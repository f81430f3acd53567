/* SPDX-License-Identifier: BSD-3-Clause */
/* plm_p2p_component_orte4.c -- how Open MPI sees the launcher: parameters, selection, the module.
 */
#include "plm_p2p.h"
#include "src/common/selection.h"
#include "src/common/param.h"
#include "src/ras_p2p/ras_p2p.h"
#include "opal/mca/base/base.h"
#include "orte/constants.h"
#include "orte/mca/plm/base/plm_private.h"
#include "orte/util/proc_info.h"

enum { PRIORITY = 1000 }; /* above every stock component */

static int plm_p2p_init(void)
{
    int rc = orte_state.add_job_state(ORTE_JOB_STATE_LAUNCH_DAEMONS, plm_p2p_launch_daemons,
                                      ORTE_SYS_PRI);
    if (rc == ORTE_SUCCESS)
        rc = orte_plm_base_comm_start();
    if (rc == ORTE_SUCCESS)
        rc = plm_p2p_watch();
    if (rc == ORTE_SUCCESS)
        rc = trust_guard_messages();
    orte_plm_globals.daemon_nodes_assigned_at_launch = true;
    /* Never on orted's command line: peers may still change, and the launch message tells all. */
    orte_plm_globals.node_regex_threshold = 0;
    return rc;
}

static int plm_p2p_launch(orte_job_t *job)
{
    ORTE_ACTIVATE_JOB_STATE(job, ORTE_FLAG_TEST(job, ORTE_JOB_FLAG_RESTART) ? ORTE_JOB_STATE_MAP
                                                                            : ORTE_JOB_STATE_INIT);
    return ORTE_SUCCESS;
}

static int plm_p2p_finalize(void)
{
    plm_p2p_unwatch();
    ras_p2p_end();
    return orte_plm_base_comm_stop();
}

/* Told to an orted that is on its way or leaving, a signal would end the job. */
static int plm_p2p_signal(orte_jobid_t job, int32_t signal)
{
    const struct plm_p2p_component *c = &mca_plm_p2p_component;
    if (c->ending || c->vnodes == NULL || !vnodes_all_reported(c->vnodes))
        return ORTE_SUCCESS;
    return orte_plm_base_orted_signal_local_procs(job, signal);
}

static orte_plm_base_module_t module = {
    .init = plm_p2p_init,
    .set_hnp_name = orte_plm_base_set_hnp_name,
    .spawn = plm_p2p_launch,
    .terminate_job = orte_plm_base_orted_terminate_job,
    .terminate_orteds = plm_p2p_terminate,
    .terminate_procs = orte_plm_base_orted_kill_local_procs,
    .signal_job = plm_p2p_signal,
    .finalize = plm_p2p_finalize,
};

/* What a peer may take, and for how long. */
static void register_limits(struct plm_p2p_component *c, const mca_base_component_t *base)
{
    c->timeout_s = 3;
    param_int(
        base, "timeout_s",
        "Seconds that a peer may take from being asked to its orted's report. Then another peer "
        "takes its place; when there is none it may take four times as long",
        OPAL_INFO_LVL_4, &c->timeout_s);
    param_text(base, "limit_memory",
               "Memory that the job takes on each peer at most, in bytes or such as 512M or 4G; "
               "more ends it there (default: what the owner lends)",
               OPAL_INFO_LVL_3, &c->limit_memory);
    param_int(base, "limit_processes",
              "Processes and threads, orted's among them, that the job runs on each peer at most; "
              "0: as many as the owner allows",
              OPAL_INFO_LVL_3, &c->limit_processes);
    param_int(base, "limit_time_s", "Seconds after which a peer ends the job; 0: never",
              OPAL_INFO_LVL_3, &c->limit_time_s);
}

static int plm_p2p_register(void)
{
    static const mca_base_var_enum_value_t confine[] = {
        {PLM_P2P_AUTO, "auto"}, {PLM_P2P_ALWAYS, "always"}, {0, NULL}};
    struct plm_p2p_component *c = &mca_plm_p2p_component;
    const mca_base_component_t *base = &c->super.base_version;
    c->priority = PRIORITY;
    param_common(base, &orte_plm_base_framework, &c->priority, &c->verbose);
    register_limits(c, base);
    param_text(
        base, "programs",
        "Further programs that the job's own execute, separated by commas: a peer executes for its "
        "guests those of its system and those that the job names, if they are the same there",
        OPAL_INFO_LVL_3, &c->programs_text);
    param_text(base, "files",
               "Files that the job reads, separated by commas: a peer whose copy is missing or "
               "differs from the one here starts nothing of the job",
               OPAL_INFO_LVL_3, &c->files_text);
    param_short_name(
        param_text(base, "files_every",
                   "So often, such as 60s or 5m, the files that the job has made or changed come "
                   "into its folder here while it runs, besides at its end (default: never)",
                   OPAL_INFO_LVL_3, &c->every_text),
        "p2p_files_every");
    c->confine_when = PLM_P2P_AUTO;
    c->confine_index = param_word(
        base, "confine",
        "auto: processes on your own desktops are confined as a guest's are if another owner's "
        "peer is in the job from the start, and a job without one takes none in later; always: "
        "they are confined in any case",
        OPAL_INFO_LVL_4, confine, &c->confine_when);
    return ORTE_SUCCESS;
}

static int plm_p2p_query(mca_base_module_t **chosen, int *priority)
{
    *chosen = NULL;
    *priority = 0;
    if (!ORTE_PROC_IS_HNP || !selection_is_p2p())
        return ORTE_ERROR;
    *priority = mca_plm_p2p_component.priority;
    *chosen = (mca_base_module_t *)&module;
    return ORTE_SUCCESS;
}

struct plm_p2p_component mca_plm_p2p_component = {
    .super = {.base_version = {ORTE_PLM_BASE_VERSION_2_0_0, .mca_component_name = "p2p",
                               PARAM_VERSION(component), .mca_query_component = plm_p2p_query,
                               .mca_register_component_params = plm_p2p_register},
              .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT}}};
