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
#include "orte/util/name_fns.h"
#include "orte/util/threads.h"
#include <poll.h>
#include <stdlib.h>

enum {
    GRACE_S = 5, /* for orteds to leave when told to; then their leases end */
    LAST_WORD_MS = 10
};

static struct plm_p2p_component *const plm = &mca_plm_p2p_component;

/* The seat whose orted has this vpid. */
static bool find_seat(orte_vpid_t vpid, unsigned *seat)
{
    const unsigned count = plm->seats != NULL ? seats_count(plm->seats) : 0;
    for (unsigned i = 0; i < count; i++) {
        const orte_node_t *node = i < plm->seat_room ? plm->seat_node[i] : NULL;
        if (node != NULL && node->daemon != NULL && node->daemon->name.vpid == vpid) {
            *seat = i;
            return true;
        }
    }
    return false;
}

/* It may take a while until somebody is found for the empty seat; all that time its orted, if it
 * lives, must not be taken for one of the job. */
void plm_p2p_vacate(unsigned seat, bool held, const char *why)
{
    const struct id lease = seats_lease(plm->seats, seat)->id;
    if (seat < plm->seat_room && plm->seat_node[seat] != NULL)
        plm_p2p_daemon_disown(plm->seat_node[seat]);
    seats_lost(plm->seats, &lease, held, why);
}

/* ---- reports ---- */

static void note_report(orte_vpid_t vpid)
{
    unsigned seat;
    const orte_job_t *daemons = orte_get_job_data_object(ORTE_PROC_MY_NAME->jobid);
    const orte_proc_t *proc = opal_pointer_array_get_item(daemons->procs, (int)vpid);
    /* An orted of another kind of machine is asked for its topology first: it is alive and may
     * still take a moment, which is counted as its report. */
    if (proc != NULL && proc->state == ORTE_PROC_STATE_RUNNING && find_seat(vpid, &seat)) {
        seats_reported(plm->seats, seat);
        plm_p2p_go_on();
    }
}

