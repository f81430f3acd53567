/* SPDX-License-Identifier: BSD-3-Clause */
/* file_bytes_ompi4.c -- MPI-IO: the bytes, which the leader reads and writes for all copies of its
 * rank (file_ompi4.c). What it reads goes to the others in batches. A component of ompio's fbtl. */
#include "file.h"
#include "homes.h"
#include "ompi/mca/fbtl/base/base.h"
#include "ompi/mca/fbtl/fbtl.h"
#include "src/common/log.h"
#include "src/common/param.h"
#include "overlay/base/file_at.h"
#include <unistd.h>

enum { BATCH = 512 << 10 };

static size_t file_write_entries(void *ctx, void *result)
{
    ompio_file_t *fh = ((struct file_op *)ctx)->fh;
    struct file_result *w = result;
    *w = result_of(file_fd(fh) < 0 ? -1 : 0);
    for (int i = 0; w->error == 0 && i < fh->f_num_of_io_entries; i++) {
        const mca_common_ompio_io_array_t *e = &fh->f_io_array[i];
        w->error = -file_write_at(fh->fd, e->memory_address, e->length, (off_t)(intptr_t)e->offset);
        w->value = w->error == 0 ? w->value + (int64_t)e->length : -1;
    }
    return sizeof *w;
}

static void file_trace(const ompio_file_t *fh, const char *what, int error, int64_t bytes)
{
    log_rank(replica.fbtl.verbose, 2, replica.rank, "%s: %lld bytes %s%s%s", fh->f_fullfilename,
             (long long)bytes, what, error != 0 ? ", and then " : "",
             error != 0 ? strerror(error) : "");
}

static ssize_t fbtl_write(ompio_file_t *fh)
{
    struct file_op d = {.fh = fh};
    struct file_result w = file_op_settle(file_write_entries, &d);
    file_trace(fh, "written", w.error, w.value);
    return w.error == 0 ? (ssize_t)w.value : OMPI_ERROR;
}

/* Entries are read one after the other into a batch, and copied from it alike in all lanes. */
struct reading {
    ompio_file_t *fh;
    int entry;   /* where the batch begins: in this entry, */
    size_t done; /* so many bytes of which are read */
};

struct batch {
    struct file_result result; /* value: bytes; fewer than there is room for: the file ends */
    char bytes[BATCH];
};

/* Calls each for the pieces of the batch, until one is not whole. Returns its bytes. */
static size_t batch_walk(struct reading *r, struct batch *b, size_t most,
                         size_t (*each)(ompio_file_t *fh, char *bytes, char *memory, size_t length,
                                        off_t at))
{
    size_t total = 0;
    while (total < most && r->entry < r->fh->f_num_of_io_entries) {
        const mca_common_ompio_io_array_t *e = &r->fh->f_io_array[r->entry];
        size_t left = e->length - r->done, length = left < most - total ? left : most - total;
        size_t n = each(r->fh, b->bytes + total, (char *)e->memory_address + r->done, length,
                        (off_t)(intptr_t)e->offset + (off_t)r->done);
        if (n == SIZE_MAX)
            return n;
        total += n;
        r->done += n;
        if (r->done == e->length) {
            r->entry++;
            r->done = 0;
        }
        if (n < length)
            break;
    }
    return total;
}

static size_t batch_from_file(ompio_file_t *fh, char *bytes, char *memory, size_t length, off_t at)
{
    (void)memory;
    const ssize_t n = file_read_at(fh->fd, bytes, length, at);
    errno = n < 0 ? (int)-n : 0;
    return n < 0 ? SIZE_MAX : (size_t)n;
}

static size_t batch_to_memory(ompio_file_t *fh, char *bytes, char *memory, size_t length, off_t at)
{
    (void)fh, (void)at;
    memcpy(memory, bytes, length);
    return length;
}

static size_t read_batch(void *ctx, void *value)
{
    struct reading copy = *(struct reading *)ctx;
    struct batch *b = value;
    size_t n = file_fd(copy.fh) < 0 ? SIZE_MAX : batch_walk(&copy, b, BATCH, batch_from_file);
    b->result = result_of(n == SIZE_MAX ? -1 : (int64_t)n);
    return sizeof b->result + (n == SIZE_MAX ? 0 : n);
}

static ssize_t fbtl_read(ompio_file_t *fh)
{
    struct reading r = {.fh = fh};
    struct batch *b = malloc(sizeof *b);
    ssize_t total = 0;
    bool more = b != NULL;
    while (more) {
        outcome_settle(b, sizeof *b, read_batch, &r);
        if (b->result.error != 0)
            total = OMPI_ERROR;
        more = b->result.error == 0 && b->result.value == BATCH;
        if (b->result.error == 0)
            total += (ssize_t)batch_walk(&r, b, (size_t)b->result.value, batch_to_memory);
    }
    if (b != NULL)
        file_trace(fh, "read", b->result.error, total);
    free(b);
    return b != NULL ? total : OMPI_ERR_OUT_OF_RESOURCE;
}

static int module_nothing(ompio_file_t *fh)
{
    (void)fh;
    return OMPI_SUCCESS;
}

extern mca_fbtl_base_component_2_0_0_t mca_fbtl_replica_component;

static mca_fbtl_base_module_t fbtl_module = {.fbtl_module_init = module_nothing,
                                             .fbtl_module_finalize = module_nothing,
                                             .fbtl_preadv = fbtl_read,
                                             .fbtl_pwritev = fbtl_write};

static int component_init_query(bool progress_threads, bool threads)
{
    (void)progress_threads, (void)threads;
    return OMPI_SUCCESS;
}

static int fbtl_register(void)
{
    replica.fbtl.priority = FILE_PRIORITY;
    param_common(&mca_fbtl_replica_component.fbtlm_version, &ompi_fbtl_base_framework,
                 &replica.fbtl.priority, &replica.fbtl.verbose);
    return OMPI_SUCCESS;
}

static mca_fbtl_base_module_t *fbtl_query(ompio_file_t *fh, int *priority)
{
    *priority = replica.fbtl.priority;
    if (fh->f_fs == &homes_fs_module)
        return &homes_fbtl_module;
    return replica.engine != NULL ? &fbtl_module : NULL;
}

mca_fbtl_base_component_2_0_0_t mca_fbtl_replica_component = {
    .fbtlm_version = {MCA_FBTL_BASE_VERSION_2_0_0, .mca_component_name = "replica",
                      PARAM_VERSION(component), .mca_register_component_params = fbtl_register},
    .fbtlm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .fbtlm_init_query = component_init_query,
    .fbtlm_file_query = fbtl_query,
    .fbtlm_file_unquery = module_nothing,
};
