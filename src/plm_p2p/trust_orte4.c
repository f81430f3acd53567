/* SPDX-License-Identifier: BSD-3-Clause */
/* trust_orte4.c -- Open MPI obeys whatever comes over its control channel. Here mpirun looks at
 * each message between the network and ORTE: what no orted has to say to it is dropped, what peers
 * say to each other is passed on if it is data, and a spawn request is looked through. And mpirun
 * starts no process itself, whatever the order was. */
#include "plm_p2p.h"
#include "src/common/import_hook.h"
#include "src/common/log.h"
#include "src/ras_p2p/ras_p2p.h"
#include "src/errmgr_replica/survive_orte4.h"
#include "opal/dss/dss.h"
#include "orte/constants.h"
#include "orte/mca/grpcomm/grpcomm.h"
#include "orte/mca/odls/base/base.h"
#include "orte/mca/odls/base/odls_private.h"
#include "orte/mca/oob/base/base.h"
#include "orte/mca/plm/base/plm_private.h"
#include "orte/mca/plm/plm_types.h"
#include "orte/mca/rml/base/base.h"
#include "orte/util/name_fns.h"
#include "orte/util/threads.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MOST = 20 }; /* a peer that goes on and on does not fill the terminal */

static bool name_is_own(const orte_process_name_t *name)
{
    return name->jobid == ORTE_PROC_MY_NAME->jobid && name->vpid == ORTE_PROC_MY_NAME->vpid;
}

static const char *peer_of(const orte_process_name_t *daemon)
{
    const orte_job_t *daemons = orte_get_job_data_object(ORTE_PROC_MY_NAME->jobid);
    const orte_proc_t *p = daemons != NULL && daemon->jobid == ORTE_PROC_MY_NAME->jobid
                               ? opal_pointer_array_get_item(daemons->procs, (int)daemon->vpid)
                               : NULL;
    const struct ras_p2p_node *known = p != NULL && p->node != NULL ? ras_p2p_find(p->node) : NULL;
    if (name_is_own(daemon))
        return "a peer that speaks for mpirun";
    return known != NULL ? known->lease.name : "an unknown peer";
}

static bool may_tell(void)
{
    static struct plm_p2p_component *const plm = &mca_plm_p2p_component;
    return plm->refused++ < LINES_MOST;
}

static void tell_refused(const orte_process_name_t *from, orte_rml_tag_t tag, const char *what)
{
    if (may_tell())
        log_line("refused %s: %s (a message of kind %u)", peer_of(from), what, (unsigned)tag);
}

/* Another peer's orted, as far as it says: mpirun itself calls nobody over the network. */
static bool is_peer(const orte_process_name_t *origin)
{
    return origin->jobid == ORTE_PROC_MY_NAME->jobid && origin->vpid != ORTE_PROC_MY_NAME->vpid;
}

/* ---- what mpirun listens to ---- */

static bool is_for_mpirun(orte_rml_tag_t tag)
{
    switch (tag) {
    case ORTE_RML_TAG_ORTED_CALLBACK: /* an orted is there */
    case ORTE_RML_TAG_TOPOLOGY_REPORT:
    case ORTE_RML_TAG_REPORT_REMOTE_LAUNCH:
    case ORTE_RML_TAG_WARMUP_CONNECTION:
    case ORTE_RML_TAG_PLM: /* looked into, below */
    case ORTE_RML_TAG_IOF_HNP:
    case ORTE_RML_TAG_SHOW_HELP:
    case ORTE_RML_TAG_STACK_TRACE:
    case ORTE_RML_TAG_ALLGATHER_DIRECT: /* collectives of orteds */
    case ORTE_RML_TAG_DIRECT_MODEX:     /* what processes publish for each other */
    case ORTE_RML_TAG_DIRECT_MODEX_RESP:
    case ORTE_RML_TAG_DATA_SERVER:
    case ORTE_RML_TAG_XCAST: /* looked into, below */
    case TAG_BEAT:
    case TAG_ALLGATHER:
    case TAG_INPUT_PASSED:
        return true;
    default:
        return false;
    }
}

static bool is_between_peers(orte_rml_tag_t tag)
{
    return tag == ORTE_RML_TAG_DIRECT_MODEX || tag == ORTE_RML_TAG_DIRECT_MODEX_RESP;
}

/* A second view of a message's bytes, which stay the message's. */
static bool trust_look_into(opal_buffer_t *view, const orte_rml_recv_t *msg)
{
    OBJ_CONSTRUCT(view, opal_buffer_t);
    void *copy = malloc(msg->iov.iov_len + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, msg->iov.iov_base, msg->iov.iov_len);
    return opal_dss.load(view, copy, (int32_t)msg->iov.iov_len) == OPAL_SUCCESS;
}

/* To all orteds goes what a process tells all others, nothing else. An event is short: it does not
 * come compressed. */
static bool is_event(const orte_rml_recv_t *msg)
{
    opal_buffer_t view;
    int8_t compressed = 1;
    int one = 1;
    orte_grpcomm_signature_t *to = NULL;
    orte_rml_tag_t tag = ORTE_RML_TAG_INVALID;
    const bool good = trust_look_into(&view, msg) &&
                      opal_dss.unpack(&view, &compressed, &one, OPAL_INT8) == OPAL_SUCCESS &&
                      compressed == 0 &&
                      opal_dss.unpack(&view, &to, &one, ORTE_SIGNATURE) == OPAL_SUCCESS &&
                      opal_dss.unpack(&view, &tag, &one, ORTE_RML_TAG) == OPAL_SUCCESS;
    if (to != NULL)
        OBJ_RELEASE(to);
    OBJ_DESTRUCT(&view);
    return good && tag == ORTE_RML_TAG_NOTIFICATION;
}

