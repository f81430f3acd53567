/* SPDX-License-Identifier: BSD-3-Clause */
/* watch_orte4.c -- reports and deaths of orteds, news from the daemon, and the end. */
#include "plm_p2p.h"
#include "src/common/log.h"
#include "src/ras_p2p/ras_p2p.h"
#include "src/common/state.h"
#include "orte/constants.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/mca/plm/base/plm_private.h"
#include "orte/mca/rml/rml.h"
#include "orte/runtime/orte_locks.h"
#include "orte/util/name_fns.h"
#include "orte/util/threads.h"
#include <poll.h>
#include <stdlib.h>

enum {
    GRACE_S = 5, /* for orteds to leave when told to; then their leases end */
    LAST_WORD_MS = 10,
    LAUNCH_WORD_MS = 1000
};

static bool hear_daemon(int ms);

static struct plm_p2p_component *const plm = &mca_plm_p2p_component;

/* The vnode whose orted has this vpid. */
static bool vnode_of_daemon(orte_vpid_t vpid, unsigned *vnode)
{
    const unsigned count = plm->vnodes != NULL ? vnodes_count(plm->vnodes) : 0;
    for (unsigned i = 0; i < count; i++) {
        const orte_node_t *node = i < plm->vnode_capacity ? plm->vnode_node[i] : NULL;
        if (node != NULL && node->daemon != NULL && node->daemon->name.vpid == vpid) {
            *vnode = i;
            return true;
        }
    }
    return false;
}

/* It may take a while until somebody is found for the empty vnode; all that time its orted, if it
 * lives, must not be taken for one of the job. */
void plm_p2p_lose_lease(unsigned vnode, bool held, const char *why)
{
    const struct id lease = vnodes_lease(plm->vnodes, vnode)->id;
    if (vnode < plm->vnode_capacity && plm->vnode_node[vnode] != NULL)
        plm_p2p_daemon_disown(plm->vnode_node[vnode]);
    vnodes_lost(plm->vnodes, &lease, held, why);
}

/* ---- reports ---- */

static void note_report(orte_vpid_t vpid)
{
    unsigned vnode;
    const orte_job_t *daemons = orte_get_job_data_object(ORTE_PROC_MY_NAME->jobid);
    const orte_proc_t *proc = opal_pointer_array_get_item(daemons->procs, (int)vpid);
    /* An orted of another kind of machine is asked for its topology first: it is alive and may
     * still take a moment, which is counted as its report. */
    if (proc != NULL && proc->state == ORTE_PROC_STATE_RUNNING && vnode_of_daemon(vpid, &vnode)) {
        vnodes_reported(plm->vnodes, vnode);
        plm_p2p_go_on();
    }
}

/* What a lease has, its cores for example, comes with the word that its orted runs, by way of
 * daemons that may be slow: an orted on this host can be faster. */
static void hear_of_launch(orte_vpid_t vpid)
{
    unsigned vnode;
    for (int waited = 0; waited < LAUNCH_WORD_MS && vnode_of_daemon(vpid, &vnode) &&
                         vnodes_is_launching(plm->vnodes, vnode) && hear_daemon(LAST_WORD_MS);
         waited += LAST_WORD_MS)
        ;
}

/* An orted whose place is taken may still phone home: nobody listens to it. */
static void on_report(int status, orte_process_name_t *sender, opal_buffer_t *buffer,
                      orte_rml_tag_t tag, void *unused)
{
    unsigned vnode;
    hear_of_launch(sender->vpid);
    if (plm_p2p_is_retired(sender->vpid) ||
        (vnode_of_daemon(sender->vpid, &vnode) && vnodes_is_empty(plm->vnodes, vnode))) {
        log_trace(plm->verbose, 1, -1, -1, NULL, "orted %u came too late", sender->vpid);
        return;
    }
    const orte_job_t *daemons = orte_get_job_data_object(ORTE_PROC_MY_NAME->jobid);
    const orte_vpid_t before = daemons->num_reported;
    if (tag == ORTE_RML_TAG_TOPOLOGY_REPORT) {
        orte_plm_base_daemon_topology(status, sender, buffer, tag, unused);
        plm_p2p_daemon_counted(sender->vpid, daemons->num_reported > before);
    } else {
        orte_plm_base_daemon_callback(status, sender, buffer, tag, unused);
        plm_p2p_daemon_counted(sender->vpid, daemons->num_reported > before);
        note_report(sender->vpid);
    }
}

