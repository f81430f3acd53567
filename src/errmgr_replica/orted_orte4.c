/* SPDX-License-Identifier: BSD-3-Clause */
/* orted_orte4.c -- an orted's side: reports how each of its processes ended, after its last output,
 * and goes on when another orted is gone. */
#include "errmgr_replica.h"
#include "opal/dss/dss.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/mca/iof/iof.h"
#include "orte/mca/plm/plm_types.h"
#include "orte/mca/rml/rml.h"
#include "orte/mca/state/state.h"
#include "orte/util/name_fns.h"
#include "orte/util/threads.h"
#include "src/common/log.h"
#include "src/common/nodelay.h"
#include "src/common/state.h"
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;

/* How long a dead process's output may stay open, held by its children, before its end is reported.
 */
enum { OUTPUT_PATIENCE_MS = 500 };
/* Other peers may have the same to tell, which then decides how the job ends. */
enum { STRANDED_MS = 100 };

static void orted_report(const orte_proc_t *child, orte_proc_state_t state)
{
    opal_buffer_t *b = OBJ_NEW(opal_buffer_t);
    orte_plm_cmd_flag_t command = ORTE_PLM_UPDATE_PROC_STATE;
    orte_proc_t c = *child; /* packing takes no const */
    c.state = state;
    opal_dss.pack(b, &command, 1, ORTE_PLM_CMD);
    opal_dss.pack(b, &c.name.jobid, 1, ORTE_JOBID);
    opal_dss.pack(b, &c.name.vpid, 1, ORTE_VPID);
    opal_dss.pack(b, &c.pid, 1, OPAL_PID);
    opal_dss.pack(b, &c.state, 1, ORTE_PROC_STATE);
    opal_dss.pack(b, &c.exit_code, 1, ORTE_EXIT_CODE);
    if (orte_rml.send_buffer_nb(orte_mgmt_conduit, ORTE_PROC_MY_HNP, b, ORTE_RML_TAG_PLM,
                                orte_rml_send_callback, NULL) < 0)
        OBJ_RELEASE(b);
}

static bool ended_badly(orte_proc_state_t state)
{
    return state == ORTE_PROC_STATE_ABORTED || state == ORTE_PROC_STATE_ABORTED_BY_SIG ||
           state == ORTE_PROC_STATE_TERM_WO_SYNC || state == ORTE_PROC_STATE_TERM_NON_ZERO;
}

static void orted_after(int ms, opal_event_cbfunc_t what, orte_proc_t *child)
{
    orte_timer_t *timer = OBJ_NEW(orte_timer_t);
    OBJ_RETAIN(child);
    timer->payload = child;
    timer->tv.tv_sec = ms / 1000;
    timer->tv.tv_usec = ms % 1000 * 1000;
    opal_event_evtimer_set(orte_event_base, timer->ev, what, timer);
    opal_event_evtimer_add(timer->ev, &timer->tv);
}

static bool is_stranded(const orte_proc_t *p, orte_jobid_t job)
{
    return p != NULL && p->name.jobid == job && ORTE_FLAG_TEST(p, ORTE_PROC_FLAG_ALIVE) &&
           p->state == ORTE_PROC_STATE_REGISTERED;
}

static void end_stranded(int fd, short what, void *context)
{
    (void)fd, (void)what;
    orte_timer_t *timer = context;
    orte_proc_t *child = timer->payload;
    for (int i = 0; i < orte_local_children->size; i++) {
        const orte_proc_t *p = opal_pointer_array_get_item(orte_local_children, i);
        if (is_stranded(p, child->name.jobid))
            kill(p->pid, SIGKILL);
    }
    OBJ_RELEASE(child);
    OBJ_RELEASE(timer);
}

/* Where a process died before PMIx knew it, its siblings wait for it in their first fence, for
 * ever: they go as well. Programs without MPI meet at no fence. */
static void check_siblings(orte_proc_t *child)
{
    if (self->orted.early_death)
        orted_after(STRANDED_MS, end_stranded, child);
}

static void stop_waiting(int fd, short what, void *context)
{
    (void)fd, (void)what;
    orte_timer_t *timer = context;
    orte_proc_t *child = timer->payload;
    if (!ORTE_FLAG_TEST(child, ORTE_PROC_FLAG_IOF_COMPLETE))
        ORTE_ACTIVATE_PROC_STATE(&child->name, ORTE_PROC_STATE_IOF_COMPLETE);
    OBJ_RELEASE(child);
    OBJ_RELEASE(timer);
}

