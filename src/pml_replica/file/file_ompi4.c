/* SPDX-License-Identifier: BSD-3-Clause */
/* file_ompi4.c -- MPI-IO: files as one rank sees them, though it runs several times.
 *
 * Of every rank the leader alone touches the file, and then tells what came of it: bytes read, the
 * size, an error. The others take its word and do not open the file at all. A leader that dies
 * between the deed and the word has told nobody, so no message that depends on it has left either:
 * the next leader does it again, with the same bytes at the same place. What it did before has been
 * told, and is not done again, so nothing overwrites what another rank has written since.
 *
 * This is the component fs of Open MPI's ompio, which opens and sizes; its fbtl, which moves bytes,
 * is in file_bytes_ompi4.c. Views, collective buffering and all else above are ompio's, and the
 * same in all lanes. */
#include "file.h"
#include "ompi/file/file.h"
#include "ompi/mca/fs/base/base.h"
#include "ompi/mca/fs/fs.h"
#include "src/common/log.h"
#include "src/common/param.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int mpi_error(int error)
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

/* The file, opened at the first deed of this process. */
int file_fd(ompio_file_t *fh)
{
    int mode = fh->f_amode & MPI_MODE_RDONLY ? O_RDONLY : O_RDWR;
    if (fh->fd < 0)
        fh->fd = open(fh->f_fullfilename, mode | O_CLOEXEC);
    if (fh->fd < 0 && mode == O_RDWR && fh->f_amode & MPI_MODE_WRONLY && errno == EACCES)
        fh->fd = open(fh->f_fullfilename, O_WRONLY | O_CLOEXEC);
    return fh->fd;
}

static size_t look_whether_there(void *ctx, void *word)
{
    const struct deed *d = ctx;
    struct stat s;
    *(struct word *)word = (struct word){.value = stat(d->name, &s) == 0};
    return sizeof(struct word);
}

static size_t create(void *ctx, void *word)
{
    struct deed *d = ctx;
    mode_t mask = umask(0);
    umask(mask);
    int perm = d->fh->f_perm >= 0 ? d->fh->f_perm : (int)(0666 ^ (mask & 0666));
    d->fh->fd = open(d->name, O_RDWR | O_CREAT | O_CLOEXEC, perm);
    if (d->fh->fd < 0 && d->fh->f_amode & MPI_MODE_WRONLY && errno == EACCES)
        d->fh->fd = open(d->name, O_WRONLY | O_CREAT | O_CLOEXEC, perm);
    *(struct word *)word = word_of(d->fh->fd);
    ((struct word *)word)->value = 0;
    return sizeof(struct word);
}

static size_t open_plainly(void *ctx, void *word)
{
    struct deed *d = ctx;
    *(struct word *)word = word_of(file_fd(d->fh));
    ((struct word *)word)->value = 0;
    return sizeof(struct word);
}

/* MPI_MODE_EXCL: who leads later must not take the file of the leader before it for another's. */
static int open_first(ompio_file_t *fh, int mode)
{
    struct deed d = {.fh = fh, .name = fh->f_fullfilename};
    if (!(mode & MPI_MODE_CREATE))
        return deed_settle(open_plainly, &d).error;
    if (mode & MPI_MODE_EXCL && deed_settle(look_whether_there, &d).value)
        return EEXIST;
    return deed_settle(create, &d).error;
}

static int fs_open(struct ompi_communicator_t *comm, const char *name, int mode,
                   struct opal_info_t *info, ompio_file_t *fh)
{
    (void)name, (void)info;
    struct deed d = {.fh = fh, .name = fh->f_fullfilename};
    int error = 0;
    fh->fd = -1;
    fh->f_stripe_size = 0;
    fh->f_stripe_count = 1;
    fh->f_flags |= OMPIO_LOCK_NEVER;
    if (fh->f_rank == 0)
        error = open_first(fh, mode);
    int rc = comm->c_coll->coll_bcast(&error, 1, MPI_INT, 0, comm, comm->c_coll->coll_bcast_module);
    if (rc == OMPI_SUCCESS && error == 0 && fh->f_rank != 0)
        error = deed_settle(open_plainly, &d).error;
    log_rank(replica.fs.verbose, 1, replica.rank, "%s: %s", d.name,
             error != 0 ? strerror(error) : "open");
    return rc != OMPI_SUCCESS ? rc : mpi_error(error);
}

