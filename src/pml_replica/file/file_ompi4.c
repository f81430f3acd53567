/* SPDX-License-Identifier: BSD-3-Clause */
/* file_ompi4.c -- MPI-IO: files as one rank sees them, though it runs several times.
 *
 * Of every rank the leader alone touches the file, and then tells what came of it: bytes read, the
 * size, an error. The others take its result and do not open the file at all. A leader that dies
 * between the operation and its result has told no other, so no message that depends on it has left
 * either: the next leader does it again, with the same bytes at the same place. What it did before
 * has been told, and is not done again, so nothing overwrites what another rank has written since.
 *
 * This is the component fs of Open MPI's ompio, which opens and sizes; its fbtl, which moves bytes,
 * is in file_bytes_ompi4.c. Views, collective buffering and all else above are ompio's, and the
 * same in all lanes. */
#include "file.h"
#include "homes.h"
#include "ompi/file/file.h"
#include "ompi/mca/fs/base/base.h"
#include "ompi/mca/fs/fs.h"
#include "src/common/log.h"
#include "src/common/param.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int file_mpi_error(int error)
{
    switch (error) {
    case 0:
        return OMPI_SUCCESS;
    case EACCES:
    case EPERM:
        return MPI_ERR_ACCESS;
    case ENAMETOOLONG:
    case EISDIR:
        return MPI_ERR_BAD_FILE;
    case ENOENT:
        return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
        return MPI_ERR_FILE_EXISTS;
    case EROFS:
        return MPI_ERR_READ_ONLY;
    case ENOSPC:
        return MPI_ERR_NO_SPACE;
    case EDQUOT:
        return MPI_ERR_QUOTA;
    default:
        return MPI_ERR_IO;
    }
}

/* The file, opened at the first file_op of this process. */
int file_fd(ompio_file_t *fh)
{
    int mode = fh->f_amode & MPI_MODE_RDONLY ? O_RDONLY : O_RDWR;
    if (fh->fd < 0)
        fh->fd = open(fh->f_fullfilename, mode | O_CLOEXEC);
    if (fh->fd < 0 && mode == O_RDWR && fh->f_amode & MPI_MODE_WRONLY && errno == EACCES)
        fh->fd = open(fh->f_fullfilename, O_WRONLY | O_CLOEXEC);
    return fh->fd;
}

static size_t file_exists(void *ctx, void *result)
{
    const struct file_op *d = ctx;
    struct stat s;
    *(struct file_result *)result = (struct file_result){.value = stat(d->name, &s) == 0};
    return sizeof(struct file_result);
}

static size_t file_create(void *ctx, void *result)
{
    struct file_op *d = ctx;
    mode_t mask = umask(0);
    umask(mask);
    int perm = d->fh->f_perm >= 0 ? d->fh->f_perm : (int)(0666 ^ (mask & 0666));
    d->fh->fd = open(d->name, O_RDWR | O_CREAT | O_CLOEXEC, perm);
    if (d->fh->fd < 0 && d->fh->f_amode & MPI_MODE_WRONLY && errno == EACCES)
        d->fh->fd = open(d->name, O_WRONLY | O_CREAT | O_CLOEXEC, perm);
    *(struct file_result *)result = result_of(d->fh->fd);
    ((struct file_result *)result)->value = 0;
    return sizeof(struct file_result);
}

static size_t file_open(void *ctx, void *result)
{
    struct file_op *d = ctx;
    *(struct file_result *)result = result_of(file_fd(d->fh));
    ((struct file_result *)result)->value = 0;
    return sizeof(struct file_result);
}

/* MPI_MODE_EXCL: a later leader must not take its predecessor's file for another's. */
static int file_open_first(ompio_file_t *fh, int mode)
{
    struct file_op d = {.fh = fh, .name = fh->f_fullfilename};
    if (!(mode & MPI_MODE_CREATE))
        return file_op_settle(file_open, &d).error;
    if (mode & MPI_MODE_EXCL && file_op_settle(file_exists, &d).value)
        return EEXIST;
    return file_op_settle(file_create, &d).error;
}

static int fs_open(struct ompi_communicator_t *comm, const char *name, int mode,
                   struct opal_info_t *info, ompio_file_t *fh)
{
    (void)name, (void)info;
    struct file_op d = {.fh = fh, .name = fh->f_fullfilename};
    int error = 0;
    fh->fd = -1;
    fh->f_stripe_size = 0;
    fh->f_stripe_count = 1;
    fh->f_flags |= OMPIO_LOCK_NEVER;
    if (fh->f_rank == 0)
        error = file_open_first(fh, mode);
    int rc = comm->c_coll->coll_bcast(&error, 1, MPI_INT, 0, comm, comm->c_coll->coll_bcast_module);
    if (rc == OMPI_SUCCESS && error == 0 && fh->f_rank != 0)
        error = file_op_settle(file_open, &d).error;
    log_rank(replica.fs.verbose, 1, replica.rank, "%s: %s", d.name,
             error != 0 ? strerror(error) : "open");
    return rc != OMPI_SUCCESS ? rc : file_mpi_error(error);
}

