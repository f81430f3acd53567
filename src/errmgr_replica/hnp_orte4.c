/* SPDX-License-Identifier: BSD-3-Clause */
/* hnp_orte4.c -- mpirun's side: turns what ORTE reports into losses and ends. */
#include "errmgr_replica.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/mca/rmaps/rmaps_types.h"
#include "orte/mca/rml/rml.h"
#include "orte/mca/routed/routed.h"
#include "orte/util/error_strings.h"
#include "orte/util/name_fns.h"
#include "orte/util/threads.h"
#include "src/common/log.h"
#include "src/common/nodelay.h"
#include "src/plm_p2p/plm_p2p.h"
#include "src/ras_p2p/ras_p2p.h"
#include "src/common/state.h"
#include "overlay/client/words.h"
#include "orte/constants.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;

/* True when the report was handled here. */
static bool daemon_error(orte_proc_t *d, orte_proc_state_t state)
{
    if (d->name.vpid == ORTE_PROC_MY_NAME->vpid || hnp_ends_already())
        return false;
    switch (state) {
    case ORTE_PROC_STATE_COMM_FAILED:
    case ORTE_PROC_STATE_HEARTBEAT_FAILED:
    case ORTE_PROC_STATE_UNABLE_TO_SEND_MSG:
    case ORTE_PROC_STATE_NO_PATH_TO_TARGET:
    case ORTE_PROC_STATE_FAILED_TO_CONNECT:
    case ORTE_PROC_STATE_PEER_UNKNOWN:
    case ORTE_PROC_STATE_CALLED_ABORT:
        if (!plm_p2p_is_over())
            hnp_daemon_lost(d->name.vpid, FATE_HOST_LOST, NULL);
        return true;
    default:
        return false;
    }
}

/* At level 1 stock code ends the job. It is told as a lost host is, but without advice: by a fault
 * of the program's own each copy would end, and where a signal came from is not known. */
static void tell_of_signal(const orte_proc_t *p)
{
    if (hnp_ends_already() || orte_job_term_ordered || ORTE_LOCAL_JOBID(p->name.jobid) != 1)
        return;
    log_line("rank %lu was killed by signal %d (%s) on %s after %.2f s: the job ends",
             (unsigned long)p->name.vpid, p->exit_code - 128, strsignal(p->exit_code - 128),
             hnp_peer_of(p), (double)(survive_now_ms() - self->hnp.start_ms) / 1000);
    orte_execute_quiet = true; /* instead of what stock code says */
}

static int why_not_started(int code)
{
    switch (code) {
    case ORTE_ERR_EXE_NOT_FOUND:
        return ENOENT;
    case ORTE_ERR_EXE_NOT_ACCESSIBLE:
        return EACCES;
    case ORTE_ERR_WDIR_NOT_FOUND:
        return ENOTDIR;
    default:
        return 0;
    }
}

static void hnp_blame(const orte_process_name_t *process)
{
    unsigned rank, lane;
    if (hnp_place(process, &rank, &lane))
        iof_replica_blame(rank, lane);
}

static bool process_error(orte_proc_t *p, orte_proc_state_t state)
{
    if (!survive_active() && state == ORTE_PROC_STATE_ABORTED_BY_SIG && p->exit_code > 128)
        tell_of_signal(p);
    if (self->hnp.ending && plm_p2p_results_wanted())
        return true; /* the verdict is known, and stock code would end the fetching of results */
    if (!survive_active() || !hnp_has(p->name.jobid))
        return false;
    if (hnp_ends_already() || orte_job_term_ordered)
        return false;
    if (hnp_abort_waits())
        return true;
    switch (state) {
    case ORTE_PROC_STATE_ABORTED_BY_SIG:
        hnp_lose(p, FATE_SIGNAL, p->exit_code > 128 ? p->exit_code - 128 : p->exit_code);
        break;
    case ORTE_PROC_STATE_ABORTED:
    case ORTE_PROC_STATE_TERM_WO_SYNC:
        hnp_lose(p, FATE_NO_FINALIZE, p->exit_code);
        break;
    case ORTE_PROC_STATE_TERM_NON_ZERO:
        hnp_lose(p, FATE_STATUS, p->exit_code);
        break;
    case ORTE_PROC_STATE_FAILED_TO_START:
    case ORTE_PROC_STATE_FAILED_TO_LAUNCH:
        hnp_lose(p, FATE_NO_START, why_not_started(p->exit_code));
        hnp_account(p);
        break;
    case ORTE_PROC_STATE_CALLED_ABORT: /* stock code ends the job */
        hnp_blame(&p->name);
        return hnp_abort_later(p);
    case ORTE_PROC_STATE_COMM_FAILED:
        return true; /* its daemon, or waitpid, tells more */
    default:
        return false;
    }
    if (ORTE_FLAG_TEST(p, ORTE_PROC_FLAG_LOCAL))
        ORTE_ACTIVATE_PROC_STATE(&p->name, ORTE_PROC_STATE_WAITPID_FIRED);
    grpcomm_replica_recheck();
    hnp_check_first_process();
    hnp_judge();
    return true;
}

