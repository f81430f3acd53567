/* SPDX-License-Identifier: BSD-3-Clause */
/* loss_orte4.c -- mpirun's side: what ORTE must believe of a process or a peer that is gone, so
 * that it goes on without. */
#include "src/ras_p2p/ras_p2p.h"
#include "errmgr_replica.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/mca/rml/rml.h"
#include "orte/mca/routed/routed.h"
#include "orte/mca/state/state.h"
#include "src/common/log.h"
#include "overlay/client/words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;

orte_job_t *hnp_daemons(void)
{
    return orte_get_job_data_object(ORTE_PROC_MY_NAME->jobid);
}

orte_proc_t *hnp_find_daemon(orte_vpid_t vpid)
{
    orte_job_t *daemons = hnp_daemons();
    return daemons != NULL ? opal_pointer_array_get_item(daemons->procs, (int)vpid) : NULL;
}

/* A daemon whose loss was handled; the stock code never sets this state at level 2. */
bool hnp_is_lost(const orte_proc_t *daemon)
{
    return daemon->state == ORTE_PROC_STATE_COMM_FAILED;
}

bool survive_daemon_gone(orte_vpid_t vpid)
{
    const orte_proc_t *d = hnp_find_daemon(vpid);
    return d != NULL && hnp_is_lost(d);
}

bool hnp_has(orte_jobid_t job)
{
    return self->hnp.fate != NULL && job == self->hnp.job;
}

const char *hnp_peer_of(const orte_proc_t *p)
{
    const struct ras_p2p_node *known = p->node != NULL ? ras_p2p_find(p->node) : NULL;
    return known != NULL ? known->lease.name : "?";
}

bool hnp_place(const orte_process_name_t *process, unsigned *rank, unsigned *lane)
{
    return hnp_has(process->jobid) && survive_place(process, self->hnp.ranks, rank, lane);
}

bool survive_gone(const orte_process_name_t *process)
{
    unsigned rank, lane;
    return hnp_place(process, &rank, &lane) && !fate_living(self->hnp.fate, rank, lane);
}

bool survive_finished(const orte_proc_t *p)
{
    unsigned rank, lane;
    if (hnp_place(&p->name, &rank, &lane))
        return fate_finished_in(self->hnp.fate, rank, lane);
    return p->state == ORTE_PROC_STATE_TERMINATED && p->exit_code == 0;
}

static bool is_silence(enum fate_cause cause)
{
    return cause == FATE_HOST_SILENT || cause == FATE_ORTED_SILENT;
}

/* However mpirun has heard of it, the connections of the ranks may show nothing for long. */
static bool is_of_host(enum fate_cause cause)
{
    return is_silence(cause) || cause == FATE_HOST_LOST || cause == FATE_HOST_ENDED;
}

const char *survive_explain_lane(void)
{
    const bool explained = self->hnp.lane_explained;
    self->hnp.lane_explained = true;
    return explained ? "" : " (a lane is one copy of the job)";
}

void hnp_tell_losses(void)
{
    char line[512];
    if (self->hnp.telling)
        opal_event_evtimer_del(&self->hnp.tell);
    self->hnp.telling = false;
    while (self->hnp.fate != NULL && fate_next_note(self->hnp.fate, line, sizeof line))
        if (self->notes)
            log_line("%s%s", line, survive_explain_lane());
}

static void on_tell(int fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    self->hnp.telling = false;
    hnp_tell_losses();
}

/* A desktop that is switched off is heard of by several ways: one line is to tell of all. */
static void tell_soon(void)
{
    enum { TOGETHER_MS = 50 };
    struct timeval t = {.tv_usec = TOGETHER_MS * 1000};
    if (self->hnp.telling)
        return;
    self->hnp.telling = true;
    opal_event_evtimer_set(orte_event_base, &self->hnp.tell, on_tell, NULL);
    opal_event_set_priority(&self->hnp.tell, ORTE_ERROR_PRI);
    opal_event_evtimer_add(&self->hnp.tell, &t);
}

static bool is_last_copy(const orte_proc_t *p)
{
    unsigned rank, lane;
    return hnp_place(&p->name, &rank, &lane) && fate_living(self->hnp.fate, rank, lane) &&
           !fate_spares(self->hnp.fate, rank, lane);
}

static void lose_process(const orte_proc_t *p, enum fate_cause cause, int value, const char *why)
{
    unsigned rank, lane;
    if (!hnp_place(&p->name, &rank, &lane) || !fate_living(self->hnp.fate, rank, lane))
        return;
    const struct fate_loss loss = {cause, value, hnp_peer_of(p), why, survive_now_ms()};
    (void)fate_lose(self->hnp.fate, rank, lane, &loss);
    if (cause == FATE_SIGNAL || cause == FATE_STATUS || cause == FATE_NO_FINALIZE)
        iof_replica_blame(rank, lane);
    iof_replica_lose(rank, lane);
    report_place(p, PLACE_LOST);
    if (is_of_host(cause))
        notify_lost(&p->name);
    tell_soon();
}

void hnp_lose(const orte_proc_t *p, enum fate_cause cause, int value)
{
    if (is_last_copy(p))
        hnp_tell_losses(); /* before the line that says why the job ends */
    lose_process(p, cause, value, NULL);
}

/* Its state stays below TERMINATED until the state machine sets it, or all others would be told
 * that it aborted, and abort. */