static int fs_close(ompio_file_t *fh)
{
    if (fh->fd >= 0)
        close(fh->fd);
    fh->fd = -1;
    return OMPI_SUCCESS;
}

static size_t file_remove(void *ctx, void *result)
{
    struct file_op *d = ctx;
    *(struct file_result *)result = result_of(unlink(d->name));
    return sizeof(struct file_result);
}

static int fs_delete(char *name, struct opal_info_t *info)
{
    (void)info;
    struct file_op d = {.name = name};
    bool there = file_op_settle(file_exists, &d).value;
    int error = file_op_settle(file_remove, &d).error;
    return there && error == ENOENT ? OMPI_SUCCESS : file_mpi_error(error);
}

static size_t file_resize(void *ctx, void *result)
{
    struct file_op *d = ctx;
    *(struct file_result *)result =
        result_of(file_fd(d->fh) < 0 ? -1 : ftruncate(d->fh->fd, d->number));
    return sizeof(struct file_result);
}

/* A barrier follows. */
static int fs_set_size(ompio_file_t *fh, OMPI_MPI_OFFSET_TYPE size)
{
    struct file_op d = {.fh = fh, .number = size};
    return fh->f_rank == 0 ? file_mpi_error(file_op_settle(file_resize, &d).error) : OMPI_SUCCESS;
}

static size_t file_measure(void *ctx, void *result)
{
    struct file_op *d = ctx;
    struct stat s = {.st_size = 0};
    int rc = file_fd(d->fh) < 0 ? -1 : fstat(d->fh->fd, &s);
    *(struct file_result *)result = result_of(rc < 0 ? -1 : s.st_size);
    return sizeof(struct file_result);
}

static int fs_get_size(ompio_file_t *fh, OMPI_MPI_OFFSET_TYPE *size)
{
    struct file_op d = {.fh = fh};
    struct file_result w = file_op_settle(file_measure, &d);
    *size = w.value;
    return file_mpi_error(w.error);
}

static size_t file_synchronize(void *ctx, void *result)
{
    struct file_op *d = ctx;
    *(struct file_result *)result = result_of(file_fd(d->fh) < 0 ? -1 : fsync(d->fh->fd));
    return sizeof(struct file_result);
}

static int fs_sync(ompio_file_t *fh)
{
    struct file_op d = {.fh = fh};
    return file_mpi_error(file_op_settle(file_synchronize, &d).error);
}

static int fs_module_nothing(ompio_file_t *fh)
{
    (void)fh;
    return OMPI_SUCCESS;
}

extern mca_fs_base_component_2_0_0_t mca_fs_replica_component;

static mca_fs_base_module_t fs_module = {.fs_module_init = fs_module_nothing,
                                         .fs_module_finalize = fs_module_nothing,
                                         .fs_file_open = fs_open,
                                         .fs_file_close = fs_close,
                                         .fs_file_delete = fs_delete,
                                         .fs_file_set_size = fs_set_size,
                                         .fs_file_get_size = fs_get_size,
                                         .fs_file_sync = fs_sync};

static int component_init_query(bool progress_threads, bool threads)
{
    (void)progress_threads, (void)threads;
    return OMPI_SUCCESS;
}

static int fs_register(void)
{
    static const mca_base_var_enum_value_t homes[] = {{FILE_HOME_AUTO, "auto"},
                                                      {FILE_HOME_ALWAYS, "always"},
                                                      {FILE_HOME_NEVER, "never"},
                                                      {0, NULL}};
    const mca_base_component_t *c = &mca_fs_replica_component.fsm_version;
    replica.fs.priority = FILE_PRIORITY;
    replica.file_home = FILE_HOME_AUTO;
    param_common(c, &ompi_fs_base_framework, &replica.fs.priority, &replica.fs.verbose);
    replica.file_home_index =
        param_word(c, "home",
                   "Whether a file of MPI-IO is kept by one rank, its home, for all: auto, where "
                   "desktops share no folder; always; never",
                   OPAL_INFO_LVL_4, homes, &replica.file_home);
    return OMPI_SUCCESS;
}

static mca_fs_base_module_t *fs_query(ompio_file_t *fh, int *priority)
{
    *priority = replica.fs.priority;
    fh->f_fstype = UFS;
    if (homes_are_wanted(fh))
        return &homes_fs_module;
    return replica.engine != NULL ? &fs_module : NULL;
}

mca_fs_base_component_2_0_0_t mca_fs_replica_component = {
    .fsm_version = {MCA_FS_BASE_VERSION_2_0_0, .mca_component_name = "replica",
                    PARAM_VERSION(component), .mca_register_component_params = fs_register},
    .fsm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .fsm_init_query = component_init_query,
    .fsm_file_query = fs_query,
    .fsm_file_unquery = fs_module_nothing,
};