/* ---- deaths ---- */

/* True when the news is dealt with: the orted is nobody's any more, or not yet the job's. */
static bool death_settle(const orte_state_caddy_t *caddy)
{
    const orte_process_name_t *name = &caddy->name;
    unsigned vnode;
    if (name->jobid != ORTE_PROC_MY_NAME->jobid || name->vpid == 0)
        return false;
    if (plm_p2p_is_retired(name->vpid))
        return true;
    if (orte_orteds_term_ordered || orte_finalizing || plm->ending ||
        !vnode_of_daemon(name->vpid, &vnode))
        return false;
    if (!vnodes_all_reported(plm->vnodes)) {
        plm_p2p_lose_lease(vnode, true, "its orted hung up");
        plm_p2p_go_on();
        return true;
    }
    return false;
}

static void comm_failed(int fd, short args, void *data)
{
    orte_state_caddy_t *caddy = data;
    ORTE_ACQUIRE_OBJECT(caddy);
    if (death_settle(caddy))
        OBJ_RELEASE(caddy);
    else
        plm->comm_failed(fd, args, data);
}

static void proc_error(int fd, short args, void *data)
{
    orte_state_caddy_t *caddy = data;
    ORTE_ACQUIRE_OBJECT(caddy);
    if (death_settle(caddy))
        OBJ_RELEASE(caddy);
    else
        plm->proc_error(fd, args, data);
}

static void vm_ready(int fd, short args, void *data)
{
    plm_p2p_forget_routes();
    plm_p2p_liken_nodes();
    plm_p2p_results_watch();
    plm->vm_ready(fd, args, data);
}

/* ---- the connection to the daemon ---- */

/* A vnode whose peer is gone: replaced as long as orteds are on their way, a loss of the job after.
 */
static void vnode_lose(unsigned vnode, enum plm_p2p_loss how, const char *why)
{
    if (!vnodes_all_reported(plm->vnodes)) {
        plm_p2p_lose_lease(vnode, how == PLM_P2P_PEER_SILENT, why);
    } else if (!orte_orteds_term_ordered && !orte_finalizing && plm->on_lost != NULL) {
        plm->on_lost(plm->vnode_node[vnode]->daemon->name.vpid, how, why);
    } /* else as told */
}

static void lease_ended(const struct grid_event *event, enum plm_p2p_loss how)
{
    plm_p2p_files_came(&event->lease);
    unsigned vnode;
    if (vnodes_find(plm->vnodes, &event->lease, &vnode))
        vnode_lose(vnode, how, event->text);
    else
        vnodes_lost(plm->vnodes, &event->lease, false, event->text); /* a spare, or nobody's */
}

/* A peer that does not start is replaced without a word; but that one has no room, or cannot be
 * reached by what travels, its user may want to mend. */
static void launch_failed(const struct grid_event *event)
{
    unsigned vnode;
    if (strstr(event->text, "the job's files") != NULL &&
        vnodes_find(plm->vnodes, &event->lease, &vnode) && !vnodes_all_reported(plm->vnodes))
        log_line("%s: another peer is to take its place", event->text);
    lease_ended(event, PLM_P2P_LEASE_ENDED);
}

static void lease_recalled(const struct grid_event *event)
{
    unsigned vnode;
    if (!vnodes_find(plm->vnodes, &event->lease, &vnode)) {
        vnodes_lost(plm->vnodes, &event->lease, false, event->text); /* a spare */
        client_release(grid_client(ras_grid()), &event->lease, NULL);
    } else if (!vnodes_all_reported(plm->vnodes)) {
        plm_p2p_lose_lease(vnode, true, event->text);
    } else if (!orte_orteds_term_ordered && !orte_finalizing && plm->on_recall != NULL &&
               plm->on_recall(plm->vnode_node[vnode]->daemon->name.vpid, event->text)) {
        client_release(grid_client(ras_grid()), &event->lease, NULL);
    }
}

static void lease_launched(const struct grid_event *event)
{
    plm_p2p_files_came(&event->lease);
    unsigned vnode;
    struct ras_p2p_node *known = vnodes_find(plm->vnodes, &event->lease, &vnode)
                                     ? ras_p2p_find(plm->vnode_node[vnode])
                                     : NULL;
    if (known != NULL)
        memcpy(known->cores, event->cores, sizeof known->cores);
    vnodes_launched(plm->vnodes, &event->lease);
}

