/* SPDX-License-Identifier: BSD-3-Clause */
/* rmaps_locality_component.c -- how Open MPI sees the mapper: parameters, selection. */
#include "rmaps_locality.h"
#include "src/common/gate.h"
#include "opal/mca/base/base.h"
#include "orte/constants.h"

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
    struct rmaps_locality_component *c = &mca_rmaps_locality_component;
    mca_base_component_var_register(
        &c->super.base_version, "strategy",
        "concentrate: fill the nearest peers first (default); spread: one process a peer while "
        "peers last; balanced: near peers, each in proportion to its free cores and their speed",
        MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0, OPAL_INFO_LVL_2, MCA_BASE_VAR_SCOPE_READONLY,
        &c->strategy);
    return ORTE_SUCCESS;
}

static int rmaps_locality_query(mca_base_module_t **chosen, int *priority)
{
    *chosen = NULL;
    *priority = 0;
    if (!gate_open())
        return ORTE_ERROR;
    *priority = 200;
    *chosen = (mca_base_module_t *)&module;
    return ORTE_SUCCESS;
}

struct rmaps_locality_component mca_rmaps_locality_component = {
    .super = {.base_version = {ORTE_RMAPS_BASE_VERSION_2_0_0, .mca_component_name = "locality",
                               MCA_BASE_MAKE_VERSION(component, 0, 1, 0),
                               .mca_query_component = rmaps_locality_query,
                               .mca_register_component_params = rmaps_locality_register},
              .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT}}};
