/* SPDX-License-Identifier: BSD-3-Clause */
/* grpcomm_replica_component_orte4.c -- collectives of the orteds that do not wait for the lost.
 * Every orted sends to mpirun, which releases all when those who can report have. Broadcast and
 * release stay with grpcomm/direct: a module without them is passed over. */
#include "src/errmgr_replica/survive_orte4.h"
#include "opal/dss/dss.h"
#include "opal/mca/base/base.h"
#include "orte/constants.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/mca/grpcomm/base/base.h"
#include "orte/mca/rml/rml.h"
#include "orte/util/name_fns.h"
#include "src/common/selection.h"
#include "src/common/log.h"
#include "src/common/param.h"
#include "src/survive/participants.h"
#include <stdlib.h>
#include <string.h>

enum { PRIORITY = 200 }; /* direct has 85 */

/* One set of daemons, for all the collectives of one signature; mpirun only. */
struct set {
    struct set *next;
    orte_grpcomm_signature_t *signature;
    orte_grpcomm_coll_t *coll; /* the one under way; NULL: none */
    struct participants *daemons;
};

static int replica_register(void);
static int replica_query(mca_base_module_t **module, int *priority);

struct grpcomm_replica_component {
    orte_grpcomm_base_component_t super;
    orte_grpcomm_base_module_t module;
    int priority, verbose; /* parameters */
    struct set *sets;
};

struct grpcomm_replica_component mca_grpcomm_replica_component = {
    .super =
        {
            .base_version =
                {
                    ORTE_GRPCOMM_BASE_VERSION_3_0_0,
                    .mca_component_name = "replica",
                    PARAM_VERSION(component),
                    .mca_query_component = replica_query,
                    .mca_register_component_params = replica_register,
                },
            .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
        },
};
static struct grpcomm_replica_component *const self = &mca_grpcomm_replica_component;

/* Can this daemon still bring something? Not without any process of the job. */
static bool can_report(orte_vpid_t daemon, const orte_grpcomm_signature_t *signature)
{
    if (survive_daemon_gone(daemon))
        return false;
    orte_job_t *job = orte_get_job_data_object(signature->signature[0].jobid);
    if (job == NULL || job->jobid == ORTE_PROC_MY_NAME->jobid)
        return true;
    for (int i = 0; i < job->procs->size; i++) {
        const orte_proc_t *p = opal_pointer_array_get_item(job->procs, i);
        if (p != NULL && p->node != NULL && p->node->daemon != NULL &&
            p->node->daemon->name.vpid == daemon && !survive_gone(&p->name))
            return true;
    }
    return false;
}

static void set_release(struct set *s)
{
    opal_buffer_t *reply = OBJ_NEW(opal_buffer_t);
    int status = ORTE_SUCCESS;
    opal_dss.pack(reply, &s->signature, 1, ORTE_SIGNATURE);
    opal_dss.pack(reply, &status, 1, OPAL_INT);
    opal_dss.copy_payload(reply, &s->coll->bucket);
    s->coll = NULL; /* grpcomm/direct frees it when the release comes back to mpirun */
    participants_next(s->daemons);
    if (s->signature->signature[0].jobid != ORTE_PROC_MY_NAME->jobid)
        survive_collected();
    (void)orte_grpcomm.xcast(s->signature, ORTE_RML_TAG_COLL_RELEASE, reply);
    OBJ_RELEASE(reply);
}

static void set_check(struct set *s)
{
    size_t at = 0;
    unsigned daemon;
    if (s->coll == NULL)
        return;
    while (participants_missing(s->daemons, &at, &daemon))
        if (!can_report(daemon, s->signature))
            participants_excuse(s->daemons, daemon);
    if (participants_complete(s->daemons))
        set_release(s);
}

void grpcomm_replica_recheck(void)
{
    for (struct set *s = self->sets; s != NULL; s = s->next)
        set_check(s);
}

static struct set *set_new(orte_grpcomm_signature_t *signature, const orte_grpcomm_coll_t *coll)
{
    struct set *s = calloc(1, sizeof *s);
    unsigned *all = calloc(coll->ndmns, sizeof *all);
    if (s != NULL && all != NULL) {
        for (size_t i = 0; i < coll->ndmns; i++)
            all[i] = coll->dmns != NULL ? coll->dmns[i] : i;
        s->daemons = participants_new(all, coll->ndmns);
    }
    free(all);
    if (s == NULL || s->daemons == NULL) {
        free(s);
        return NULL;
    }
    opal_dss.copy((void **)&s->signature, signature, ORTE_SIGNATURE);
    s->next = self->sets;
    self->sets = s;
    return s;
}

