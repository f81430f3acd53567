/* SPDX-License-Identifier: BSD-3-Clause */
/* iof_replica_component_orte4.c -- one input and one output for all copies of a rank. Wraps the
 * stock component of the same process (hnp in mpirun, orted in an orted). In a job of one lane the
 * stock component shows the output itself; the files of --output-filename are written here, or they
 * would be on the peers, and what is printed is heard. */
#include "iof_replica.h"
#include "opal/dss/dss.h"
#include "opal/mca/base/base.h"
#include "orte/constants.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/mca/rml/rml.h"
#include "orte/util/name_fns.h"
#include "src/common/selection.h"
#include "src/common/param.h"
#include "src/common/stock.h"
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

enum { PRIORITY = 5000 }; /* above every stock component */

static int replica_register(void);
static int replica_query(mca_base_module_t **module, int *priority);

struct iof_replica_component mca_iof_replica_component = {
    .super =
        {
            .iof_version =
                {
                    ORTE_IOF_BASE_VERSION_2_0_0,
                    .mca_component_name = "replica",
                    PARAM_VERSION(component),
                    .mca_query_component = replica_query,
                    .mca_register_component_params = replica_register,
                },
            .iof_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
        },
};
static struct iof_replica_component *const self = &mca_iof_replica_component;

/* ---- mpirun ---- */

/* Reads "stream, process, bytes" without consuming the buffer; false: it is something else. */
static bool peek_output(opal_buffer_t *buffer, orte_iof_tag_t *stream, orte_process_name_t *from,
                        void *bytes, int32_t *count)
{
    const orte_iof_tag_t control = ORTE_IOF_XON | ORTE_IOF_XOFF | ORTE_IOF_PULL | ORTE_IOF_CLOSE;
    opal_buffer_t copy;
    int32_t one = 1, again = 1;
    OBJ_CONSTRUCT(&copy, opal_buffer_t);
    opal_dss.copy_payload(&copy, buffer);
    bool is = opal_dss.unpack(&copy, stream, &one, ORTE_IOF_TAG) == ORTE_SUCCESS &&
              (*stream & control) == 0 &&
              opal_dss.unpack(&copy, from, &again, ORTE_NAME) == ORTE_SUCCESS &&
              opal_dss.unpack(&copy, bytes, count, OPAL_BYTE) == ORTE_SUCCESS;
    OBJ_DESTRUCT(&copy);
    return is;
}

static void on_output(int status, orte_process_name_t *sender, opal_buffer_t *buffer,
                      orte_rml_tag_t tag, void *context)
{
    unsigned char bytes[ORTE_IOF_BASE_MSG_MAX];
    int32_t count = sizeof bytes;
    orte_iof_tag_t stream;
    orte_process_name_t from;
    survive_heard(sender);
    const bool is = peek_output(buffer, &stream, &from, bytes, &count);
    const bool taken = is && output_take(&from, stream, bytes, (size_t)count);
    if (is && !output_has(from.jobid))
        survive_printed(bytes, (size_t)count); /* of a job that was spawned */
    if (!taken || (self->only_output && !output_quiet(&from, stream)))
        self->stock_receive(status, sender, buffer, tag, context);
}

void output_show_stock(const orte_process_name_t *from, orte_iof_tag_t stream, const void *bytes,
                       size_t count)
{
    orte_process_name_t name = *from;
    opal_buffer_t *b = OBJ_NEW(opal_buffer_t);
    if (opal_dss.pack(b, &stream, 1, ORTE_IOF_TAG) == ORTE_SUCCESS &&
        opal_dss.pack(b, &name, 1, ORTE_NAME) == ORTE_SUCCESS &&
        opal_dss.pack(b, bytes, (int32_t)count, OPAL_BYTE) == ORTE_SUCCESS)
        self->stock_receive(ORTE_SUCCESS, ORTE_PROC_MY_NAME, b, ORTE_RML_TAG_IOF_HNP, NULL);
    OBJ_RELEASE(b);
}

static void on_input_passed(int status, orte_process_name_t *sender, opal_buffer_t *buffer,
                            orte_rml_tag_t tag, void *context)
{
    (void)status, (void)tag, (void)context;
    uint32_t vpid;
    uint64_t passed;
    uint8_t closed;
    int32_t a = 1, b = 1, c = 1;
    survive_heard(sender);
    if (opal_dss.unpack(buffer, &vpid, &a, OPAL_UINT32) != OPAL_SUCCESS ||
        opal_dss.unpack(buffer, &passed, &b, OPAL_UINT64) != OPAL_SUCCESS ||
        opal_dss.unpack(buffer, &closed, &c, OPAL_UINT8) != OPAL_SUCCESS ||
        self->output.outlets == NULL)
        return;
    const orte_process_name_t name = {self->output.job, vpid};
    unsigned rank, lane;
    if (survive_place(&name, self->output.ranks, &rank, &lane) && rank == 0)
        input_passed(lane, passed, closed != 0);
}

