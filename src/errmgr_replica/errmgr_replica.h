/* SPDX-License-Identifier: BSD-3-Clause */
/* errmgr_replica.h -- the component's own state and its parts; nobody outside the folder needs it.
 */
#ifndef P2P_ERRMGR_REPLICA_H
#define P2P_ERRMGR_REPLICA_H
#include "survive_orte4.h"
#include "opal/mca/event/event.h"
#include "orte/mca/errmgr/base/base.h"
#include "orte/mca/state/state_types.h"
#include "fate.h"
#include "heartbeat.h"

/* Handlers of the stock component and of the state machine, which ours call for all that is not
 * theirs. */
struct stock_handlers {
    orte_errmgr_base_module_t *module;
    orte_state_cbfunc_t comm_failed, proc_error, proc_registered, proc_terminated, vm_ready,
        map_complete;
};

struct errmgr_replica_component {
    orte_errmgr_base_component_t super;
    /* parameters */
    char *level_text;
    int beat_ms, silence_ms, orphan_ms;
    bool notes;
    /* state */
    struct level level;
    struct err level_error; /* why level_text cannot be read */
    orte_errmgr_base_module_t module;
    struct stock_handlers stock;
    struct {
        struct heartbeat *watch;
        opal_event_t timer;
        bool on;
    } beat;
    struct {
        struct fate *fate; /* of the first job; NULL before it is mapped */
        orte_jobid_t job;
        unsigned ranks, lanes;
        uint64_t start_ms;
        bool collected, ending;
        opal_event_t patience; /* ends mpirun when orteds do not answer the order to end */
    } hnp;
};

extern struct errmgr_replica_component mca_errmgr_replica_component;

/* Take over the states that matter; after the stock module's init. */
void hnp_take_over(void);
void hnp_leave(void);
void orted_take_over(void);

/* mpirun: nothing was heard of this daemon for too long. */
void hnp_daemon_silent(orte_vpid_t daemon);

void beat_start(void);
void beat_stop(void);

#endif