static void act_on_error(int fd, short args, void *context)
{
    orte_state_caddy_t *caddy = context;
    ORTE_ACQUIRE_OBJECT(caddy);
    const orte_proc_state_t state = caddy->proc_state;
    orte_proc_t *p = orte_finalizing ? NULL : orte_get_proc_object(&caddy->name);
    bool daemon = p != NULL && caddy->name.jobid == ORTE_PROC_MY_NAME->jobid;
    if (p != NULL) {
        log_trace(self->verbose, 2, -1, -1, hnp_peer_of(p), "%s: %s", ORTE_NAME_PRINT(&caddy->name),
                  orte_proc_state_to_str(state));
        if (daemon ? daemon_error(p, state) : process_error(p, state)) {
            OBJ_RELEASE(caddy);
            return;
        }
    }
    if (daemon && hnp_ends_already() &&
        (state == ORTE_PROC_STATE_UNABLE_TO_SEND_MSG ||
         state == ORTE_PROC_STATE_FAILED_TO_CONNECT || state == ORTE_PROC_STATE_NO_PATH_TO_TARGET))
        caddy->proc_state = ORTE_PROC_STATE_COMM_FAILED;
    if (caddy->proc_state == ORTE_PROC_STATE_COMM_FAILED)
        self->stock.comm_failed(fd, args, context);
    else
        self->stock.proc_error(fd, args, context);
}

static void on_error(int fd, short args, void *context)
{
    ORTE_ACQUIRE_OBJECT(context);
    if (!flush_before_abort(context, act_on_error))
        act_on_error(fd, args, context);
}

/* Once the map is shown, only oob/tcp speaks here of a lost peer: nine lines, on stdout. */
static void orte_hush(void)
{
    if (!orte_report_launch_progress)
        orte_clean_output = -1;
}

static void on_registered(int fd, short args, void *context)
{
    orte_state_caddy_t *caddy = context;
    ORTE_ACQUIRE_OBJECT(caddy);
    const orte_proc_t *p = orte_get_proc_object(&caddy->name);
    if (p != NULL && ORTE_FLAG_TEST(p, ORTE_PROC_FLAG_LOCAL))
        nodelay_all();
    orte_hush();
    self->stock.proc_registered(fd, args, context);
    hnp_check_first_process();
}

/* Stock code takes a process that has ended off its node's list. Those of a peer that is lost at
 * birth must stay: the map that PMIx is given is made of these lists, and it takes no empty node.
 */
static void stay_on_node(orte_proc_t *p)
{
    if (p->node == NULL || p->node->state != ORTE_NODE_STATE_DOWN)
        return;
    OBJ_RETAIN(p);
    opal_pointer_array_add(p->node->procs, p); /* stock code drops the first it finds */
}

/* A process of a lost peer may be reported again by a peer that was not so lost: counted once. */
static void on_terminated(int fd, short args, void *context)
{
    orte_state_caddy_t *caddy = context;
    ORTE_ACQUIRE_OBJECT(caddy);
    orte_proc_t *p = orte_get_proc_object(&caddy->name);
    const orte_process_name_t name = caddy->name;
    if (p == NULL || !survive_active() || !hnp_has(name.jobid)) {
        if (p != NULL && p->exit_code == 0 && !hnp_ends_already())
            report_place(p, PLACE_FINISHED);
        self->stock.proc_terminated(fd, args, context);
        return;
    }
    if (ORTE_FLAG_TEST(p, ORTE_PROC_FLAG_RECORDED)) {
        OBJ_RELEASE(caddy);
        return;
    }
    ORTE_FLAG_SET(p, ORTE_PROC_FLAG_RECORDED);
    const bool well =
        !survive_gone(&name) && !hnp_ends_already() && !orte_job_term_ordered && !hnp_abort_waits();
    if (well)
        report_place(p, PLACE_FINISHED);
    stay_on_node(p);
    self->stock.proc_terminated(fd, args, context);
    if (!well)
        return;
    unsigned rank, lane;
    if (!hnp_place(&name, &rank, &lane))
        return;
    (void)fate_finish(self->hnp.fate, rank, lane);
    iof_replica_finish(rank, lane);
    grpcomm_replica_recheck();
    hnp_judge();
}

/* The stock handler has just planned the routes anew, with the lost daemons in them. */
static void on_vm_ready(int fd, short args, void *context)
{
    orte_job_t *daemons = hnp_daemons();
    for (int i = 1; i < daemons->procs->size; i++) {
        orte_proc_t *d = opal_pointer_array_get_item(daemons->procs, i);
        if (d != NULL && hnp_is_lost(d))
            orte_routed.route_lost(orte_rml.get_routed(orte_mgmt_conduit), &d->name);
    }
    self->stock.vm_ready(fd, args, context);
}

static void mark_holes(void)
{
    for (unsigned rank = 0; rank < self->hnp.ranks; rank++)
        for (unsigned lane = level_of(&self->level, rank); lane < self->hnp.lanes; lane++)
            fate_hole(self->hnp.fate, rank, lane);
}

