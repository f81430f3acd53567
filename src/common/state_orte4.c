/* SPDX-License-Identifier: BSD-3-Clause */
/* state_orte4.c -- ORTE can set a handler but not tell it, so its lists are searched here. */
#include "state.h"
#include "opal/class/opal_list.h"
#include "orte/runtime/orte_globals.h"

orte_state_cbfunc_t state_wrap_proc(orte_proc_state_t state, orte_state_cbfunc_t handler)
{
    orte_state_t *s;
    OPAL_LIST_FOREACH(s, &orte_proc_states, orte_state_t)
    {
        if (s->proc_state == state) {
            orte_state_cbfunc_t before = s->cbfunc;
            s->cbfunc = handler;
            return before;
        }
    }
    return NULL;
}

orte_state_cbfunc_t state_wrap_job(orte_job_state_t state, orte_state_cbfunc_t handler)
{
    orte_state_t *s;
    OPAL_LIST_FOREACH(s, &orte_job_states, orte_state_t)
    {
        if (s->job_state == state) {
            orte_state_cbfunc_t before = s->cbfunc;
            s->cbfunc = handler;
            return before;
        }
    }
    return NULL;
}
