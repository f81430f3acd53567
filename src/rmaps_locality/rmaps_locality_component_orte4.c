/* SPDX-License-Identifier: BSD-3-Clause */
/* rmaps_locality_component_orte4.c -- how Open MPI sees the mapper: parameters, selection. */
#include "rmaps_locality.h"
#include "overlay/core/lease/share.h"
#include "src/common/selection.h"
#include "src/common/param.h"
#include "opal/mca/base/base.h"
#include "orte/constants.h"

enum { PRIORITY = 200 }; /* above every stock component */

/* Jobs of this mapper are described to the last process, so orteds have nothing to work out. */
static int rmaps_locality_assign(orte_job_t *job)
{
    (void)job;
    return ORTE_ERR_TAKE_NEXT_OPTION;
}

static orte_rmaps_base_module_t module = {.map_job = rmaps_locality_map,
                                          .assign_locations = rmaps_locality_assign};

static int rmaps_locality_register(void)
{
    static const mca_base_var_enum_value_t strategies[] = {{SHARE_CONCENTRATE, "concentrate"},
                                                           {SHARE_SPREAD, "spread"},
                                                           {SHARE_BALANCED, "balanced"},
                                                           {0, NULL}};
    struct rmaps_locality_component *c = &mca_rmaps_locality_component;
    const mca_base_component_t *base = &c->super.base_version;
    c->priority = PRIORITY;
    param_common(base, &orte_rmaps_base_framework, &c->priority, &c->verbose);
    c->strategy = SHARE_CONCENTRATE;
    c->strategy_index = param_word(
        base, "strategy",
        "concentrate: fill the nearest peers first, and bind each process to a core if this is "
        "given; spread: one process a peer while peers last; balanced: near peers, each in "
        "proportion to its free cores and their speed",
        OPAL_INFO_LVL_2, strategies, &c->strategy);
    return ORTE_SUCCESS;
}

static int rmaps_locality_query(mca_base_module_t **chosen, int *priority)
{
    *chosen = NULL;
    *priority = 0;
    if (!selection_is_p2p())
        return ORTE_ERROR;
    *priority = mca_rmaps_locality_component.priority;
    *chosen = (mca_base_module_t *)&module;
    return ORTE_SUCCESS;
}

struct rmaps_locality_component mca_rmaps_locality_component = {
    .super = {.base_version = {ORTE_RMAPS_BASE_VERSION_2_0_0, .mca_component_name = "locality",
                               PARAM_VERSION(component),
                               .mca_query_component = rmaps_locality_query,
                               .mca_register_component_params = rmaps_locality_register},
              .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT}}};
