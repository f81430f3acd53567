/* SPDX-License-Identifier: BSD-3-Clause */
/* errmgr_replica_component_orte4.c -- a lost host or process is no lost job. Wraps the stock errmgr
 * module of the same process (default_hnp, default_orted, default_app), which still handles
 * everything else. */
#include "errmgr_replica.h"
#include "opal/mca/base/base.h"
#include "opal/util/opal_environ.h"
#include "orte/constants.h"
#include "orte/mca/state/state.h"
#include "orte/runtime/orte_globals.h"
#include "orte/util/proc_info.h"
#include "src/plm_p2p/command.h"
#include "src/common/began.h"
#include "src/common/defaults.h"
#include "src/common/guard.h"
#include "src/common/listeners.h"
#include "src/common/aggregate.h"
#include "src/common/selection.h"
#include "src/common/log.h"
#include "src/common/param.h"
#include "src/common/plug_ins.h"
#include "src/common/secret.h"
#include "src/common/stock.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PRIORITY = 5000 }; /* above every stock component */

static int replica_register(void);
static int replica_query(mca_base_module_t **module, int *priority);

struct errmgr_replica_component mca_errmgr_replica_component = {
    .super =
        {
            .base_version =
                {
                    ORTE_ERRMGR_BASE_VERSION_3_0_0,
                    .mca_component_name = "replica",
                    PARAM_VERSION(component),
                    .mca_query_component = replica_query,
                    .mca_register_component_params = replica_register,
                },
            .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
        },
};
static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;

/* Calls that never reach the message layer are taken by a small library beside the components of
 * the peer that starts the process. Puts it in front of LD_PRELOAD. */
static void preload_add(char ***environment, const char *old)
{
    Dl_info here;
    char value[2 * PATH_MAX];
    const char *end;
    if (dladdr(self, &here) == 0 || (end = strrchr(here.dli_fname, '/')) == NULL)
        return;
    snprintf(value, sizeof value, "%.*s/libp2pgrid_replica.so%s%s", (int)(end - here.dli_fname),
             here.dli_fname, old != NULL ? ":" : "", old != NULL ? old : "");
    opal_setenv("LD_PRELOAD", value, true, environment);
}

/* What the user gives to the ranks by -x comes after the environment of the peer, and hides it. */
void preload_join(orte_job_t *job)
{
    static const char name[] = "LD_PRELOAD=";
    for (int i = 0; i < job->apps->size; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        char **v = app != NULL ? app->env : NULL;
        while (v != NULL && *v != NULL && strncmp(*v, name, sizeof name - 1) != 0)
            v++;
        if (v == NULL || *v == NULL)
            continue;
        char *own = strdup(*v + sizeof name - 1);
        if (own != NULL)
            preload_add(&app->env, own);
        free(own);
    }
}

static void began_tell(void)
{
    struct timespec now;
    char text[64];
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(text, sizeof text, "%lld.%09ld", (long long)now.tv_sec, now.tv_nsec);
    setenv(BEGAN_VARIABLE, text, 1);
}

static void plug_ins_tell(void)
{
    char text[16];
    snprintf(text, sizeof text, "%d", PLUG_INS_VERSION);
    setenv(PLUG_INS_VARIABLE, text, 1);
}

/* An orted that would misunderstand its mpirun ends at once: what it says last is shown there. */
static void plug_ins_told(void)
{
    char line[PLUG_INS_LINE];
    if (plug_ins_agree(getenv(PLUG_INS_VARIABLE), line))
        return;
    log_line("%s", line);
    exit(1);
}

/* What leads an orted to its mpirun, and only that. */
static void keep_from_ranks(void)
{
    const char *const *names;
    char name[64];
    const unsigned count = command_secrets(&names);
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "OMPI_MCA_%s", names[i]);
        opal_unsetenv(name, &orte_launch_environ);
    }
}

static void register_parameters(void)
{
    const mca_base_component_t *c = &self->super.base_version;
    self->priority = PRIORITY;
    param_common(c, &orte_errmgr_base_framework, &self->priority, &self->verbose);
    self->level_text = (char *)"1";
    param_text(c, "level",
               "Copies of every rank, each on another peer, so that the job survives the loss of "
               "peers: one number (2), or numbers by rank (0:3,1-:2)",
               OPAL_INFO_LVL_1, &self->level_text);
    self->beat_ms = 250;
    param_int(c, "beat_ms", "Milliseconds between signs of life of mpirun and each peer",
              OPAL_INFO_LVL_5, &self->beat_ms);
    /* A silent host is found by the overlay within a second: this is for orteds that hang. */
    self->silence_ms = 4000;
    param_int(c, "silence_ms",
              "Milliseconds after which mpirun counts a peer as lost whose orted is silent; the "
              "overlay finds out sooner when the peer itself is silent, and an orted that waits "
              "for a processor has as much more time",
              OPAL_INFO_LVL_5, &self->silence_ms);
    /* When mpirun or its host is gone the lease ends: this is for an mpirun that hangs. */
    self->orphan_ms = 30000;
    param_int(c, "orphan_ms",
              "Milliseconds after which a peer that hears nothing of mpirun ends its processes",
              OPAL_INFO_LVL_5, &self->orphan_ms);
    self->notes = true;
    param_bool(c, "notes", "Tell of each loss that the job survives, on stderr", OPAL_INFO_LVL_3,
               &self->notes);
}

