/* SPDX-License-Identifier: BSD-3-Clause */
/* pml_replica_component_ompi4.c -- off unless the job runs replicas; then the message layer of
 * every process. */
#include "glue.h"
#include "heap.h"
#include "overlay/base/err.h"
#include "src/common/selection.h"
#include "src/survive/level.h"
#include "src/common/log.h"
#include "src/common/nodelay.h"
#include "src/common/param.h"
#include "src/survive/names.h"
#include "src/common/secret.h"
#include "opal/runtime/opal_params.h"
#include "ompi/mca/hook/base/base.h"
#include "ompi/mca/hook/hook.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/rte/rte.h"
#include "ompi/runtime/mpiruntime.h"
#include "ompi/runtime/params.h"

struct replica replica;

enum { PRIORITY = 100 };

/* --- parameters --- */

extern mca_pml_base_component_2_0_0_t mca_pml_replica_component;

static void register_sizes(const mca_base_component_t *c, struct replica_params *p)
{
    param_size(c, "eager_limit", "Bytes up to which a message is sent at once and copied",
               OPAL_INFO_LVL_5, &p->eager_limit);
    param_size(c, "fragment", "Bytes of a larger message that travel in one piece", OPAL_INFO_LVL_5,
               &p->fragment);
    param_size(c, "log_limit",
               "Bytes of sent messages kept for lanes that are behind, in a process",
               OPAL_INFO_LVL_5, &p->log_limit);
    param_size(
        c, "copy_rate",
        "Bytes a second of large messages that are copied at once for lanes that are late, and "
        "eight times as many where nothing is to be received; more wait for lag_ms",
        OPAL_INFO_LVL_5, &p->copy_rate);
    param_size(c, "copy_alone",
               "Bytes up to which a large message is copied at once for lanes that are late, "
               "whatever the rate, when the program waits for nothing else; four times as many for "
               "lanes on other desktops",
               OPAL_INFO_LVL_5, &p->copy_alone);
    param_size(c, "window_limit",
               "Bytes of one-sided communication of a window on their way from a process, and of "
               "what it answers to others",
               OPAL_INFO_LVL_5, &p->window_limit);
}

static void register_times(const mca_base_component_t *c, struct replica_params *p)
{
    param_unsigned(
        c, "lag_ms",
        "Milliseconds after which a large message waits as a copy for a lane that receives nothing",
        OPAL_INFO_LVL_5, &p->lag_ms);
    param_unsigned(
        c, "drop_after_ms",
        "Milliseconds after which a process that others wait for, and that gives no sign "
        "of life, is taken for dead; 0: never",
        OPAL_INFO_LVL_5, &p->drop_after_ms);
    param_unsigned(c, "retry_ms", "Milliseconds for which a broken connection is tried again",
                   OPAL_INFO_LVL_5, &p->retry_ms);
    param_unsigned(
        c, "silence_ms",
        "Milliseconds without a sign of a host after which a connection is broken; 0: as "
        "the system thinks",
        OPAL_INFO_LVL_5, &p->silence_ms);
}

static void register_switches(const mca_base_component_t *c, struct replica_params *p)
{
    const mca_base_var_info_lvl_t level = OPAL_INFO_LVL_4;
    param_bool(c, "verify",
               "Compare the contents of messages between lanes: finds silent corruption", level,
               &p->verify);
    param_bool(c, "encrypt",
               "Encrypt messages between hosts, with keys of this job; also at level 1", level,
               &p->encrypt);
    param_bool(c, "shared_memory", "Use shared memory between processes of one host", level,
               &p->shared_memory);
    param_bool(c, "progress_thread",
               "A thread serves the other lanes while the program computes for long", level,
               &p->progress_thread);
    param_bool(
        c, "clock",
        "Give the program the same clocks in all lanes: time(), gettimeofday(), clock_gettime()",
        level, &p->clock);
    param_bool(c, "direct", "Replicate a job of a plain mpirun, without the grid: for tests", level,
               &p->direct);
}

static int component_register(void)
{
    const mca_base_component_t *c = &mca_pml_replica_component.pmlm_version;
    struct replica_params *p = &replica.params;
    *p = (struct replica_params){.eager_limit = 64 << 10,
                                 .fragment = 512 << 10,
                                 .log_limit = 64 << 20,
                                 .window_limit = 16 << 20,
                                 .copy_rate = engine_default_limits.copy_rate,
                                 .copy_alone = engine_default_limits.copy_alone,
                                 .lag_ms = engine_default_limits.lag_ms,
                                 .drop_after_ms = engine_default_limits.drop_after_ms,
                                 .retry_ms = 500,
                                 .silence_ms = 1000,
                                 .shared_memory = true,
                                 .progress_thread = true,
                                 .clock = true};
    replica.pml.priority = PRIORITY;
    param_common(c, &ompi_pml_base_framework, &replica.pml.priority, &replica.pml.verbose);
    register_sizes(c, p);
    register_times(c, p);
    register_switches(c, p);
    param_text(c, "address", "Addresses to listen on, with commas; empty: those of the host",
               OPAL_INFO_LVL_5, &p->address);
    return OMPI_SUCCESS;
}

/* --- the gate --- */

