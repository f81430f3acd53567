/* SPDX-License-Identifier: BSD-3-Clause */
/* rmaps_locality.h -- the mapper: which rank runs on which leased peer. */
#ifndef P2P_SRC_RMAPS_LOCALITY_RMAPS_LOCALITY_H
#define P2P_SRC_RMAPS_LOCALITY_RMAPS_LOCALITY_H
#include "orte_config.h"
#include "orte/mca/rmaps/base/base.h"
#include "orte/mca/rmaps/rmaps.h"
#include "orte/runtime/orte_globals.h"

struct rmaps_locality_component {
    orte_rmaps_base_component_t super;
    int priority, verbose; /* parameters */
    int strategy;          /* enum share_strategy */
    int strategy_index;    /* of that parameter */
};
extern struct rmaps_locality_component mca_rmaps_locality_component;

int rmaps_locality_map(orte_job_t *job);
#endif