/* ORTE opens errmgr in mpirun before every framework whose parameters the grid sets, and grpcomm
 * asks for the level before errmgr is selected: now is early enough. */
static int replica_register(void)
{
    if (ORTE_PROC_IS_HNP)
        aggregate_take();
    register_parameters();
    if (!selection_is_p2p())
        return ORTE_SUCCESS;
    if (!(ORTE_PROC_IS_HNP || ORTE_PROC_IS_DAEMON))
        return ORTE_SUCCESS; /* a rank: pml_replica reads the level */
    if (level_parse(&self->level, self->level_text, &self->level_error) != 0)
        self->level.count = 0; /* refused when ORTE asks for the module */
    if (ORTE_PROC_IS_HNP) {
        aggregate_pass_on();
        param_tell_renamed();
        defaults_set();
        secret_make(); /* without one no process of the job starts */
        began_tell();
        plug_ins_tell();
        hardware_tell();
        messages_begin();
    }
    /* A replica that is not needed any more has no time to say good-bye. */
    if (ORTE_PROC_IS_HNP && survive_active())
        setenv("OMPI_MCA_odls_base_sigkill_timeout", "0", 0);
    (void)guard_pmix();
    if (ORTE_PROC_IS_DAEMON)
        keep_from_ranks();
    if (survive_active()) {
        preload_add(&orte_launch_environ, getenv("LD_PRELOAD"));
        opal_setenv("PYTHONHASHSEED", "0", true, &orte_launch_environ); /* sets in one order */
        opal_setenv("SCOTCH_PTHREAD_NUMBER", "1", true, &orte_launch_environ); /* no race */
        processors_say();
    }
    return ORTE_SUCCESS;
}

bool survive_active(void)
{
    return level_replicates(&self->level);
}

const struct level *survive_level(void)
{
    return &self->level;
}

unsigned survive_ranks(const orte_job_t *job)
{
    return level_ranks(&self->level, job->num_procs);
}

bool survive_place(const orte_process_name_t *process, unsigned ranks, unsigned *rank,
                   unsigned *lane)
{
    return level_place(&self->level, ranks, process->vpid, rank, lane);
}

uint64_t survive_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int replica_init(void)
{
    int code = self->stock.module->init();
    if (code != ORTE_SUCCESS)
        return code;
    if (ORTE_PROC_IS_HNP)
        hnp_take_over();
    else if (ORTE_PROC_IS_DAEMON)
        orted_take_over();
    if (ORTE_PROC_IS_HNP || ORTE_PROC_IS_DAEMON) {
        node_ids_take_over();
        beat_start();
    }
    return ORTE_SUCCESS;
}

static int replica_finalize(void)
{
    if (ORTE_PROC_IS_HNP || ORTE_PROC_IS_DAEMON)
        beat_stop();
    if (ORTE_PROC_IS_HNP)
        hnp_leave();
    return self->stock.module->finalize != NULL ? self->stock.module->finalize() : ORTE_SUCCESS;
}

static int replica_query(mca_base_module_t **module, int *priority)
{
    *module = NULL;
    *priority = -1;
    if (!selection_is_p2p() || !(ORTE_PROC_IS_HNP || ORTE_PROC_IS_DAEMON))
        return ORTE_ERROR;
    if (ORTE_PROC_IS_DAEMON)
        plug_ins_told(); /* first: another mpirun may write the level otherwise */
    if (self->level_error.code != 0) {
        if (ORTE_PROC_IS_HNP) {
            log_line("%s", self->level_error.text);
            exit(1); /* nothing was started; every way out of here that ORTE knows says more than
                        one line */
        }
        return ORTE_ERROR;
    }
    hardware_told();
    /* By now ORTE listens, and nobody knows at which port. */
    (void)listeners_keep_home();
    if (guard_pmix() != 0 || guard_control(ORTE_PROC_IS_HNP) != 0)
        log_trace(self->verbose, 1, -1, -1, NULL, "other users of this machine can call");
    self->stock.module = (orte_errmgr_base_module_t *)stock_find(
        &orte_errmgr_base_framework, ORTE_PROC_IS_HNP ? "default_hnp" : "default_orted");
    if (self->stock.module == NULL)
        return ORTE_ERROR;
    self->module = *self->stock.module;
    self->module.init = replica_init;
    self->module.finalize = replica_finalize;
    *module = (mca_base_module_t *)&self->module;
    *priority = self->priority;
    return ORTE_SUCCESS;
}
