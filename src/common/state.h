/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h -- stepping into ORTE's state machine: take a handler's place and call it from there. */
#ifndef P2P_SRC_COMMON_STATE_H
#define P2P_SRC_COMMON_STATE_H
#include "orte_config.h"
#include "orte/mca/state/state.h"

/* Makes `handler` the one for a state and returns the one that it replaces; NULL when the state has
 * none, which leaves everything as it was. */
orte_state_cbfunc_t state_wrap_proc(orte_proc_state_t state, orte_state_cbfunc_t handler);
orte_state_cbfunc_t state_wrap_job(orte_job_state_t state, orte_state_cbfunc_t handler);
#endif
