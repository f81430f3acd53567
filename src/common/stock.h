/* SPDX-License-Identifier: BSD-3-Clause */
/* stock.h -- a component of ours that takes the place of one of Open MPI's still has it do most of
 * the work. */
#ifndef P2P_SRC_COMMON_STOCK_H
#define P2P_SRC_COMMON_STOCK_H
#include "orte_config.h"
#include "opal/mca/base/base.h"

/* The module of a stock component, which stays loaded although ours is selected in its place.
 * Within our own query; NULL: there is none, or it does not want to run here. */
mca_base_module_t *stock_find(const mca_base_framework_t *framework, const char *component);
#endif
