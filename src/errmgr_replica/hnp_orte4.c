/* SPDX-License-Identifier: BSD-3-Clause */
/* hnp_orte4.c -- mpirun's side: turns what ORTE reports into losses and ends, and fate's verdict
 * into orders. */
#include "../ras_p2p/ras_p2p.h"
#include "errmgr_replica.h"
#include "opal/dss/dss.h"
#include "opal/mca/pmix/pmix.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/mca/plm/plm.h"
#include "orte/mca/rmaps/rmaps_types.h"
#include "orte/mca/rml/rml.h"
#include "orte/mca/routed/routed.h"
#include "orte/mca/state/state.h"
#include "orte/runtime/orte_quit.h"
#include "orte/util/error_strings.h"
#include "orte/util/name_fns.h"
#include "orte/util/threads.h"
#include "log.h"
#include "plm_p2p.h"
#include "state.h"
#include "orte/constants.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;

enum { END_PATIENCE_MS = 1500 };

static orte_job_t *daemon_job(void)
{
    return orte_get_job_data_object(ORTE_PROC_MY_NAME->jobid);
}

static orte_proc_t *find_daemon(orte_vpid_t vpid)
{
    orte_job_t *daemons = daemon_job();
    return daemons != NULL ? opal_pointer_array_get_item(daemons->procs, (int)vpid) : NULL;
}

/* A daemon whose loss was handled; the stock code never sets this state at level 2. */
static bool is_lost(const orte_proc_t *daemon)
{
    return daemon->state == ORTE_PROC_STATE_COMM_FAILED;
}

bool survive_daemon_gone(orte_vpid_t vpid)
{
    const orte_proc_t *d = find_daemon(vpid);
    return d != NULL && is_lost(d);
}

static bool ours(orte_jobid_t job)
{
    return self->hnp.fate != NULL && job == self->hnp.job;
}

static const char *peer_of(const orte_proc_t *p)
{
    const struct ras_p2p_node *known = p->node != NULL ? ras_p2p_find(p->node) : NULL;
    return known != NULL ? known->lease.name : "?";
}

static bool place(const orte_process_name_t *process, unsigned *rank, unsigned *lane)
{
    return ours(process->jobid) && survive_place(process, self->hnp.ranks, rank, lane);
}

bool survive_gone(const orte_process_name_t *process)
{
    unsigned rank, lane;
    return place(process, &rank, &lane) && !fate_living(self->hnp.fate, rank, lane);
}

/* ---- the end ---- */

static void out_of_patience(int fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    log_trace(1, -1, -1, NULL,
              "some peers do not answer the order to end; they will find out by themselves");
    orte_quit(0, 0, NULL);
}

/* Every orted ends its processes and itself. No other line than ours is printed. */
static void end_everything(int status)
{
    if (self->hnp.ending)
        return;
    self->hnp.ending = true;
    orte_exit_status = status;
    orte_execute_quiet = true;
    orte_job_term_ordered = true;
    orte_enable_recovery = false;
    (void)orte_plm.terminate_orteds();
    struct timeval t = {END_PATIENCE_MS / 1000, END_PATIENCE_MS % 1000 * 1000};
    opal_event_evtimer_set(orte_event_base, &self->hnp.patience, out_of_patience, NULL);
    opal_event_set_priority(&self->hnp.patience, ORTE_ERROR_PRI);
    opal_event_evtimer_add(&self->hnp.patience, &t);
}

static void judge(void)
{
    char line[1024];
    if (self->hnp.fate == NULL || self->hnp.ending)
        return;
    switch (fate_verdict(self->hnp.fate)) {
    case FATE_ON:
        break;
    case FATE_DONE:
        end_everything(0);
        break;
    case FATE_OVER:
        fate_line(self->hnp.fate, line, sizeof line);
        log_line("%s", line);
        end_everything(fate_status(self->hnp.fate));
        break;
    }
}

/* With the stock message layer every process waits in MPI_Init for what process 0 tells of itself,
 * for ever when it died before it did. Only pml_replica, which is selected when the user names no
 * other, need not ask. */