void hnp_account(orte_proc_t *p)
{
    if (p->state < ORTE_PROC_STATE_RUNNING)
        ORTE_ACTIVATE_PROC_STATE(&p->name, ORTE_PROC_STATE_RUNNING);
    if (p->state < ORTE_PROC_STATE_REGISTERED)
        ORTE_ACTIVATE_PROC_STATE(&p->name, ORTE_PROC_STATE_REGISTERED);
    ORTE_ACTIVATE_PROC_STATE(&p->name, ORTE_PROC_STATE_WAITPID_FIRED);
    ORTE_ACTIVATE_PROC_STATE(&p->name, ORTE_PROC_STATE_IOF_COMPLETE);
}

static bool lost_with(const orte_proc_t *p, const orte_proc_t *daemon)
{
    return p != NULL && p->node == daemon->node && p->state < ORTE_PROC_STATE_TERMINATED;
}

void hnp_lose_all_of(const orte_proc_t *daemon, enum fate_cause cause, const char *why)
{
    orte_job_t *job = orte_get_job_data_object(self->hnp.job);
    bool ends = false;
    for (int i = 0; job != NULL && i < job->procs->size; i++) {
        const orte_proc_t *p = opal_pointer_array_get_item(job->procs, i);
        ends |= lost_with(p, daemon) && is_last_copy(p);
    }
    if (ends)
        hnp_tell_losses();
    for (int i = 0; job != NULL && i < job->procs->size; i++) {
        orte_proc_t *p = opal_pointer_array_get_item(job->procs, i);
        if (!lost_with(p, daemon))
            continue;
        lose_process(p, cause, 0, why);
        hnp_account(p);
    }
}

/* The launch waits for every daemon's report, and for the topology of the first one of its kind. */
static void count_as_reported(orte_proc_t *d)
{
    orte_job_t *daemons = hnp_daemons();
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

/* Without memory the cause is what is most likely. */
static void note_early(orte_vpid_t daemon, enum fate_cause cause)
{
    struct early_loss *more = realloc(self->hnp.early, (self->hnp.early_count + 1) * sizeof *more);
    if (more == NULL)
        return;
    self->hnp.early = more;
    more[self->hnp.early_count++] = (struct early_loss){daemon, cause};
}

enum fate_cause hnp_early_cause(orte_vpid_t daemon)
{
    for (size_t i = 0; i < self->hnp.early_count; i++)
        if (self->hnp.early[i].daemon == daemon)
            return self->hnp.early[i].cause;
    return FATE_HOST_LOST;
}

static void lose_daemon(orte_proc_t *d, enum fate_cause cause, const char *why)
{
    if (hnp_is_lost(d))
        return;
    log_trace(self->verbose, 1, -1, -1, hnp_peer_of(d), "lost (%s)",
              is_silence(cause) ? "silent" : "connection closed");
    ORTE_FLAG_UNSET(d, ORTE_PROC_FLAG_ALIVE);
    d->state = ORTE_PROC_STATE_COMM_FAILED;
    heartbeat_forget(self->beat.watch, d->name.vpid);
    orte_routed.route_lost(orte_rml.get_routed(orte_mgmt_conduit), &d->name);
    if (self->hnp.fate != NULL) {
        d->node->state = ORTE_NODE_STATE_DOWN;
        hnp_lose_all_of(d, cause, why);
    } else { /* the job will still be mapped to it, and lose it then */
        if (cause == FATE_HOST_ENDED)
            log_line("%s", why);
        note_early(d->name.vpid, cause);
    }
    count_as_reported(d);
    grpcomm_replica_recheck();
    hnp_check_first_process();
    hnp_judge();
}

/* At level 1 a lost host ends the job, as in stock ORTE, but with one line. */
static void tell_and_end(const orte_proc_t *d, enum fate_cause cause, const char *why)
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
    const double after_s = (double)(survive_now_ms() - self->hnp.start_ms) / 1000;
    if (used == 0)
        strcpy(ranks, "(none yet)");
    if (cause == FATE_HOST_ENDED) /* another peer would do the same: more copies are no advice */
        log_line("%s: the job ends after %.2f s, with rank %s there", why, after_s, ranks);
    else
        log_line("%s%s %s after %.2f s, with rank %s: the job ends; --mca errmgr_replica_level 2 "
                 "survives this",
                 cause == FATE_ORTED_SILENT ? "orted on " : "", hnp_peer_of(d),
                 is_silence(cause) ? "fell silent" : "was lost", after_s, ranks);
    orte_routed.route_lost(orte_rml.get_routed(orte_mgmt_conduit), &d->name);
    hnp_end(1);
}

void hnp_daemon_lost(orte_vpid_t vpid, enum fate_cause cause, const char *why)
{
    orte_proc_t *d = hnp_find_daemon(vpid);
    if (d == NULL || orte_finalizing)
        return;
    if (is_silence(cause) && d->state < ORTE_PROC_STATE_RUNNING)
        return; /* it is still starting: the launcher has its own patience */
    if (hnp_ends_already()) {
        /* Stock code waits for all connections to close: this one will not. */
        ORTE_ACTIVATE_PROC_STATE(&d->name, ORTE_PROC_STATE_COMM_FAILED);
    } else if (survive_active()) {
        lose_daemon(d, cause, why);
    } else {
        tell_and_end(d, cause, why);
    }
}
