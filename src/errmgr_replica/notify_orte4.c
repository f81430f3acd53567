/* SPDX-License-Identifier: BSD-3-Clause */
/* notify_orte4.c -- mpirun tells the ranks which processes went with their host. Their own
 * connections to one that vanished show that only seconds later. */
#include "errmgr_replica.h"
#include "opal/mca/pmix/pmix_types.h"
#include "orte/mca/rml/rml.h"

static bool notify_pack_value(opal_buffer_t *b, const char *key, opal_data_type_t type,
                              const orte_process_name_t *name)
{
    opal_value_t v, *p = &v;
    OBJ_CONSTRUCT(&v, opal_value_t);
    v.key = strdup(key);
    v.type = type;
    if (type == OPAL_NAME)
        v.data.name = *name;
    else
        v.data.flag = true;
    const bool good = opal_dss.pack(b, &p, 1, OPAL_VALUE) == OPAL_SUCCESS;
    OBJ_DESTRUCT(&v);
    return good;
}

/* As a PMIx event, which every orted hands on to those of its processes that ask for it; to others
 * it must not come: Open MPI's own handler aborts, whatever it hears. The source cannot be relied
 * on: a process that asks for events after this one has come gets it with itself as the source
 * (PMIx 4.2, check_cached_events()). So the lost process is a value, too. */
static bool notify_pack(opal_buffer_t *b, const orte_process_name_t *lost)
{
    int status = OPAL_ERR_PROC_ABORTED, values = 2;
    orte_process_name_t source = *lost;
    return opal_dss.pack(b, &status, 1, OPAL_INT) == OPAL_SUCCESS &&
           opal_dss.pack(b, &source, 1, ORTE_NAME) == OPAL_SUCCESS &&
           opal_dss.pack(b, &values, 1, OPAL_INT) == OPAL_SUCCESS &&
           notify_pack_value(b, OPAL_PMIX_EVENT_NON_DEFAULT, OPAL_BOOL, NULL) &&
           notify_pack_value(b, OPAL_PMIX_EVENT_AFFECTED_PROC, OPAL_NAME, lost);
}

static void notify_daemon(orte_process_name_t *daemon, const orte_process_name_t *lost)
{
    opal_buffer_t *b = OBJ_NEW(opal_buffer_t);
    if (!notify_pack(b, lost) ||
        orte_rml.send_buffer_nb(orte_mgmt_conduit, daemon, b, ORTE_RML_TAG_NOTIFICATION,
                                orte_rml_send_callback, NULL) < 0)
        OBJ_RELEASE(b);
}

void notify_lost(const orte_process_name_t *lost)
{
    orte_job_t *daemons = hnp_daemons();
    for (int i = 0; daemons != NULL && i < daemons->procs->size; i++) {
        orte_proc_t *d = opal_pointer_array_get_item(daemons->procs, i);
        if (d != NULL && !hnp_is_lost(d) && d->state == ORTE_PROC_STATE_RUNNING)
            notify_daemon(&d->name, lost);
    }
}
