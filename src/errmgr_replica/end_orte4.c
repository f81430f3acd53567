/* SPDX-License-Identifier: BSD-3-Clause */
/* end_orte4.c -- mpirun's side: when the job is over, and how everything of it ends. */
#include "errmgr_replica.h"
#include "orte/mca/plm/plm.h"
#include "orte/runtime/orte_quit.h"
#include "src/common/log.h"
#include "src/plm_p2p/plm_p2p.h"
#include <stdlib.h>
#include <string.h>

static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;

enum { PATIENCE_MS = 1500 }; /* for orteds to follow the order to end */

bool hnp_ends_already(void)
{
    return orte_orteds_term_ordered || orte_abnormal_term_ordered || orte_finalizing;
}

static void start_timer(opal_event_t *timer, uint64_t ms, void (*fn)(int fd, short what, void *ctx))
{
    struct timeval t = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};
    opal_event_evtimer_set(orte_event_base, timer, fn, NULL);
    opal_event_set_priority(timer, ORTE_ERROR_PRI);
    opal_event_evtimer_add(timer, &t);
}

static void out_of_patience(int fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    if (plm_p2p_results_wanted()) { /* nobody was told to end yet */
        start_timer(&self->hnp.patience, PATIENCE_MS, out_of_patience);
        return;
    }
    log_trace(self->verbose, 1, -1, -1, NULL,
              "some peers do not answer the order to end; they will find out by themselves");
    orte_quit(0, 0, NULL);
}

void hnp_end(int status)
{
    if (self->hnp.ending)
        return;
    self->hnp.ending = true;
    self->hnp.status = orte_exit_status = status;
    orte_execute_quiet = true;
    orte_job_term_ordered = true;
    orte_enable_recovery = false;
    (void)orte_plm.terminate_orteds();
    start_timer(&self->hnp.patience, PATIENCE_MS, out_of_patience);
}

static void abort_now(int fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    orte_proc_t *p = orte_get_proc_object(&self->hnp.abort.by);
    self->hnp.abort.waits = false;
    if (p == NULL || hnp_ends_already())
        return;
    p->exit_code = self->hnp.abort.status; /* it has ended since, in some way */
    ORTE_ACTIVATE_PROC_STATE(&self->hnp.abort.by, ORTE_PROC_STATE_CALLED_ABORT);
}

bool hnp_abort_later(const orte_proc_t *p)
{
    enum { LAST_WORDS_MS = 100 };
    if (self->hnp.abort.begun)
        return false;
    self->hnp.abort.begun = self->hnp.abort.waits = true;
    self->hnp.abort.by = p->name;
    self->hnp.abort.status = p->exit_code;
    ORTE_UPDATE_EXIT_STATUS(p->exit_code);
    start_timer(&self->hnp.abort.timer, LAST_WORDS_MS, abort_now);
    return true;
}

bool hnp_abort_waits(void)
{
    return self->hnp.abort.waits;
}

static void grace_over(int fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    if (!hnp_ends_already())
        hnp_end(0);
}

static void let_others_finish(void)
{
    if (self->hnp.lingering)
        return;
    self->hnp.lingering = true;
    uint64_t ms = fate_grace(self->hnp.fate, survive_now_ms());
    log_trace(self->verbose, 1, -1, -1, NULL,
              "every rank has finished; the other lanes have %u ms to finish", (unsigned)ms);
    start_timer(&self->hnp.grace, ms, grace_over);
}

void hnp_judge(void)
{
    char line[1024];
    if (self->hnp.fate == NULL || self->hnp.ending || hnp_abort_waits())
        return;
    switch (fate_verdict(self->hnp.fate)) {
    case FATE_ON:
        break;
    case FATE_DONE:
        if (fate_settled(self->hnp.fate))
            hnp_end(0);
        else
            let_others_finish();
        break;
    case FATE_FAILED:
        fate_line(self->hnp.fate, line, sizeof line);
        log_line("%s%s", line, survive_explain_lane());
        hnp_end(fate_status(self->hnp.fate));
        break;
    }
}

/* With the stock message layer every process waits in MPI_Init for what process 0 tells of itself,
 * for ever when it died before it did. Only pml_replica, which is selected when the user names no
 * other, need not ask. */
void hnp_check_first_process(void)
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
        hnp_tell_losses();
        log_line("rank 0 lost its replica in lane 0 before MPI_Init was through, which this "
                 "message layer does not survive: the job ends; run it again%s",
                 survive_explain_lane());
        hnp_end(1);
        return;
    }
}

void survive_collected(void)
{
    self->hnp.collected = true;
}