static bool child_error(orte_proc_t *child, orte_proc_state_t state)
{
    if (!ended_badly(state) || orte_orteds_term_ordered)
        return false;
    self->orted.early_death |= child->state < ORTE_PROC_STATE_REGISTERED;
    if (!ended_badly(child->state)) {
        child->state = state; /* reported in on_terminated() */
        orted_after(OUTPUT_PATIENCE_MS, stop_waiting, child);
        ORTE_ACTIVATE_PROC_STATE(&child->name, ORTE_PROC_STATE_WAITPID_FIRED);
    }
    check_siblings(child);
    return true;
}

/* Only mpirun matters: the stock code ends an orted when it cannot reach any other one. */
static bool other_daemon_error(const orte_process_name_t *name, orte_proc_state_t state)
{
    return name->jobid == ORTE_PROC_MY_NAME->jobid && name->vpid != ORTE_PROC_MY_HNP->vpid &&
           (state == ORTE_PROC_STATE_UNABLE_TO_SEND_MSG ||
            state == ORTE_PROC_STATE_NO_PATH_TO_TARGET || state == ORTE_PROC_STATE_PEER_UNKNOWN ||
            state == ORTE_PROC_STATE_FAILED_TO_CONNECT);
}

static void on_error(int fd, short args, void *context)
{
    orte_state_caddy_t *caddy = context;
    ORTE_ACQUIRE_OBJECT(caddy);
    if (flush_before_abort(caddy, self->stock.proc_error))
        return;
    orte_proc_t *p = !orte_finalizing && caddy->name.jobid != ORTE_PROC_MY_NAME->jobid
                         ? orte_get_proc_object(&caddy->name)
                         : NULL;
    if (other_daemon_error(&caddy->name, caddy->proc_state) ||
        (p != NULL && ORTE_FLAG_TEST(p, ORTE_PROC_FLAG_LOCAL) &&
         child_error(p, caddy->proc_state))) {
        OBJ_RELEASE(caddy);
        return;
    }
    if (caddy->proc_state == ORTE_PROC_STATE_COMM_FAILED)
        self->stock.comm_failed(fd, args, context);
    else
        self->stock.proc_error(fd, args, context);
}

static void on_registered(int fd, short args, void *context)
{
    orte_state_caddy_t *caddy = context;
    ORTE_ACQUIRE_OBJECT(caddy);
    orte_proc_t *p = orte_get_proc_object(&caddy->name);
    nodelay_all();
    self->stock.proc_registered(fd, args, context);
    if (p != NULL)
        check_siblings(p);
}

/* Stock code would tell of none before all have ended here: a rank is done with its first copy. */
static void on_terminated(int fd, short args, void *context)
{
    orte_state_caddy_t *caddy = context;
    ORTE_ACQUIRE_OBJECT(caddy);
    const orte_proc_t *p = orte_get_proc_object(&caddy->name);
    if (p != NULL && !ORTE_FLAG_TEST(p, ORTE_PROC_FLAG_RECORDED))
        orted_report(p, ended_badly(p->state) ? p->state : ORTE_PROC_STATE_TERMINATED);
    self->stock.proc_terminated(fd, args, context);
}

/* Within one session nice values count: orted, which has little to do, has its turns before ranks
 * that wait for messages without a pause. */
static void on_running(int fd, short args, void *context)
{
    enum { NICER = 5, NICEST = 19 };
    orte_state_caddy_t *caddy = context;
    ORTE_ACQUIRE_OBJECT(caddy);
    const orte_proc_t *p = orte_get_proc_object(&caddy->name);
    const int nice = getpriority(PRIO_PROCESS, 0) + NICER;
    if (p != NULL && ORTE_FLAG_TEST(p, ORTE_PROC_FLAG_LOCAL) && p->pid > 0)
        (void)setpriority(PRIO_PROCESS, (id_t)p->pid, nice < NICEST ? nice : NICEST);
    self->stock.running(fd, args, context);
}

/* mpirun's order to start processes is a sign of life, often the first one. */
static void on_launched(int fd, short args, void *context)
{
    survive_heard(ORTE_PROC_MY_HNP);
    self->stock.launched(fd, args, context);
}

void orted_take_over(void)
{
    self->stock.launched = state_wrap_job(ORTE_JOB_STATE_LOCAL_LAUNCH_COMPLETE, on_launched);
    self->stock.running = state_wrap_proc(ORTE_PROC_STATE_RUNNING, on_running);
    if (!survive_active())
        return;
    self->stock.comm_failed = state_wrap_proc(ORTE_PROC_STATE_COMM_FAILED, on_error);
    self->stock.proc_error = state_wrap_proc(ORTE_PROC_STATE_ERROR, on_error);
    self->stock.proc_registered = state_wrap_proc(ORTE_PROC_STATE_REGISTERED, on_registered);
    self->stock.proc_terminated = state_wrap_proc(ORTE_PROC_STATE_TERMINATED, on_terminated);
}