/* mpirun gives its selection of ras to the ranks. */
static bool on_the_grid(void)
{
    const char *ras = getenv("OMPI_MCA_ras");
    return ras != NULL && selection_names(ras, "p2p");
}

/* Ranks and lanes of a job of so many processes, which come lane by lane; false: they do not add
 * up. */
static bool roles_assign(const struct level *level, unsigned processes, unsigned self)
{
    const unsigned ranks = level_ranks(level, processes), lanes = level_lanes(level, ranks);
    if (level_processes(level, ranks) != processes)
        return false;
    replica.ranks = (int)ranks;
    replica.lanes = (int)lanes;
    replica.process_count = (int)processes;
    replica.process_of = calloc(ranks * lanes, sizeof *replica.process_of);
    replica.replica_of = calloc(processes, sizeof *replica.replica_of);
    if (replica.process_of == NULL || replica.replica_of == NULL)
        return false;
    for (unsigned i = 0; i < ranks * lanes; i++)
        replica.process_of[i] = -1;
    for (unsigned process = 0; process < processes; process++) {
        unsigned rank, lane;
        (void)level_place(level, ranks, process, &rank, &lane);
        replica.replica_of[process] = (int)names_vpid(ranks, rank, lane);
        replica.process_of[replica.replica_of[process]] = (int)process;
    }
    replica.rank = replica.replica_of[self] % (int)ranks;
    replica.lane = replica.replica_of[self] / (int)ranks;
    return true;
}

/* One thread at a time, which the standard allows to say. A program that wanted more may not heed
 * that. */
static void init_bottom(int argc, char **argv, int requested, int *provided)
{
    (void)argc, (void)argv;
    replica.watch_threads = requested == MPI_THREAD_MULTIPLE;
    if (*provided == MPI_THREAD_MULTIPLE) {
        *provided = ompi_mpi_thread_provided = MPI_THREAD_SERIALIZED;
        if (replica.rank == 0)
            fprintf(stderr, "p2pgrid: the program asked for MPI_THREAD_MULTIPLE and was granted "
                            "MPI_THREAD_SERIALIZED, as replicas need one order of calls\n");
    }
    ompi_mpi_thread_multiple = false;
}

static ompi_hook_base_component_1_0_0_t hook = {
    .hookm_version = {OMPI_HOOK_BASE_VERSION_1_0_0, .mca_component_name = "replica"},
    .hookm_mpi_init_bottom = init_bottom,
};

/* The same words in each lane, as of all that a rank writes. */
static void trace_copies(const struct level *level)
{
    for (unsigned lane = 0, process; lane < (unsigned)replica.lanes; lane++)
        if (level_process(level, (unsigned)replica.ranks, (unsigned)replica.rank, lane, &process))
            log_rank(replica.pml.verbose, 1, replica.rank,
                     "process %u of %d is the copy in lane %u of %d", process,
                     replica.process_count, lane, replica.lanes);
}

static mca_pml_base_module_t *component_init(int *priority, bool progress_threads, bool threads)
{
    (void)progress_threads, (void)threads;
    struct level level;
    struct err e = {0};
    const char *text = getenv("OMPI_MCA_errmgr_replica_level");
    bool wanted =
        replica.params.direct || (on_the_grid() && (text != NULL || replica.params.encrypt));
    if (!wanted || level_parse(&level, text != NULL ? text : "1", &e) != 0 ||
        !(level_replicates(&level) || replica.params.direct || replica.params.encrypt))
        return NULL;
    unsigned processes = ompi_process_info.num_procs;
    if (!roles_assign(&level, processes, OMPI_PROC_MY_NAME->vpid)) {
        if (OMPI_PROC_MY_NAME->vpid == 0)
            fprintf(
                stderr,
                "p2pgrid: %u processes are no whole number of ranks at errmgr_replica_level %s\n",
                processes, text != NULL ? text : "1");
        ompi_rte_abort(1, NULL);
    }
    int rc = link_open();
    if (rc == -ENOKEY) {
        fprintf(stderr, "p2pgrid: no secret of the job came with the environment "
                        "(" SECRET_VARIABLE "): start the program with mpirun\n");
        ompi_rte_abort(1, NULL);
    } else if (rc != 0) {
        fprintf(stderr, "p2pgrid: cannot listen on '%s' (pml_replica_address): %s\n",
                replica.params.address != NULL ? replica.params.address : "", strerror(-rc));
        ompi_rte_abort(1, NULL);
    }
    nodelay_to(getenv("PMIX_SERVER_URI41"));
    ompi_async_mpi_finalize = true; /* we say good-bye ourselves */
    ompi_hook_base_register_callbacks(&hook);
    heap_keep();
    trace_copies(&level);
    *priority = replica.pml.priority;
    return &replica_module;
}

static int component_finalize(void)
{
    link_finish();
    ompi_hook_base_deregister_callbacks(&hook);
    return OMPI_SUCCESS;
}

mca_pml_base_component_2_0_0_t mca_pml_replica_component = {
    .pmlm_version = {MCA_PML_BASE_VERSION_2_0_0, .mca_component_name = "replica",
                     PARAM_VERSION(component), .mca_register_component_params = component_register},
    .pmlm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .pmlm_init = component_init,
    .pmlm_finalize = component_finalize,
};