/* ---- what has to be looked into ---- */

static bool is_good_spawn(orte_rml_recv_t *msg, opal_buffer_t *view)
{
    orte_job_t *job = NULL;
    struct err e = {0};
    int one = 1;
    if (opal_dss.unpack(view, &job, &one, ORTE_JOB) != OPAL_SUCCESS || job == NULL)
        return false; /* half of it is there: left to the end of mpirun */
    const int rc = spawn_judge(job, &e);
    if (rc != 0) {
        if (may_tell())
            log_line("refused %s: MPI_Comm_spawn %s", peer_of(&msg->sender), e.text);
        spawn_answer_no(&msg->sender, job);
    }
    OBJ_RELEASE(job);
    return rc == 0;
}

/* States of processes, and spawns. ORTE ends mpirun when it meets another command. */
static bool is_good_report(orte_rml_recv_t *msg)
{
    opal_buffer_t view;
    orte_plm_cmd_flag_t command = 0;
    int one = 1;
    bool good = trust_look_into(&view, msg) &&
                opal_dss.unpack(&view, &command, &one, ORTE_PLM_CMD) == OPAL_SUCCESS &&
                (command == ORTE_PLM_UPDATE_PROC_STATE || command == ORTE_PLM_REGISTERED_CMD ||
                 command == ORTE_PLM_LAUNCH_JOB_CMD);
    if (!good)
        tell_refused(&msg->sender, msg->tag, "this is no report of an orted");
    else if (command == ORTE_PLM_LAUNCH_JOB_CMD)
        good = is_good_spawn(msg, &view);
    OBJ_DESTRUCT(&view);
    return good;
}

/* ---- between the network and ORTE ---- */

static bool is_good(orte_rml_recv_t *msg)
{
    if (is_peer(&msg->sender) && is_for_mpirun(msg->tag) && msg->tag == ORTE_RML_TAG_PLM)
        return is_good_report(msg);
    if (is_peer(&msg->sender) && is_for_mpirun(msg->tag) &&
        (msg->tag != ORTE_RML_TAG_XCAST || is_event(msg)))
        return true;
    tell_refused(&msg->sender, msg->tag, "no orted has to say this to mpirun");
    return false;
}

static void trust_join_users(orte_rml_recv_t *msg)
{
    opal_buffer_t view;
    if (trust_look_into(&view, msg))
        publish_as_one_user(&view, (uint8_t *)msg->iov.iov_base);
    OBJ_DESTRUCT(&view);
}

static void trust_arrived(int fd, short flags, void *context)
{
    orte_rml_recv_t *msg = context;
    ORTE_ACQUIRE_OBJECT(msg);
    if (msg->tag == ORTE_RML_TAG_DATA_SERVER)
        trust_join_users(msg);
    if (is_good(msg))
        orte_rml_base_process_msg(fd, flags, msg);
    else
        OBJ_RELEASE(msg);
}

/* What comes from a peer and is for another one has neither buffer nor vector: those are of what
 * mpirun sends. */
static void trust_pass_on(int fd, short flags, void *context)
{
    orte_oob_send_t *request = context;
    ORTE_ACQUIRE_OBJECT(request);
    orte_rml_send_t *msg = request->msg;
    if (msg->buffer != NULL || msg->iov != NULL ||
        (is_peer(&msg->origin) && is_between_peers(msg->tag))) {
        orte_oob_base_send_nb(fd, flags, request);
        return;
    }
    tell_refused(&msg->origin, msg->tag, "no orted has to say this to another");
    free(msg->data);
    OBJ_RELEASE(msg);
    OBJ_RELEASE(request);
}

int trust_guard_messages(void)
{
    int rc =
        import_hook("mca_oob_tcp.", "orte_rml_base_process_msg", (void (*)(void))trust_arrived);
    if (rc == 0)
        rc = import_hook("mca_oob_tcp.", "orte_oob_base_send_nb", (void (*)(void))trust_pass_on);
    if (rc == 0)
        return ORTE_SUCCESS;
    log_line("Open MPI's control channel cannot be guarded here (%s), so nothing is started",
             strerror(-rc));
    return ORTE_ERR_SILENT;
}

/* ---- mpirun starts nothing ---- */

static int start_none(void *caddy)
{
    const orte_odls_spawn_caddy_t *one = caddy;
    log_line("refused to start %s on %s: mpirun itself starts no processes of a job",
             one->cmd != NULL ? one->cmd : "a process", orte_process_info.nodename);
    return ORTE_ERR_PERM;
}

/* As the stock one, up to the fork. */
static int launch_none(opal_buffer_t *data)
{
    orte_jobid_t job;
    const int rc = orte_odls_base_default_construct_child_list(data, &job);
    if (rc == ORTE_SUCCESS)
        ORTE_ACTIVATE_LOCAL_LAUNCH(job, start_none);
    return rc;
}

void trust_start_nothing(void)
{
    orte_node_t *own = opal_pointer_array_get_item(orte_node_pool, 0);
    orte_odls.launch_local_procs = launch_none;
    if (own != NULL)
        ORTE_FLAG_SET(own, ORTE_NODE_NON_USABLE);
}