static struct set *set_find(orte_grpcomm_signature_t *signature)
{
    for (struct set *s = self->sets; s != NULL; s = s->next)
        if (opal_dss.compare(s->signature, signature, ORTE_SIGNATURE) == OPAL_EQUAL)
            return s;
    return NULL;
}

static void set_take_report(const orte_process_name_t *sender, orte_grpcomm_signature_t *signature,
                            uint32_t round, opal_buffer_t *payload)
{
    struct set *s = set_find(signature);
    if (s != NULL && round < participants_round(s->daemons))
        return; /* it was thought lost, and the others did not wait */
    orte_grpcomm_coll_t *coll = orte_grpcomm_base_get_tracker(signature, true);
    if (coll == NULL || (s == NULL && (s = set_new(signature, coll)) == NULL))
        return;
    s->coll = coll;
    const enum report_answer answer = participants_report(s->daemons, sender->vpid, round);
    if (answer == REPORT_TAKEN)
        opal_dss.copy_payload(&coll->bucket, payload);
    else
        log_trace(self->verbose, 1, -1, -1, NULL,
                  "collective: daemon %lu reported out of turn (%d)", (unsigned long)sender->vpid,
                  (int)answer);
    set_check(s);
}

static void on_allgather(int status, orte_process_name_t *sender, opal_buffer_t *buffer,
                         orte_rml_tag_t tag, void *context)
{
    (void)status, (void)tag, (void)context;
    orte_grpcomm_signature_t *signature = NULL;
    uint32_t round;
    int32_t count = 1;
    survive_heard(sender);
    if (opal_dss.unpack(buffer, &signature, &count, ORTE_SIGNATURE) != OPAL_SUCCESS)
        return;
    count = 1;
    if (signature->sz > 0 && opal_dss.unpack(buffer, &round, &count, OPAL_UINT32) == OPAL_SUCCESS)
        set_take_report(sender, signature, round, buffer);
    OBJ_RELEASE(signature);
}

/* The base counts the collectives of each signature, from 0; it has counted this one. */
static uint32_t round_of(const orte_grpcomm_signature_t *signature)
{
    uint32_t *count = NULL;
    if (opal_hash_table_get_value_ptr(&orte_grpcomm_base.sig_table, signature->signature,
                                      signature->sz * sizeof(orte_process_name_t),
                                      (void **)&count) != OPAL_SUCCESS)
        return 0;
    return *count;
}

static int replica_allgather(orte_grpcomm_coll_t *coll, opal_buffer_t *buffer)
{
    if (coll->sig->signature == NULL)
        return ORTE_ERR_NOT_SUPPORTED; /* everyone of all jobs: left to the next module */
    opal_buffer_t *b = OBJ_NEW(opal_buffer_t);
    uint32_t round = round_of(coll->sig);
    opal_dss.pack(b, &coll->sig, 1, ORTE_SIGNATURE);
    opal_dss.pack(b, &round, 1, OPAL_UINT32);
    opal_dss.copy_payload(b, buffer);
    int code = orte_rml.send_buffer_nb(orte_coll_conduit, ORTE_PROC_MY_HNP, b, TAG_ALLGATHER,
                                       orte_rml_send_callback, NULL);
    if (code < 0)
        OBJ_RELEASE(b);
    return code < 0 ? code : ORTE_SUCCESS;
}

static int replica_init(void)
{
    if (ORTE_PROC_IS_HNP)
        orte_rml.recv_buffer_nb(ORTE_NAME_WILDCARD, TAG_ALLGATHER, ORTE_RML_PERSISTENT,
                                on_allgather, NULL);
    return ORTE_SUCCESS;
}

static void replica_finalize(void)
{
    while (self->sets != NULL) {
        struct set *s = self->sets;
        self->sets = s->next;
        participants_free(s->daemons);
        OBJ_RELEASE(s->signature);
        free(s);
    }
}

static int replica_register(void)
{
    self->priority = PRIORITY;
    param_common(&self->super.base_version, &orte_grpcomm_base_framework, &self->priority,
                 &self->verbose);
    return ORTE_SUCCESS;
}

static int replica_query(mca_base_module_t **module, int *priority)
{
    *module = NULL;
    *priority = -1;
    if (!selection_is_p2p() || !survive_active() || !(ORTE_PROC_IS_HNP || ORTE_PROC_IS_DAEMON))
        return ORTE_ERROR;
    self->module = (orte_grpcomm_base_module_t){
        .init = replica_init, .finalize = replica_finalize, .allgather = replica_allgather};
    *module = (mca_base_module_t *)&self->module;
    *priority = self->priority;
    return ORTE_SUCCESS;
}
