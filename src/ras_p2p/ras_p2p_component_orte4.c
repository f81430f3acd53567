/* SPDX-License-Identifier: BSD-3-Clause */
/* ras_p2p_component_orte4.c -- how Open MPI sees the allocator: parameters, selection. */
#include "ras_p2p.h"
#include "src/common/selection.h"
#include "src/common/param.h"
#include "orte/constants.h"
#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_component_repository.h"

enum { PRIORITY = 100 };

static int ras_p2p_finalize(void)
{
    return ORTE_SUCCESS;
}

static orte_ras_base_module_t module = {.allocate = ras_p2p_allocate, .finalize = ras_p2p_finalize};

static int ras_p2p_register(void)
{
    struct ras_p2p_component *c = &mca_ras_p2p_component;
    const mca_base_component_t *base = &c->super.base_version;
    c->priority = PRIORITY;
    param_common(base, &orte_ras_base_framework, &c->priority, &c->verbose);
    param_text(
        base, "require",
        "What a peer must have to be used, such as: mem >= 4G && cores >= 2 (default: nothing)",
        OPAL_INFO_LVL_2, &c->require);
    param_int(
        base, "spares",
        "Slots to hold in reserve, each on a peer of its own if possible: they replace peers that "
        "fail to start, and give MPI_Comm_spawn room",
        OPAL_INFO_LVL_2, &c->spares);
    param_text(base, "wait",
               "So long mpirun waits where too few slots are free, such as 30s, 10m or 2h: the "
               "owner that uses the "
               "fewest slots gets some first, then the one that waits longest (default: 0, it is "
               "refused at once)",
               OPAL_INFO_LVL_2, &c->wait);
    c->keep_output = (char *)"64K";
    param_text(
        base, "keep_output",
        "So much of what the job prints, its last words, is kept by the daemon of this desktop for "
        "p2pctl job ID --output, such as 256K; 1M at most, 0: nothing",
        OPAL_INFO_LVL_3, &c->keep_output);
    param_text(
        base, "socket",
        "Where the daemon of this desktop listens (default: $P2PGRID_SOCKET, else "
        "p2pgrid/p2pd.sock in $XDG_RUNTIME_DIR or /run/user/UID, else /tmp/p2pgrid-UID/p2pd.sock)",
        OPAL_INFO_LVL_4, &c->socket);
    ras_p2p_files_register(c, base);
    return ORTE_SUCCESS;
}

static int ras_p2p_query(mca_base_module_t **chosen, int *priority)
{
    *chosen = NULL;
    *priority = 0;
    if (!selection_is_p2p())
        return ORTE_ERROR;
    *priority = mca_ras_p2p_component.priority;
    *chosen = (mca_base_module_t *)&module;
    return ORTE_SUCCESS;
}

struct ras_p2p_component mca_ras_p2p_component = {
    .super = {.base_version = {ORTE_RAS_BASE_VERSION_2_0_0, .mca_component_name = "p2p",
                               PARAM_VERSION(component), .mca_query_component = ras_p2p_query,
                               .mca_register_component_params = ras_p2p_register},
              .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT}}};