static void check_first_process(void)
{
    const char *pml = getenv("OMPI_MCA_pml");
    const orte_process_name_t first = {self->hnp.job, 0};
    if (self->hnp.fate == NULL || self->hnp.collected || self->hnp.ending ||
        !survive_gone(&first) || (pml != NULL && strcmp(pml, "replica") == 0))
        return;
    orte_job_t *job = orte_get_job_data_object(self->hnp.job);
    for (int i = 1; job != NULL && i < job->procs->size; i++) {
        const orte_proc_t *p = opal_pointer_array_get_item(job->procs, i);
        if (p == NULL || survive_gone(&p->name) || p->state < ORTE_PROC_STATE_REGISTERED)
            continue;
        log_line("rank 0 lost its replica in lane 0 before MPI_Init was through, which this "
                 "message layer does not "
                 "survive: the job ends; run it again");
        end_everything(1);
        return;
    }
}

void survive_collected(void)
{
    self->hnp.collected = true;
}

/* ---- losses ---- */

static void note(unsigned rank, unsigned lane)
{
    char line[512];
    if (!self->notes || fate_verdict(self->hnp.fate) != FATE_ON)
        return;
    fate_note(self->hnp.fate, rank, lane, line, sizeof line);
    log_line("%s", line);
}

static void lose(const orte_proc_t *p, enum fate_cause cause, int value)
{
    unsigned rank, lane;
    if (!place(&p->name, &rank, &lane) || !fate_living(self->hnp.fate, rank, lane))
        return;
    const struct fate_loss loss = {cause, value, peer_of(p), survive_now_ms()};
    (void)fate_lose(self->hnp.fate, rank, lane, &loss);
    iof_replica_lose(rank, lane);
    note(rank, lane);
}

/* Lets ORTE count a process that will not report any more. Its state stays below TERMINATED until
 * the state machine sets it, or all others would be told that it aborted, and abort. */
static void account(orte_proc_t *p)
{
    if (p->state < ORTE_PROC_STATE_RUNNING)
        ORTE_ACTIVATE_PROC_STATE(&p->name, ORTE_PROC_STATE_RUNNING);
    if (p->state < ORTE_PROC_STATE_REGISTERED)
        ORTE_ACTIVATE_PROC_STATE(&p->name, ORTE_PROC_STATE_REGISTERED);
    ORTE_ACTIVATE_PROC_STATE(&p->name, ORTE_PROC_STATE_WAITPID_FIRED);
    ORTE_ACTIVATE_PROC_STATE(&p->name, ORTE_PROC_STATE_IOF_COMPLETE);
}

static void lose_all_of(const orte_proc_t *daemon, enum fate_cause cause)
{
    orte_job_t *job = orte_get_job_data_object(self->hnp.job);
    for (int i = 0; job != NULL && i < job->procs->size; i++) {
        orte_proc_t *p = opal_pointer_array_get_item(job->procs, i);
        if (p == NULL || p->node != daemon->node || p->state >= ORTE_PROC_STATE_TERMINATED)
            continue;
        lose(p, cause, 0);
        account(p);
    }
}

/* The launch waits for every daemon's report, and for the topology of the first one of its kind. */
static void count_as_reported(orte_proc_t *d)
{
    orte_job_t *daemons = daemon_job();
    const orte_topology_t *mine = opal_pointer_array_get_item(orte_node_topologies, 0);
    orte_topology_t *t = d->node->topology;
    if (daemons->num_reported >= daemons->num_procs || (t != NULL && t->topo != NULL))
        return;
    if (t != NULL)
        t->topo = mine->topo; /* as good as any: nothing is bound on a desktop */
    else
        d->node->topology = (orte_topology_t *)mine;
    if (++daemons->num_reported < daemons->num_procs)
        return;
    uint32_t key;
    orte_job_t *job;
    daemons->state = ORTE_JOB_STATE_DAEMONS_REPORTED;
    OPAL_HASH_TABLE_FOREACH(key, uint32, job, orte_job_data)
    if (job != NULL && job->jobid != daemons->jobid &&
        job->state == ORTE_JOB_STATE_DAEMONS_LAUNCHED)
        ORTE_ACTIVATE_JOB_STATE(job, ORTE_JOB_STATE_DAEMONS_REPORTED);
}