/* An orted whose place is taken may still phone home: nobody listens to it. */
static void on_report(int status, orte_process_name_t *sender, opal_buffer_t *buffer,
                      orte_rml_tag_t tag, void *unused)
{
    unsigned seat;
    if (plm_p2p_is_retired(sender->vpid) ||
        (find_seat(sender->vpid, &seat) && seats_is_empty(plm->seats, seat))) {
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
static bool settle(const orte_state_caddy_t *caddy)
{
    const orte_process_name_t *name = &caddy->name;
    unsigned seat;
    if (name->jobid != ORTE_PROC_MY_NAME->jobid || name->vpid == 0)
        return false;
    if (plm_p2p_is_retired(name->vpid))
        return true;
    if (orte_orteds_term_ordered || orte_finalizing || plm->ending || !find_seat(name->vpid, &seat))
        return false;
    if (!seats_all_reported(plm->seats)) {
        plm_p2p_vacate(seat, true, "its orted hung up");
        plm_p2p_go_on();
        return true;
    }
    return false;
}

static void comm_failed(int fd, short args, void *data)
{
    orte_state_caddy_t *caddy = data;
    ORTE_ACQUIRE_OBJECT(caddy);
    if (settle(caddy))
        OBJ_RELEASE(caddy);
    else
        plm->comm_failed(fd, args, data);
}

static void proc_error(int fd, short args, void *data)
{
    orte_state_caddy_t *caddy = data;
    ORTE_ACQUIRE_OBJECT(caddy);
    if (settle(caddy))
        OBJ_RELEASE(caddy);
    else
        plm->proc_error(fd, args, data);
}

static void vm_ready(int fd, short args, void *data)
{
    plm_p2p_forget_routes();
    plm_p2p_liken_nodes();
    plm->vm_ready(fd, args, data);
}

/* ---- the connection to the daemon ---- */

/* A seat whose peer is gone: replaced as long as orteds are on their way, a loss of the job after.
 */
static void lose_seat(unsigned seat, enum plm_p2p_loss how, const char *why)
{
    if (!seats_all_reported(plm->seats)) {
        plm_p2p_vacate(seat, how == PLM_P2P_SILENT, why);
    } else if (!orte_orteds_term_ordered && !orte_finalizing && plm->on_lost != NULL) {
        plm->on_lost(plm->seat_node[seat]->daemon->name.vpid, how, why);
    } /* else as told */
}

static void lease_ended(const struct grid_event *event, enum plm_p2p_loss how)
{
    unsigned seat;
    if (seats_find(plm->seats, &event->lease, &seat))
        lose_seat(seat, how, event->text);
    else
        seats_lost(plm->seats, &event->lease, false, event->text); /* a spare, or nobody's */
}

static void recalled(const struct grid_event *event)
{
    unsigned seat;
    if (!seats_find(plm->seats, &event->lease, &seat)) {
        seats_lost(plm->seats, &event->lease, false, event->text); /* a spare */
        client_release(grid_client(ras_grid()), &event->lease, NULL);
    } else if (!seats_all_reported(plm->seats)) {
        plm_p2p_vacate(seat, true, event->text);
    } else if (!orte_orteds_term_ordered && !orte_finalizing && plm->on_recall != NULL &&
               plm->on_recall(plm->seat_node[seat]->daemon->name.vpid, event->text)) {
        client_release(grid_client(ras_grid()), &event->lease, NULL);
    }
}

static void launched(const struct grid_event *event)
{
    unsigned seat;
    struct ras_p2p_node *known =
        seats_find(plm->seats, &event->lease, &seat) ? ras_p2p_find(plm->seat_node[seat]) : NULL;
    if (known != NULL)
        memcpy(known->cores, event->cores, sizeof known->cores);
    seats_launched(plm->seats, &event->lease);
}

static void seen(const struct grid_event *event)
{
    unsigned seat;
    if (plm->on_seen != NULL && seats_find(plm->seats, &event->lease, &seat) &&
        plm->seat_node[seat]->daemon != NULL)
        plm->on_seen(plm->seat_node[seat]->daemon->name.vpid, event->waits);
}

void plm_p2p_look(orte_vpid_t daemon)
{
    unsigned seat;
    if (!plm->asking && !plm->ending && ras_grid() != NULL && find_seat(daemon, &seat) &&
        !seats_is_empty(plm->seats, seat))
        (void)client_look(grid_client(ras_grid()), &seats_lease(plm->seats, seat)->id, NULL);
}

static void on_event(int fd, short what, void *unused)
{
    (void)fd, (void)what, (void)unused;
    struct grid_event event;
    while (!plm->asking && ras_grid() != NULL && client_event(grid_client(ras_grid()), &event)) {
        switch (event.kind) {
        case GRID_LAUNCHED:
            launched(&event);
            break;
        case GRID_LAUNCH_FAILED:
        case GRID_LEASE_ENDED:
            lease_ended(&event, PLM_P2P_OVER);
            break;
        case GRID_PEER_SILENT:
            lease_ended(&event, PLM_P2P_SILENT);
            break;
        case GRID_LEASE_ENDING:
            lease_ended(&event, PLM_P2P_ENDED);
            break;
        case GRID_LEASE_RECALLED:
            recalled(&event);
            break;
        case GRID_LEASE_SEEN:
            seen(&event);
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

/* The connections to orteds go through the daemon, so its end looks like theirs. Its own last word
 * is on its way then, or comes while it dies. */
bool plm_p2p_is_over(void)
{
    if (!plm->ending && !plm->asking && plm->watching && ras_grid() != NULL) {
        struct pollfd daemon = {.fd = client_fd(grid_client(ras_grid())), .events = POLLIN};
        if (poll(&daemon, 1, LAST_WORD_MS) > 0)
            on_event(-1, 0, NULL);
    }
    return plm->ending;
}

static void on_answer(int fd, short what, void *unused)
{
    (void)fd, (void)what, (void)unused;
    struct answer answer;
    grid_answer(ras_grid(), &answer);
    plm->asking = false;
    if (plm->ending)
        ras_p2p_end();
    else if (answer.err.code != 0)
        seats_refused(plm->seats, answer.err.text);
    else
        seats_granted(plm->seats, answer.leases, answer.count);
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
                   OPAL_EV_READ | OPAL_EV_PERSIST, on_answer, NULL);
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

/* Orteds that have all reported can be told to leave. As long as some are on their way, or after
 * something went wrong, ending the leases is what reaches every peer. */
int plm_p2p_terminate(void)
{
    struct timeval grace = {.tv_sec = GRACE_S};
    if (plm->ending)
        return ORTE_SUCCESS;
    plm->ending = true;
    if (plm->seats == NULL || !seats_all_reported(plm->seats) || ras_grid() == NULL) {
        orte_orteds_term_ordered = true;
        everything_is_over();
        return ORTE_SUCCESS;
    }
    opal_event_evtimer_add(&plm->grace, &grace);
    return orte_plm_base_orted_exit(ORTE_DAEMON_EXIT_CMD);
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
    opal_event_evtimer_del(&plm->timer);
    opal_event_evtimer_del(&plm->grace);
    if (plm->watching) {
        plm->watching = false;
        opal_event_del(&plm->event);
        opal_event_del(&plm->answered);
    }
}