static int fs_close(ompio_file_t *fh)
{
    if (fh->fd >= 0)
        close(fh->fd);
    fh->fd = -1;
    return OMPI_SUCCESS;
}

static size_t remove_it(void *ctx, void *word)
{
    struct deed *d = ctx;
    *(struct word *)word = word_of(unlink(d->name));
    return sizeof(struct word);
}

static int fs_delete(char *name, struct opal_info_t *info)
{
    (void)info;
    struct deed d = {.name = name};
    bool there = deed_settle(look_whether_there, &d).value;
    int error = deed_settle(remove_it, &d).error;
    return there && error == ENOENT ? OMPI_SUCCESS : mpi_error(error);
}

static size_t resize(void *ctx, void *word)
{
    struct deed *d = ctx;
    *(struct word *)word = word_of(file_fd(d->fh) < 0 ? -1 : ftruncate(d->fh->fd, d->number));
    return sizeof(struct word);
}

/* A barrier follows. */
static int fs_set_size(ompio_file_t *fh, OMPI_MPI_OFFSET_TYPE size)
{
    struct deed d = {.fh = fh, .number = size};
    return fh->f_rank == 0 ? mpi_error(deed_settle(resize, &d).error) : OMPI_SUCCESS;
}

static size_t measure(void *ctx, void *word)
{
    struct deed *d = ctx;
    struct stat s = {.st_size = 0};
    int rc = file_fd(d->fh) < 0 ? -1 : fstat(d->fh->fd, &s);
    *(struct word *)word = word_of(rc < 0 ? -1 : s.st_size);
    return sizeof(struct word);
}

static int fs_get_size(ompio_file_t *fh, OMPI_MPI_OFFSET_TYPE *size)
{
    struct deed d = {.fh = fh};
    struct word w = deed_settle(measure, &d);
    *size = w.value;
    return mpi_error(w.error);
}

static size_t synchronize(void *ctx, void *word)
{
    struct deed *d = ctx;
    *(struct word *)word = word_of(file_fd(d->fh) < 0 ? -1 : fsync(d->fh->fd));
    return sizeof(struct word);
}

static int fs_sync(ompio_file_t *fh)
{
    struct deed d = {.fh = fh};
    return mpi_error(deed_settle(synchronize, &d).error);
}

static int fs_module_init(ompio_file_t *fh)
{
    (void)fh;
    return OMPI_SUCCESS;
}

extern mca_fs_base_component_2_0_0_t mca_fs_replica_component;

static mca_fs_base_module_t fs_module = {.fs_module_init = fs_module_init,
                                         .fs_module_finalize = fs_module_init,
                                         .fs_file_open = fs_open,
                                         .fs_file_close = fs_close,
                                         .fs_file_delete = fs_delete,
                                         .fs_file_set_size = fs_set_size,
                                         .fs_file_get_size = fs_get_size,
                                         .fs_file_sync = fs_sync};

static int init_query(bool progress_threads, bool threads)
{
    (void)progress_threads, (void)threads;
    return OMPI_SUCCESS;
}

static int fs_register(void)
{
    replica.fs.priority = FILE_PRIORITY;
    param_common(&mca_fs_replica_component.fsm_version, &ompi_fs_base_framework,
                 &replica.fs.priority, &replica.fs.verbose);
    return OMPI_SUCCESS;
}

static mca_fs_base_module_t *fs_query(ompio_file_t *fh, int *priority)
{
    *priority = replica.fs.priority;
    fh->f_fstype = UFS;
    return replica.engine != NULL ? &fs_module : NULL;
}

mca_fs_base_component_2_0_0_t mca_fs_replica_component = {
    .fsm_version = {MCA_FS_BASE_VERSION_2_0_0, .mca_component_name = "replica",
                    PARAM_VERSION(component), .mca_register_component_params = fs_register},
    .fsm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .fsm_init_query = init_query,
    .fsm_file_query = fs_query,
    .fsm_file_unquery = fs_module_init,
};
