/* SPDX-License-Identifier: BSD-3-Clause */
/* share_ompi4.c -- shared file pointers: a number in a window of the file's first rank, drawn from
 * by fetch-and-add, so that all copies of a rank draw alike (window.h). Where the file has a home
 * that keeps the pointer, too. */
#include "homes.h"
#include "ompi/mca/common/ompio/common_ompio.h"
#include "ompi/mca/sharedfp/base/base.h"
#include "ompi/mca/sharedfp/sharedfp.h"
#include "src/common/log.h"
#include "src/common/param.h"

enum { PRIORITY = 100 };

extern mca_sharedfp_base_component_2_0_0_t mca_sharedfp_replica_component;

struct shared_pointer {
    MPI_Win window;
    long long *pointer; /* in bytes of the view; only the first rank's counts */
};

static struct shared_pointer *shared_of(const ompio_file_t *fh)
{
    return fh->f_sharedfp_data;
}

static int share_open(struct ompi_communicator_t *comm, const char *name, int mode,
                      struct opal_info_t *info, ompio_file_t *fh)
{
    (void)comm, (void)name, (void)mode, (void)info;
    if (remote_of(fh) != NULL)
        return OMPI_SUCCESS;
    struct shared_pointer *s = calloc(1, sizeof *s);
    if (s == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    fh->f_sharedfp_data = s;
    int rc = PMPI_Win_allocate(sizeof *s->pointer, 1, MPI_INFO_NULL, fh->f_comm, &s->pointer,
                               &s->window);
    return rc != MPI_SUCCESS ? rc : PMPI_Win_lock_all(MPI_MODE_NOCHECK, s->window);
}

static int share_close(ompio_file_t *fh)
{
    struct shared_pointer *s = shared_of(fh);
    if (s == NULL)
        return OMPI_SUCCESS;
    PMPI_Win_unlock_all(s->window);
    PMPI_Win_free(&s->window);
    free(s);
    fh->f_sharedfp_data = NULL;
    return OMPI_SUCCESS;
}

static struct home_answer remote_ask(const struct remote *r, enum home_kind kind, long long number)
{
    return ask_now(r->home, kind, r->number, (uint64_t)number, NULL, 0);
}

/* Draws so many bytes; 0: reads the pointer only. */
static int pointer_draw(ompio_file_t *fh, long long bytes, long long *at)
{
    if (remote_of(fh) != NULL) {
        *at = remote_ask(remote_of(fh), HOME_DRAW, bytes).value;
        return OMPI_SUCCESS;
    }
    struct shared_pointer *s = shared_of(fh);
    int rc = PMPI_Fetch_and_op(&bytes, at, MPI_LONG_LONG, 0, 0, MPI_SUM, s->window);
    return rc != MPI_SUCCESS ? rc : PMPI_Win_flush(0, s->window);
}

static int pointer_set(ompio_file_t *fh, long long at)
{
    if (remote_of(fh) != NULL) {
        remote_ask(remote_of(fh), HOME_POINT, at);
        return OMPI_SUCCESS;
    }
    struct shared_pointer *s = shared_of(fh);
    int rc = PMPI_Accumulate(&at, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, MPI_REPLACE, s->window);
    PMPI_Win_flush(0, s->window);
    return rc;
}

static int share_seek(ompio_file_t *fh, OMPI_MPI_OFFSET_TYPE offset, int whence)
{
    long long at = offset * (long long)fh->f_etype_size, now = 0;
    OMPI_MPI_OFFSET_TYPE split_end = 0;
    int rc = OMPI_SUCCESS;
    if (fh->f_rank == 0) {
        if (whence == MPI_SEEK_CUR)
            rc = pointer_draw(fh, 0, &now);
        else if (whence == MPI_SEEK_END)
            rc = mca_common_ompio_file_get_size(fh, &split_end);
        at += now + split_end;
        if (rc == OMPI_SUCCESS)
            rc = at < 0 ? MPI_ERR_ARG : pointer_set(fh, at);
    }
    fh->f_comm->c_coll->coll_bcast(&rc, 1, MPI_INT, 0, fh->f_comm,
                                   fh->f_comm->c_coll->coll_bcast_module);
    return rc;
}

static int share_get_position(ompio_file_t *fh, OMPI_MPI_OFFSET_TYPE *offset)
{
    long long at;
    int rc = pointer_draw(fh, 0, &at);
    *offset = at / (long long)fh->f_etype_size;
    return rc;
}

/* Where the next so many elements go, in elements of the view. */
static int pointer_draw_elements(ompio_file_t *fh, int count, ompi_datatype_t *type,
                                 OMPI_MPI_OFFSET_TYPE *offset)
{
    long long at;
    int rc = pointer_draw(fh, (long long)type->super.size * count, &at);
    *offset = at / (long long)fh->f_etype_size;
    log_rank(replica.sharedfp.verbose, 2, replica.rank,
             "%s: the next %d elements are at byte %lld of the view", fh->f_fullfilename, count,
             at);
    return rc;
}

/* The same for all, in the order of ranks: one process draws for all. */
static int pointer_draw_ordered(ompio_file_t *fh, int count, ompi_datatype_t *type,
                                OMPI_MPI_OFFSET_TYPE *offset)
{
    long long own = (long long)type->super.size * count, upto = 0, at[2] = {0, 0};
    ompi_communicator_t *c = fh->f_comm;
    int rc = c->c_coll->coll_scan(&own, &upto, 1, MPI_LONG_LONG, MPI_SUM, c,
                                  c->c_coll->coll_scan_module);
    if (rc == OMPI_SUCCESS && fh->f_rank == fh->f_size - 1)
        at[1] = pointer_draw(fh, upto, &at[0]);
    if (rc == OMPI_SUCCESS)
        rc = c->c_coll->coll_bcast(at, 2, MPI_LONG_LONG, fh->f_size - 1, c,
                                   c->c_coll->coll_bcast_module);
    *offset = (at[0] + upto - own) / (long long)fh->f_etype_size;
    return rc != OMPI_SUCCESS ? rc : (int)at[1];
}

/* A call at the shared pointer: draws a place, and is the call at that place. */
#define AT_SHARED(name, memory, outcome, draw_place, at_place)                                     \
    static int name(ompio_file_t *fh, memory buffer, int count, ompi_datatype_t *type,             \
                    outcome result)                                                                \
    {                                                                                              \
        OMPI_MPI_OFFSET_TYPE at;                                                                   \
        int rc = draw_place(fh, count, type, &at);                                                 \
        return rc != OMPI_SUCCESS ? rc : at_place(fh, at, buffer, count, type, result);            \
    }
#define STATUS ompi_status_public_t *
#define REQUEST ompi_request_t **
AT_SHARED(share_write, const void *, STATUS, pointer_draw_elements, mca_common_ompio_file_write_at)
AT_SHARED(share_read, void *, STATUS, pointer_draw_elements, mca_common_ompio_file_read_at)
AT_SHARED(share_iwrite, const void *, REQUEST, pointer_draw_elements,
          mca_common_ompio_file_iwrite_at)
AT_SHARED(share_iread, void *, REQUEST, pointer_draw_elements, mca_common_ompio_file_iread_at)
AT_SHARED(share_write_ordered, const void *, STATUS, pointer_draw_ordered,
          mca_common_ompio_file_write_at_all)
AT_SHARED(share_read_ordered, void *, STATUS, pointer_draw_ordered,
          mca_common_ompio_file_read_at_all)
AT_SHARED(iwrite_ordered, const void *, REQUEST, pointer_draw_ordered,
          mca_common_ompio_file_iwrite_at_all)
AT_SHARED(iread_ordered, void *, REQUEST, pointer_draw_ordered, mca_common_ompio_file_iread_at_all)

/* Split collectives: one at a time on a file. */
static int split_begun(ompio_file_t *fh, int rc)
{
    fh->f_split_coll_in_use = rc == OMPI_SUCCESS;
    return rc;
}

static int share_write_begin(ompio_file_t *fh, const void *buffer, int count, ompi_datatype_t *type)
{
    if (fh->f_split_coll_in_use)
        return MPI_ERR_REQUEST;
    return split_begun(fh, iwrite_ordered(fh, buffer, count, type, &fh->f_split_coll_req));
}

static int share_read_begin(ompio_file_t *fh, void *buffer, int count, ompi_datatype_t *type)
{
    if (fh->f_split_coll_in_use)
        return MPI_ERR_REQUEST;
    return split_begun(fh, iread_ordered(fh, buffer, count, type, &fh->f_split_coll_req));
}

static int split_end(ompio_file_t *fh, ompi_status_public_t *status)
{
    int rc = ompi_request_wait(&fh->f_split_coll_req, status);
    fh->f_split_coll_in_use = false;
    return rc;
}

static int share_write_end(ompio_file_t *fh, const void *buffer, ompi_status_public_t *status)
{
    (void)buffer;
    return split_end(fh, status);
}

static int share_read_end(ompio_file_t *fh, void *buffer, ompi_status_public_t *status)
{
    (void)buffer;
    return split_end(fh, status);
}

static int share_nothing(ompio_file_t *fh)
{
    (void)fh;
    return OMPI_SUCCESS;
}

static mca_sharedfp_base_module_t module = {.sharedfp_module_init = share_nothing,
                                            .sharedfp_module_finalize = share_nothing,
                                            .sharedfp_seek = share_seek,
                                            .sharedfp_get_position = share_get_position,
                                            .sharedfp_read = share_read,
                                            .sharedfp_read_ordered = share_read_ordered,
                                            .sharedfp_read_ordered_begin = share_read_begin,
                                            .sharedfp_read_ordered_end = share_read_end,
                                            .sharedfp_iread = share_iread,
                                            .sharedfp_write = share_write,
                                            .sharedfp_write_ordered = share_write_ordered,
                                            .sharedfp_write_ordered_begin = share_write_begin,
                                            .sharedfp_write_ordered_end = share_write_end,
                                            .sharedfp_iwrite = share_iwrite,
                                            .sharedfp_file_open = share_open,
                                            .sharedfp_file_close = share_close};

static int share_init_query(bool progress_threads, bool threads)
{
    (void)progress_threads, (void)threads;
    return OMPI_SUCCESS;
}

static int share_register(void)
{
    replica.sharedfp.priority = PRIORITY;
    param_common(&mca_sharedfp_replica_component.sharedfpm_version, &ompi_sharedfp_base_framework,
                 &replica.sharedfp.priority, &replica.sharedfp.verbose);
    return OMPI_SUCCESS;
}

static mca_sharedfp_base_module_t *share_query(ompio_file_t *fh, int *priority)
{
    *priority = replica.sharedfp.priority;
    return replica.engine != NULL || fh->f_fs == &homes_fs_module ? &module : NULL;
}

mca_sharedfp_base_component_2_0_0_t mca_sharedfp_replica_component = {
    .sharedfpm_version = {MCA_SHAREDFP_BASE_VERSION_2_0_0, .mca_component_name = "replica",
                          PARAM_VERSION(component),
                          .mca_register_component_params = share_register},
    .sharedfpm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .sharedfpm_init_query = share_init_query,
    .sharedfpm_file_query = share_query,
    .sharedfpm_file_unquery = share_nothing,
};