static bool hnp_begin(orte_job_t *job)
{
    struct err e = {0};
    self->hnp.ranks = survive_ranks(job);
    self->hnp.lanes = level_lanes(&self->level, self->hnp.ranks);
    self->hnp.job = job->jobid;
    self->hnp.fate = fate_new(self->hnp.ranks, self->hnp.lanes, self->hnp.start_ms);
    if (self->hnp.fate == NULL ||
        iof_replica_begin(job, self->hnp.ranks, self->hnp.lanes, &e) != 0) {
        log_line("%s", self->hnp.fate == NULL ? "no memory" : e.text);
        return false;
    }
    mark_holes();
    preload_join(job);
    processors_join(job);
    return true;
}

/* False: a line has said why not. */
static bool hnp_begin_once(orte_job_t *job)
{
    struct err e = {0};
    if (ORTE_LOCAL_JOBID(job->jobid) != 1 || self->report.updates != NULL)
        return true;
    if (survive_active())
        return self->hnp.fate != NULL || hnp_begin(job);
    const int rc = iof_replica_begin(job, survive_ranks(job), 1, &e);
    if (rc != 0)
        log_line("%s", e.text);
    return rc == 0;
}

static void on_map_complete(int fd, short args, void *context)
{
    orte_state_caddy_t *caddy = context;
    orte_job_t *job = caddy->jdata, *daemons = hnp_daemons();
    if (!hnp_begin_once(job)) {
        OBJ_RELEASE(caddy);
        hnp_end(1);
        return;
    }
    report_begin(job);
    map_tell(job);
    self->stock.map_complete(fd, args, context);
    if (!job->map->display_map)
        orte_hush();
    for (int i = 1; self->hnp.fate != NULL && i < daemons->procs->size; i++) {
        orte_proc_t *d = opal_pointer_array_get_item(daemons->procs, i);
        if (d == NULL || !hnp_is_lost(d) || d->node->state == ORTE_NODE_STATE_DOWN)
            continue;
        d->node->state = ORTE_NODE_STATE_DOWN;
        hnp_lose_all_of(d, hnp_early_cause(d->name.vpid), NULL);
    }
    hnp_judge();
}

/* The overlay knew before mpirun did. */
static void on_peer_lost(orte_vpid_t vpid, enum plm_p2p_loss how, const char *why)
{
    static const enum fate_cause causes[] = {[PLM_P2P_LEASE_ENDED] = FATE_HOST_LOST,
                                             [PLM_P2P_PEER_SILENT] = FATE_HOST_SILENT,
                                             [PLM_P2P_PEER_ENDS] = FATE_HOST_ENDED};
    const orte_job_t *daemons = hnp_daemons();
    const orte_proc_t *d = opal_pointer_array_get_item(daemons->procs, (int)vpid);
    log_trace(self->verbose, 1, -1, -1, d != NULL ? hnp_peer_of(d) : NULL, "%s", why);
    hnp_daemon_lost(vpid, causes[how], why);
}

void hnp_take_over(void)
{
    mca_plm_p2p_component.on_lost = on_peer_lost;
    mca_plm_p2p_component.on_recall = hnp_recalled;
    mca_plm_p2p_component.on_status = beat_status;
    mca_ras_p2p_component.on_end = report_end;
    self->hnp.start_ms = survive_now_ms();
    self->stock.comm_failed = state_wrap_proc(ORTE_PROC_STATE_COMM_FAILED, on_error);
    self->stock.proc_error = state_wrap_proc(ORTE_PROC_STATE_ERROR, on_error);
    self->stock.proc_registered = state_wrap_proc(ORTE_PROC_STATE_REGISTERED, on_registered);
    self->stock.proc_terminated = state_wrap_proc(ORTE_PROC_STATE_TERMINATED, on_terminated);
    self->stock.vm_ready = state_wrap_job(ORTE_JOB_STATE_VM_READY, on_vm_ready);
    self->stock.map_complete = state_wrap_job(ORTE_JOB_STATE_MAP_COMPLETE, on_map_complete);
}

static void sum_up(void)
{
    char line[512];
    if (self->notes && self->hnp.fate != NULL &&
        fate_summary(self->hnp.fate, survive_now_ms(), line, sizeof line))
        log_line("%s", line);
}

void hnp_leave(void)
{
    hnp_tell_losses();
    sum_up();
    if (self->hnp.lingering)
        opal_event_evtimer_del(&self->hnp.grace);
    if (self->hnp.abort.waits)
        opal_event_evtimer_del(&self->hnp.abort.timer);
    if (self->hnp.ending) {
        opal_event_evtimer_del(&self->hnp.patience);
        orte_exit_status = self->hnp.status; /* processes that were ended since have no say */
        if (self->hnp.status == 0 && mca_plm_p2p_component.results_missing)
            orte_exit_status = 1;
    }
    fate_free(self->hnp.fate);
    free(self->hnp.early);
    self->hnp.early = NULL;
    self->hnp.early_count = 0;
    self->hnp.fate = NULL;
}