static void lease_status(const struct grid_event *event)
{
    unsigned vnode;
    if (plm->on_status != NULL && vnodes_find(plm->vnodes, &event->lease, &vnode) &&
        plm->vnode_node[vnode]->daemon != NULL)
        plm->on_status(plm->vnode_node[vnode]->daemon->name.vpid, event->waits);
}

void plm_p2p_ask_status(orte_vpid_t daemon)
{
    unsigned vnode;
    if (!plm->asking && !plm->ending && ras_grid() != NULL && vnode_of_daemon(daemon, &vnode) &&
        !vnodes_is_empty(plm->vnodes, vnode))
        (void)client_lease_status(grid_client(ras_grid()), &vnodes_lease(plm->vnodes, vnode)->id,
                                  NULL);
}

static void on_event(int fd, short what, void *unused)
{
    (void)fd, (void)what, (void)unused;
    struct grid_event event;
    while (!plm->asking && ras_grid() != NULL && client_event(grid_client(ras_grid()), &event)) {
        switch (event.kind) {
        case GRID_LAUNCHED:
            lease_launched(&event);
            break;
        case GRID_LAUNCH_FAILED:
            launch_failed(&event);
            break;
        case GRID_LEASE_ENDED:
            lease_ended(&event, PLM_P2P_LEASE_ENDED);
            break;
        case GRID_PEER_SILENT:
            lease_ended(&event, PLM_P2P_PEER_SILENT);
            break;
        case GRID_LEASE_ENDING:
            lease_ended(&event, PLM_P2P_PEER_ENDS);
            break;
        case GRID_LEASE_RECALLED:
            lease_recalled(&event);
            break;
        case GRID_LEASE_SEEN:
            lease_status(&event);
            break;
        case GRID_FETCHING:
            plm_p2p_files_come(&event);
            break;
        case GRID_ALLOCATION_ENDED: /* p2pctl alloc's; its leases within say so themselves */
            break;
        case GRID_DAEMON_GONE:
            opal_event_del(&plm->event);
            plm_p2p_abort("the daemon of this desktop went away, and every lease of the job with "
                          "it: start p2pd again, look at its log for the reason");
            return;
        }
    }
    plm_p2p_go_on();
}

/* What this desktop's daemon says within so many ms; false: it is not to be asked. */
static bool hear_daemon(int ms)
{
    if (plm->ending || plm->asking || !plm->watching || ras_grid() == NULL)
        return false;
    struct pollfd daemon = {.fd = client_fd(grid_client(ras_grid())), .events = POLLIN};
    if (poll(&daemon, 1, ms) > 0)
        on_event(-1, 0, NULL);
    return true;
}

/* The connections to orteds go through the daemon, so its end looks like theirs. Its own last word
 * is on its way then, or comes while it dies. */
bool plm_p2p_is_over(void)
{
    (void)hear_daemon(LAST_WORD_MS);
    return plm->ending;
}

/* The job's files are known to the daemon. */
static void on_packed(void)
{
    struct err e = {0};
    grid_worked(ras_grid());
    plm->asking = plm->packing = false;
    const int rc = plm_p2p_files_done(&e);
    if (plm->ending) {
        ras_p2p_end();
    } else if (rc != 0) {
        plm_p2p_abort(e.text);
    } else {
        opal_event_add(&plm->event, NULL);
        plm_p2p_go_on_launching();
        on_event(-1, 0, NULL);
    }
}

static void watch_on_answer(int fd, short what, void *unused)
{
    (void)fd, (void)what, (void)unused;
    struct answer answer;
    if (plm->packing) {
        on_packed();
        return;
    }
    grid_answer(ras_grid(), &answer);
    plm->asking = false;
    if (plm->ending)
        ras_p2p_end();
    else if (answer.err.code != 0)
        vnodes_refused(plm->vnodes, answer.err.text);
    else
        vnodes_granted(plm->vnodes, answer.leases, answer.count);
    answer_clear(&answer);
    if (!plm->ending) {
        opal_event_add(&plm->event, NULL);
        on_event(-1, 0, NULL);
    }
}

static void on_timer(int fd, short what, void *unused)
{
    (void)fd, (void)what, (void)unused;
    plm_p2p_go_on();
}

