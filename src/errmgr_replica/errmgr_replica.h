/* SPDX-License-Identifier: BSD-3-Clause */
/* errmgr_replica.h -- the component's own state and its parts; nobody outside the folder needs it.
 */
#ifndef P2P_SRC_ERRMGR_REPLICA_ERRMGR_REPLICA_H
#define P2P_SRC_ERRMGR_REPLICA_ERRMGR_REPLICA_H
#include "survive_orte4.h"
#include "opal/mca/event/event.h"
#include "orte/mca/errmgr/base/base.h"
#include "orte/mca/state/state_types.h"
#include "src/survive/fate.h"
#include "src/survive/heartbeat.h"
#include "overlay/base/recent.h"
#include "src/survive/place_updates.h"

/* Handlers of the stock component and of the state machine, which ours call for all that is not
 * theirs. */
struct stock_handlers {
    orte_errmgr_base_module_t *module;
    orte_state_cbfunc_t comm_failed, proc_error, proc_registered, proc_terminated, vm_ready,
        map_complete, launched, running;
};

struct early_loss {
    orte_vpid_t daemon;
    enum fate_cause cause;
};

struct errmgr_replica_component {
    orte_errmgr_base_component_t super;
    /* parameters */
    int priority, verbose;
    char *level_text;
    int beat_ms, silence_ms, orphan_ms;
    bool notes;
    /* state */
    struct level level;
    struct err level_error; /* why level_text cannot be read */
    orte_errmgr_base_module_t module;
    struct stock_handlers stock;
    bool encrypted;   /* what ranks tell each other */
    bool chose_stock; /* the message layer is Open MPI's, and the grid named it, not the user */
    int hardware;     /* a file with what mpirun's own machine is like; 0: none */
    struct {
        struct heartbeat *watch;
        opal_event_t timer;
        bool on;
    } beat;
    struct {
        bool early_death; /* of a process that PMIx did not know yet */
    } orted;
    struct {
        struct fate *fate;        /* of the first job; NULL before it is mapped */
        struct early_loss *early; /* peers lost before that */
        size_t early_count;
        orte_jobid_t job;
        unsigned ranks, lanes;
        uint64_t start_ms;
        bool collected, lingering, ending;
        bool telling;          /* of losses, soon */
        opal_event_t tell;     /* runs while telling */
        bool lane_explained;   /* a line has said what a lane is */
        int status;            /* what mpirun exits with; valid when ending */
        opal_event_t grace;    /* when lingering: until the lanes that are behind are ended */
        opal_event_t patience; /* ends mpirun when orteds do not answer the order to end */
        struct {
            bool begun, waits;
            orte_process_name_t by;
            int status;
            opal_event_t timer; /* runs while it waits */
        } abort;
    } hnp;
    struct {
        struct place_updates
            *updates; /* NULL before the first job is mapped, and when it is over */
        unsigned ranks, lanes;
        char program[256];
        bool introduced, waiting;
        opal_event_t timer;   /* runs while waiting */
        struct recent output; /* that the ranks print; room 0: it is not kept */
        uint64_t output_told; /* so far the daemon knows it */
        bool output_begun, output_waiting;
        opal_event_t output_timer; /* runs while output_waiting */
    } report;
};

extern struct errmgr_replica_component mca_errmgr_replica_component;

/* Ranks that the user gives libraries to preload (mpirun -x LD_PRELOAD=...) get ours with them. */
void preload_join(orte_job_t *job);

/* hardware_orte4.c: in mpirun, before its PMIx server starts, and after. */
void hardware_tell(void);
void hardware_told(void);

/* processors_orte4.c: in mpirun and orteds, when parameters are registered; in mpirun, when the job
 * is mapped. */
void processors_say(void);
void processors_join(orte_job_t *job);

/* node_ids_orte4.c: before the first job is known here. */
void node_ids_take_over(void);

/* messages_orte4.c */
void messages_begin(void); /* in mpirun, before the frameworks are opened */

/* Take over the states that matter; after the stock module's init. */
void hnp_take_over(void);
void hnp_leave(void);
void orted_take_over(void);

/* loss_orte4.c: in mpirun: which peers and processes are gone. */

/* A peer with what runs on it: it was not heard of for too long, its connection closed, or the
 * overlay declares it dead; the first of these counts. why: of FATE_HOST_ENDED, in words that
 * begin with the peer's name. */
void hnp_daemon_lost(orte_vpid_t daemon, enum fate_cause cause, const char *why);
void hnp_lose_all_of(const orte_proc_t *daemon, enum fate_cause cause, const char *why);
/* Why a peer was lost before the job was mapped. */
enum fate_cause hnp_early_cause(orte_vpid_t daemon);
void hnp_lose(const orte_proc_t *p, enum fate_cause cause, int value);
/* Losses are told a moment later, those of a desktop together; by this at once. */
void hnp_tell_losses(void);
/* Lets ORTE count a process that will not report any more. */
void hnp_account(orte_proc_t *p);
orte_job_t *hnp_daemons(void);
orte_proc_t *hnp_find_daemon(orte_vpid_t vpid);
bool hnp_is_lost(const orte_proc_t *daemon);
bool hnp_has(orte_jobid_t job); /* is it the replicated job? */
const char *hnp_peer_of(const orte_proc_t *p);
bool hnp_place(const orte_process_name_t *process, unsigned *rank, unsigned *lane);

/* recall_orte4.c: a peer's owner wants it back. True: nothing of the job is there any more. */
bool hnp_recalled(orte_vpid_t daemon, const char *why);

/* end_orte4.c: in mpirun, when it is over. */

void hnp_judge(void); /* after each loss and each end: is the job done, or over? */
void hnp_check_first_process(void);
/* Every orted ends its processes and itself. No other line than ours is printed. */
void hnp_end(int status);
bool hnp_ends_already(void);
/* A process has aborted. What others had printed before waits until all hold what it depends on,
 * some 30 ms where nobody has just died; stock code would end those that wrote and forward it at
 * once. True: it is told of the abort a moment later. */
bool hnp_abort_later(const orte_proc_t *p);
bool hnp_abort_waits(void); /* how others end meanwhile is of no account */

/* report_orte4.c: what the local daemon hears of the first job; enum place_state. */
void report_begin(const orte_job_t *job);
void report_place(const orte_proc_t *p, unsigned char state);
void report_end(void); /* before its connection closes */

/* map_orte4.c: which ranks run where, if mpirun was asked to show it. */
void map_tell(const orte_job_t *job);

/* flush_orte4.c: a process of this host aborts, and what it wrote before has not left yet. True:
 * `then` is called when that is done. */
bool flush_before_abort(orte_state_caddy_t *caddy, orte_state_cbfunc_t then);

/* notify_orte4.c: to all ranks. */
void notify_lost(const orte_process_name_t *lost);

/* beat_orte4.c */
void beat_start(void);
void beat_stop(void);
/* In mpirun: how a silent orted gets on, as the daemon of its peer sees it. */
void beat_status(orte_vpid_t daemon, unsigned waits);

#endif
