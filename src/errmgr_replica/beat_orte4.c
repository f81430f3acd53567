/* SPDX-License-Identifier: BSD-3-Clause */
/* beat_orte4.c -- mpirun and every orted send each other a sign of life, since a connection whose
 * other end vanished without a word stays open for minutes. */
#include "errmgr_replica.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/mca/rml/rml.h"
#include "orte/mca/state/state.h"
#include "orte/util/name_fns.h"
#include "src/common/log.h"
#include "src/plm_p2p/plm_p2p.h"

static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;

/* From an orted's start to the first beat of mpirun, which comes when the orted has reported. */
enum { START_MS = 3000 };

static void send_beat(orte_process_name_t *to)
{
    opal_buffer_t *b = OBJ_NEW(opal_buffer_t);
    int8_t nothing = 0;
    opal_dss.pack(b, &nothing, 1, OPAL_INT8);
    if (orte_rml.send_buffer_nb(orte_mgmt_conduit, to, b, TAG_BEAT, orte_rml_send_callback, NULL) <
        0)
        OBJ_RELEASE(b);
}

void survive_heard(const orte_process_name_t *daemon)
{
    if (self->beat.watch == NULL || daemon->jobid != ORTE_PROC_MY_NAME->jobid ||
        (ORTE_PROC_IS_HNP && survive_daemon_gone(daemon->vpid)))
        return;
    (void)heartbeat_heard(self->beat.watch, daemon->vpid, survive_now_ms());
}

static void on_beat(int status, orte_process_name_t *sender, opal_buffer_t *buffer,
                    orte_rml_tag_t tag, void *context)
{
    (void)status, (void)buffer, (void)tag, (void)context;
    survive_heard(sender);
}

/* Not any more after the order to end: an orted that has followed it would be connected anew. */
static void beat_all(void)
{
    if (orte_orteds_term_ordered || orte_abnormal_term_ordered)
        return;
    orte_job_t *daemons = orte_get_job_data_object(ORTE_PROC_MY_NAME->jobid);
    for (int i = 1; daemons != NULL && i < daemons->procs->size; i++) {
        orte_proc_t *d = opal_pointer_array_get_item(daemons->procs, i);
        if (d != NULL && d->state == ORTE_PROC_STATE_RUNNING &&
            ORTE_FLAG_TEST(d, ORTE_PROC_FLAG_ALIVE)) {
            (void)heartbeat_watch(self->beat.watch, d->name.vpid, survive_now_ms());
            send_beat(&d->name);
        }
    }
}

static void beat_accuse(unsigned vpid)
{
    if (ORTE_PROC_IS_HNP) {
        hnp_daemon_lost(vpid, FATE_ORTED_SILENT, NULL);
    } else if (vpid == ORTE_PROC_MY_HNP->vpid) {
        log_trace(self->verbose, 1, -1, -1, NULL,
                  "nothing heard of mpirun for %d ms: everything here ends", self->orphan_ms);
        ORTE_ACTIVATE_PROC_STATE(ORTE_PROC_MY_HNP, ORTE_PROC_STATE_LIFELINE_LOST);
    }
}

static void beat_set_timer(void)
{
    struct timeval t = {self->beat_ms / 1000, self->beat_ms % 1000 * 1000};
    opal_event_evtimer_add(&self->beat.timer, &t);
}

static void beat_on_timer(int fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    beat_set_timer();
    heartbeat_tick(self->beat.watch, survive_now_ms());
    if (ORTE_PROC_IS_HNP)
        beat_all();
    else if (ORTE_PROC_MY_HNP->jobid == ORTE_PROC_MY_NAME->jobid)
        send_beat(ORTE_PROC_MY_HNP);
    unsigned vpid;
    while (heartbeat_silent(self->beat.watch, &vpid))
        beat_accuse(vpid);
    while (heartbeat_doubted(self->beat.watch, &vpid))
        plm_p2p_ask_status(vpid);
}

void beat_status(orte_vpid_t daemon, unsigned waits)
{
    log_trace(self->verbose, 2, -1, -1, NULL, "orted %u is slow: it waits for %u permille", daemon,
              waits);
    if (self->beat.watch != NULL)
        heartbeat_seen(self->beat.watch, daemon, waits, survive_now_ms());
}

void beat_start(void)
{
    self->beat.watch = heartbeat_new(
        (unsigned)self->beat_ms, (unsigned)(ORTE_PROC_IS_HNP ? self->silence_ms : self->orphan_ms));
    if (self->beat.watch == NULL)
        return;
    if (ORTE_PROC_IS_HNP)
        heartbeat_ask(self->beat.watch);
    orte_rml.recv_buffer_nb(ORTE_NAME_WILDCARD, TAG_BEAT, ORTE_RML_PERSISTENT, on_beat, NULL);
    opal_event_evtimer_set(orte_event_base, &self->beat.timer, beat_on_timer, NULL);
    opal_event_set_priority(&self->beat.timer, ORTE_ERROR_PRI); /* the highest there is */
    beat_set_timer();
    if (ORTE_PROC_IS_DAEMON)
        (void)heartbeat_watch(self->beat.watch, ORTE_PROC_MY_HNP->vpid,
                              survive_now_ms() + START_MS);
    self->beat.on = true;
}

void beat_stop(void)
{
    if (!self->beat.on)
        return;
    self->beat.on = false;
    opal_event_evtimer_del(&self->beat.timer);
    heartbeat_free(self->beat.watch);
    self->beat.watch = NULL;
}