void plm_p2p_watch_grid(void)
{
    plm->watching = true;
    opal_event_set(orte_event_base, &plm->event, client_fd(grid_client(ras_grid())),
                   OPAL_EV_READ | OPAL_EV_PERSIST, on_event, NULL);
    opal_event_set_priority(&plm->event, ORTE_MSG_PRI);
    opal_event_add(&plm->event, NULL);
    opal_event_set(orte_event_base, &plm->answered, grid_answer_fd(ras_grid()),
                   OPAL_EV_READ | OPAL_EV_PERSIST, watch_on_answer, NULL);
    opal_event_set_priority(&plm->answered, ORTE_MSG_PRI);
    opal_event_add(&plm->answered, NULL);
}

/* ---- the end ---- */

static void everything_is_over(void)
{
    plm_p2p_unwatch();
    ras_p2p_end();
    ORTE_ACTIVATE_JOB_STATE(NULL, ORTE_JOB_STATE_DAEMONS_TERMINATED);
}

static void grace_is_over(int fd, short what, void *unused)
{
    (void)fd, (void)what, (void)unused;
    everything_is_over();
}

/* Has the user typed Ctrl-C, or has ORTE ended the job? It lets go of this lock never again. */
static bool is_interrupted(void)
{
    if (opal_atomic_trylock(&orte_abort_inprogress_lock))
        return true;
    opal_atomic_unlock(&orte_abort_inprogress_lock);
    return false;
}

int plm_p2p_leave(void)
{
    struct timeval grace = {.tv_sec = GRACE_S};
    plm->leaving = true;
    opal_event_evtimer_add(&plm->grace, &grace);
    return orte_plm_base_orted_exit(ORTE_DAEMON_EXIT_CMD);
}

/* Orteds that have all reported can be told to leave, once there is nothing more to fetch from
 * their rooms. As long as some are on their way, or after something went wrong, ending the leases
 * is what reaches every peer. */
int plm_p2p_terminate(void)
{
    if (plm->ending) {
        if (!plm->interrupted && is_interrupted())
            plm_p2p_results_stop();
        return ORTE_SUCCESS;
    }
    plm->ending = true;
    plm->interrupted = is_interrupted();
    if (plm->vnodes == NULL || !vnodes_all_reported(plm->vnodes) || ras_grid() == NULL) {
        plm->leaving = orte_orteds_term_ordered = true;
        everything_is_over();
        return ORTE_SUCCESS;
    }
    return plm_p2p_results_collect() ? ORTE_SUCCESS : plm_p2p_leave();
}

int plm_p2p_watch(void)
{
    opal_event_evtimer_set(orte_event_base, &plm->timer, on_timer, NULL);
    opal_event_evtimer_set(orte_event_base, &plm->grace, grace_is_over, NULL);
    orte_rml.recv_cancel(ORTE_NAME_WILDCARD, ORTE_RML_TAG_ORTED_CALLBACK);
    orte_rml.recv_cancel(ORTE_NAME_WILDCARD, ORTE_RML_TAG_TOPOLOGY_REPORT);
    orte_rml.recv_buffer_nb(ORTE_NAME_WILDCARD, ORTE_RML_TAG_ORTED_CALLBACK, ORTE_RML_PERSISTENT,
                            on_report, NULL);
    orte_rml.recv_buffer_nb(ORTE_NAME_WILDCARD, ORTE_RML_TAG_TOPOLOGY_REPORT, ORTE_RML_PERSISTENT,
                            on_report, NULL);
    plm->comm_failed = state_wrap_proc(ORTE_PROC_STATE_COMM_FAILED, comm_failed);
    plm->proc_error = state_wrap_proc(ORTE_PROC_STATE_ERROR, proc_error);
    plm->vm_ready = state_wrap_job(ORTE_JOB_STATE_VM_READY, vm_ready);
    return plm->comm_failed != NULL && plm->proc_error != NULL && plm->vm_ready != NULL
               ? ORTE_SUCCESS
               : ORTE_ERR_NOT_FOUND;
}

void plm_p2p_unwatch(void)
{
    plm_p2p_results_close();
    opal_event_evtimer_del(&plm->timer);
    opal_event_evtimer_del(&plm->grace);
    if (plm->watching) {
        plm->watching = false;
        opal_event_del(&plm->event);
        opal_event_del(&plm->answered);
    }
}