static int mpirun_init(void)
{
    Dl_info where;
    void *dso;
    int code = self->stock->init();
    if (code != ORTE_SUCCESS)
        return code;
    if (dladdr((void *)(intptr_t)self->stock->init, &where) == 0 ||
        (dso = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD)) == NULL)
        return ORTE_ERROR;
    self->stock_receive = (orte_rml_buffer_callback_fn_t)(intptr_t)dlsym(dso, "orte_iof_hnp_recv");
    dlclose(dso); /* the repository still holds it */
    if (self->stock_receive == NULL)
        return ORTE_ERROR;
    orte_rml.recv_cancel(ORTE_NAME_WILDCARD, ORTE_RML_TAG_IOF_HNP);
    orte_rml.recv_buffer_nb(ORTE_NAME_WILDCARD, ORTE_RML_TAG_IOF_HNP, ORTE_RML_PERSISTENT,
                            on_output, NULL);
    if (!self->only_output)
        orte_rml.recv_buffer_nb(ORTE_NAME_WILDCARD, TAG_INPUT_PASSED, ORTE_RML_PERSISTENT,
                                on_input_passed, NULL);
    return ORTE_SUCCESS;
}

static int mpirun_push(const orte_process_name_t *name, orte_iof_tag_t stream, int fd)
{
    if (!output_has(name->jobid) || (self->only_output && (stream & ORTE_IOF_STDIN) != 0))
        return self->stock->push(name, stream, fd);
    if ((stream & ORTE_IOF_STDIN) == 0)
        return tap_open(name, stream, self->only_output ? fd : hold_open(name, fd));
    if (name->vpid != ORTE_VPID_INVALID)
        input_begin(fd);
    return ORTE_SUCCESS;
}

static void mpirun_complete(const orte_job_t *job)
{
    if (output_has(job->jobid)) {
        input_stop();
        output_end();
    }
    if (self->stock->complete != NULL)
        self->stock->complete(job);
}

static int mpirun_finalize(void)
{
    input_stop();
    if (orte_exit_status != 0)
        iof_replica_reveal();
    output_end();
    output_free();
    return self->stock->finalize();
}

/* ---- orted ---- */

static bool replicated(orte_jobid_t job)
{
    return ORTE_LOCAL_JOBID(job) == 1 && orte_get_job_data_object(job) != NULL;
}

static int orted_push(const orte_process_name_t *name, orte_iof_tag_t stream, int fd)
{
    return self->stock->push(name, stream, replicated(name->jobid) ? hold_open(name, fd) : fd);
}

static void on_input(int status, orte_process_name_t *sender, opal_buffer_t *buffer,
                     orte_rml_tag_t tag, void *context)
{
    (void)status, (void)tag, (void)context;
    unsigned char bytes[ORTE_IOF_BASE_MSG_MAX];
    orte_process_name_t name;
    int32_t one = 1, count = sizeof bytes;
    survive_heard(sender);
    if (opal_dss.unpack(buffer, &name, &one, ORTE_NAME) != ORTE_SUCCESS)
        return;
    if (opal_dss.unpack(buffer, bytes, &count, OPAL_BYTE) != ORTE_SUCCESS)
        count = 0;
    pipe_put(&name, bytes, (size_t)count);
}

static int orted_init(void)
{
    int code = self->stock->init();
    if (code == ORTE_SUCCESS)
        orte_rml.recv_buffer_nb(ORTE_NAME_WILDCARD, TAG_INPUT, ORTE_RML_PERSISTENT, on_input, NULL);
    return code;
}

/* ---- both ---- */

/* The standard input of a process on this host; only rank 0 has one that is not at its end. */
static int replica_pull(const orte_process_name_t *name, orte_iof_tag_t stream, int fd)
{
    if (!replicated(name->jobid))
        return self->stock->pull(name, stream, fd);
    if (stream != ORTE_IOF_STDIN)
        return ORTE_ERR_NOT_SUPPORTED;
    unsigned rank, lane;
    if (survive_place(name, survive_ranks(orte_get_job_data_object(name->jobid)), &rank, &lane) &&
        rank == 0)
        return pipe_open(name, fd);
    close(fd);
    return ORTE_SUCCESS;
}

static int replica_close(const orte_process_name_t *name, orte_iof_tag_t stream)
{
    if (stream & ORTE_IOF_STDIN)
        pipe_close(name);
    if ((stream & (ORTE_IOF_STDOUT | ORTE_IOF_STDERR)) != 0) {
        hold_close(name);
        tap_close(name);
    }
    return self->stock->close(name, stream);
}

static int replica_register(void)
{
    self->priority = PRIORITY;
    param_common(&self->super.iof_version, &orte_iof_base_framework, &self->priority,
                 &self->verbose);
    return ORTE_SUCCESS;
}

static int replica_query(mca_base_module_t **module, int *priority)
{
    *module = NULL;
    *priority = -1;
    self->only_output = !survive_active();
    if (!selection_is_p2p() || !(ORTE_PROC_IS_HNP || (ORTE_PROC_IS_DAEMON && !self->only_output)))
        return ORTE_ERROR;
    self->stock = (orte_iof_base_module_t *)stock_find(&orte_iof_base_framework,
                                                       ORTE_PROC_IS_HNP ? "hnp" : "orted");
    if (self->stock == NULL)
        return ORTE_ERROR;
    self->module = *self->stock;
    if (!self->only_output)
        self->module.pull = replica_pull;
    self->module.close = replica_close;
    if (ORTE_PROC_IS_HNP) {
        self->module.init = mpirun_init;
        self->module.push = mpirun_push;
        self->module.complete = mpirun_complete;
        self->module.finalize = mpirun_finalize;
    } else {
        self->module.init = orted_init;
        self->module.push = orted_push;
    }
    *module = (mca_base_module_t *)&self->module;
    *priority = self->priority;
    return ORTE_SUCCESS;
}
