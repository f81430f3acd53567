/* SPDX-License-Identifier: BSD-3-Clause */
/* flush_orte4.c -- the last words of a process that aborts. Stock code ends the job at once, and
 * with it those who forward output; a process that waits for nobody before it aborts would be ended
 * before what it has written is read. */
#include "errmgr_replica.h"
#include "orte/util/threads.h"

/* Events of lower priority come when there is nothing else to read: what was passed on has left. */
bool flush_before_abort(orte_state_caddy_t *caddy, orte_state_cbfunc_t then)
{
    if (caddy->proc_state != ORTE_PROC_STATE_CALLED_ABORT || orte_finalizing || !survive_active())
        return false;
    const orte_proc_t *p = orte_get_proc_object(&caddy->name);
    if (p == NULL || !ORTE_FLAG_TEST(p, ORTE_PROC_FLAG_LOCAL) ||
        caddy->name.jobid == ORTE_PROC_MY_NAME->jobid)
        return false;
    iof_replica_hear_out(&caddy->name);
    ORTE_THREADSHIFT(caddy, orte_event_base, then, ORTE_INFO_PRI);
    return true;
}