static void lose_daemon(orte_proc_t *d, enum fate_cause cause)
{
    if (is_lost(d))
        return;
    log_trace(1, -1, -1, peer_of(d), "lost (%s)",
              cause == FATE_HOST_SILENT ? "silent" : "connection closed");
    ORTE_FLAG_UNSET(d, ORTE_PROC_FLAG_ALIVE);
    d->state = ORTE_PROC_STATE_COMM_FAILED;
    d->exit_code =
        (orte_exit_code_t)cause; /* for those that are lost at birth; nobody else uses it */
    heartbeat_forget(self->beat.watch, d->name.vpid);
    orte_routed.route_lost(orte_rml.get_routed(orte_mgmt_conduit), &d->name);
    if (self->hnp.fate != NULL) { /* else it is still mapped, and lost at birth */
        d->node->state = ORTE_NODE_STATE_DOWN;
        lose_all_of(d, cause);
    }
    count_as_reported(d);
    grpcomm_replica_recheck();
    check_first_process();
    judge();
}

/* At level 1 a lost host ends the job, as in stock ORTE, but with one line. */
static void tell_and_end(const orte_proc_t *d, bool silent)
{
    char ranks[128] = "";
    size_t used = 0;
    for (int i = 0; d->node != NULL && i < d->node->procs->size && used < sizeof ranks - 16; i++) {
        const orte_proc_t *p = opal_pointer_array_get_item(d->node->procs, i);
        if (p != NULL && p->name.jobid != d->name.jobid)
            used += (size_t)snprintf(ranks + used, sizeof ranks - used, "%s%lu",
                                     used == 0 ? "" : ", ", (unsigned long)p->name.vpid);
    }
    if (self->hnp.ending)
        return;
    log_line("%s %s after %.2f s, with rank %s: the job ends; --mca errmgr_replica_level 2 "
             "survives this",
             peer_of(d), silent ? "fell silent" : "was lost",
             (double)(survive_now_ms() - self->hnp.start_ms) / 1000,
             used > 0 ? ranks : "(none yet)");
    orte_routed.route_lost(orte_rml.get_routed(orte_mgmt_conduit), &d->name);
    end_everything(1);
}

static bool ends_already(void)
{
    return orte_orteds_term_ordered || orte_abnormal_term_ordered || orte_finalizing;
}

void hnp_daemon_silent(orte_vpid_t vpid)
{
    orte_proc_t *d = find_daemon(vpid);
    if (d == NULL || d->state < ORTE_PROC_STATE_RUNNING || orte_finalizing)
        return;
    if (ends_already()) { /* stock code waits for all connections to close: this one will not */
        ORTE_ACTIVATE_PROC_STATE(&d->name, ORTE_PROC_STATE_COMM_FAILED);
    } else if (survive_active()) {
        lose_daemon(d, FATE_HOST_SILENT);
    } else {
        tell_and_end(d, true);
    }
}

/* ---- what the state machine reports ---- */

/* True when the report was handled here. */
static bool daemon_error(orte_proc_t *d, orte_proc_state_t state)
{
    if (d->name.vpid == ORTE_PROC_MY_NAME->vpid || ends_already())
        return false;
    switch (state) {
    case ORTE_PROC_STATE_COMM_FAILED:
    case ORTE_PROC_STATE_HEARTBEAT_FAILED:
    case ORTE_PROC_STATE_UNABLE_TO_SEND_MSG:
    case ORTE_PROC_STATE_NO_PATH_TO_TARGET:
    case ORTE_PROC_STATE_FAILED_TO_CONNECT:
    case ORTE_PROC_STATE_PEER_UNKNOWN:
    case ORTE_PROC_STATE_CALLED_ABORT:
        if (survive_active())
            lose_daemon(d, FATE_HOST_LOST);
        else
            tell_and_end(d, false);
        return true;
    default:
        return false;
    }
}

/* At level 1 stock code ends the job. A killed process looks like a lost host to its user, so it is
 * told alike. */
static void tell_of_signal(const orte_proc_t *p)
{
    if (ends_already() || orte_job_term_ordered || ORTE_LOCAL_JOBID(p->name.jobid) != 1)
        return;
    log_line("rank %lu was killed by signal %d (%s) on %s after %.2f s: the job ends; --mca "
             "errmgr_replica_level 2 "
             "survives this",
             (unsigned long)p->name.vpid, p->exit_code - 128, strsignal(p->exit_code - 128),
             peer_of(p), (double)(survive_now_ms() - self->hnp.start_ms) / 1000);
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

static bool process_error(orte_proc_t *p, orte_proc_state_t state)
{
    if (!survive_active() && state == ORTE_PROC_STATE_ABORTED_BY_SIG && p->exit_code > 128)
        tell_of_signal(p);
    if (!survive_active() || !ours(p->name.jobid) || ends_already() || orte_job_term_ordered)
        return false;
    switch (state) {
    case ORTE_PROC_STATE_ABORTED_BY_SIG:
        lose(p, FATE_SIGNAL, p->exit_code > 128 ? p->exit_code - 128 : p->exit_code);
        break;
    case ORTE_PROC_STATE_ABORTED:
    case ORTE_PROC_STATE_TERM_WO_SYNC:
        lose(p, FATE_NO_FINALIZE, p->exit_code);
        break;
    case ORTE_PROC_STATE_TERM_NON_ZERO:
        lose(p, FATE_STATUS, p->exit_code);
        break;
    case ORTE_PROC_STATE_FAILED_TO_START:
    case ORTE_PROC_STATE_FAILED_TO_LAUNCH:
        lose(p, FATE_NO_START, why_not_started(p->exit_code));
        account(p);
        break;
    case ORTE_PROC_STATE_COMM_FAILED:
        return true; /* its daemon, or waitpid, tells more */
    default:
        return false;
    }
    if (ORTE_FLAG_TEST(p, ORTE_PROC_FLAG_LOCAL))
        ORTE_ACTIVATE_PROC_STATE(&p->name, ORTE_PROC_STATE_WAITPID_FIRED);
    grpcomm_replica_recheck();
    check_first_process();
    judge();
    return true;
}

static void on_error(int fd, short args, void *context)
{
    orte_state_caddy_t *caddy = context;
    ORTE_ACQUIRE_OBJECT(caddy);
    const orte_proc_state_t state = caddy->proc_state;
    orte_job_t *job = orte_finalizing ? NULL : orte_get_job_data_object(caddy->name.jobid);
    orte_proc_t *p =
        job != NULL ? opal_pointer_array_get_item(job->procs, (int)caddy->name.vpid) : NULL;
    bool daemon = p != NULL && caddy->name.jobid == ORTE_PROC_MY_NAME->jobid;
    if (p != NULL) {
        log_trace(2, -1, -1, peer_of(p), "%s: %s", ORTE_NAME_PRINT(&caddy->name),
                  orte_proc_state_to_str(state));
        if (daemon ? daemon_error(p, state) : process_error(p, state)) {
            OBJ_RELEASE(caddy);
            return;
        }
    }
    if (daemon && ends_already() &&
        (state == ORTE_PROC_STATE_UNABLE_TO_SEND_MSG ||
         state == ORTE_PROC_STATE_FAILED_TO_CONNECT || state == ORTE_PROC_STATE_NO_PATH_TO_TARGET))
        caddy->proc_state = ORTE_PROC_STATE_COMM_FAILED;
    if (caddy->proc_state == ORTE_PROC_STATE_COMM_FAILED)
        self->stock.comm_failed(fd, args, context);
    else
        self->stock.proc_error(fd, args, context);
}

/* Once the map is shown, only oob/tcp speaks here of a lost peer: nine lines, on stdout. */
static void hush(void)
{
    if (!orte_report_launch_progress)
        orte_clean_output = -1;
}

static void on_registered(int fd, short args, void *context)
{
    hush();
    self->stock.proc_registered(fd, args, context);
    check_first_process();
}

/* A process of a lost peer may be reported again by a peer that was not so lost: counted once. */
static void on_terminated(int fd, short args, void *context)
{
    orte_state_caddy_t *caddy = context;
    ORTE_ACQUIRE_OBJECT(caddy);
    orte_job_t *job = orte_get_job_data_object(caddy->name.jobid);
    orte_proc_t *p =
        job != NULL ? opal_pointer_array_get_item(job->procs, (int)caddy->name.vpid) : NULL;
    const orte_process_name_t name = caddy->name;
    if (p == NULL || !survive_active() || !ours(name.jobid)) {
        self->stock.proc_terminated(fd, args, context);
        return;
    }
    if (ORTE_FLAG_TEST(p, ORTE_PROC_FLAG_RECORDED)) {
        OBJ_RELEASE(caddy);
        return;
    }
    ORTE_FLAG_SET(p, ORTE_PROC_FLAG_RECORDED);
    const bool well = !survive_gone(&name) && !ends_already() && !orte_job_term_ordered;
    self->stock.proc_terminated(fd, args, context);
    if (!well)
        return;
    unsigned rank, lane;
    if (!place(&name, &rank, &lane))
        return;
    (void)fate_finish(self->hnp.fate, rank, lane);
    iof_replica_finish(rank, lane);
    grpcomm_replica_recheck();
    judge();
}

/* The stock handler has just planned the routes anew, with the lost daemons in them. */
static void on_vm_ready(int fd, short args, void *context)
{
    orte_job_t *daemons = daemon_job();
    for (int i = 1; i < daemons->procs->size; i++) {
        orte_proc_t *d = opal_pointer_array_get_item(daemons->procs, i);
        if (d != NULL && is_lost(d))
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

static bool begin(orte_job_t *job)
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
    return true;
}

static void on_map_complete(int fd, short args, void *context)
{
    orte_state_caddy_t *caddy = context;
    orte_job_t *job = caddy->jdata, *daemons = daemon_job();
    if (survive_active() && ORTE_LOCAL_JOBID(job->jobid) == 1 && self->hnp.fate == NULL) {
        if (!begin(job)) {
            OBJ_RELEASE(caddy);
            end_everything(1);
            return;
        }
    }
    self->stock.map_complete(fd, args, context);
    if (!job->map->display_map)
        hush();
    for (int i = 1; self->hnp.fate != NULL && i < daemons->procs->size; i++) {
        orte_proc_t *d = opal_pointer_array_get_item(daemons->procs, i);
        if (d == NULL || !is_lost(d) || d->node->state == ORTE_NODE_STATE_DOWN)
            continue;
        d->node->state = ORTE_NODE_STATE_DOWN;
        lose_all_of(d, (enum fate_cause)d->exit_code);
    }
    judge();
}

/* The overlay has found out before us. */
static void on_lease_lost(orte_vpid_t vpid, const char *why)
{
    orte_proc_t *d = find_daemon(vpid);
    if (d == NULL || d->state < ORTE_PROC_STATE_RUNNING || ends_already())
        return;
    log_trace(1, -1, -1, peer_of(d), "%s", why);
    if (survive_active())
        lose_daemon(d, FATE_HOST_LOST);
    else
        tell_and_end(d, false);
}

void hnp_take_over(void)
{
    mca_plm_p2p_component.on_lost = on_lease_lost;
    self->hnp.start_ms = survive_now_ms();
    self->stock.comm_failed = state_wrap_proc(ORTE_PROC_STATE_COMM_FAILED, on_error);
    self->stock.proc_error = state_wrap_proc(ORTE_PROC_STATE_ERROR, on_error);
    self->stock.proc_registered = state_wrap_proc(ORTE_PROC_STATE_REGISTERED, on_registered);
    self->stock.proc_terminated = state_wrap_proc(ORTE_PROC_STATE_TERMINATED, on_terminated);
    self->stock.vm_ready = state_wrap_job(ORTE_JOB_STATE_VM_READY, on_vm_ready);
    self->stock.map_complete = state_wrap_job(ORTE_JOB_STATE_MAP_COMPLETE, on_map_complete);
}

void hnp_leave(void)
{
    if (self->hnp.ending)
        opal_event_evtimer_del(&self->hnp.patience);
    fate_free(self->hnp.fate);
    self->hnp.fate = NULL;
}
