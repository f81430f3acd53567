/* SPDX-License-Identifier: BSD-3-Clause */
/* file_ompi4.c -- MPI-IO: files as one rank sees them, though it runs several times.
 *
 * Of every rank the leader alone touches the file, and then tells what came of it: bytes read, the
 * size, an error. The others take its word and do not open the file at all. A leader that dies
 * between the deed and the word has told nobody, so no message that depends on it has left either:
 * the next leader does it again, with the same bytes at the same place. What it did before has been
 * told, and is not done again, so nothing overwrites what another rank has written since.
 *
 * These are components of Open MPI's ompio: fs opens and sizes, fbtl moves bytes. Views, collective
 * buffering and all else above are ompio's, and the same in all lanes. */
#include "glue.h"
#include "ompi/file/file.h"
#include "ompi/mca/common/ompio/common_ompio.h"
#include "ompi/mca/fbtl/fbtl.h"
#include "ompi/mca/fs/fs.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRIORITY = 100, BATCH = 512 << 10 };

/* What came of it. */
struct word {
    int64_t value;
    int32_t error; /* errno */
    int32_t unused;
};

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

static struct word word_of(int64_t value)
{
    return (struct word){.value = value, .error = value < 0 ? errno : 0};
}

/* The file, opened at the first deed of this process. */
static int file_fd(ompio_file_t *fh)
{
    int mode = fh->f_amode & MPI_MODE_RDONLY ? O_RDONLY : O_RDWR;
    if (fh->fd < 0)
        fh->fd = open(fh->f_fullfilename, mode | O_CLOEXEC);
    if (fh->fd < 0 && mode == O_RDWR && fh->f_amode & MPI_MODE_WRONLY && errno == EACCES)
        fh->fd = open(fh->f_fullfilename, O_WRONLY | O_CLOEXEC);
    return fh->fd;
}

/* --- fs: open, close, delete, size --- */

struct deed {
    ompio_file_t *fh;
    const char *name;
    int64_t number;
};

static size_t look_whether_there(void *ctx, void *word)
{
    const struct deed *d = ctx;
    struct stat s;
    *(struct word *)word = (struct word){.value = stat(d->name, &s) == 0};
    return sizeof(struct word);
}

static struct word settle(size_t (*act)(void *ctx, void *word), struct deed *d)
{
    struct word w = {0};
    outcome_settle(&w, sizeof w, act, d);
    return w;
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
        return settle(open_plainly, &d).error;
    if (mode & MPI_MODE_EXCL && settle(look_whether_there, &d).value)
        return EEXIST;
    return settle(create, &d).error;
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
        error = settle(open_plainly, &d).error;
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
    bool there = settle(look_whether_there, &d).value;
    int error = settle(remove_it, &d).error;
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
    return fh->f_rank == 0 ? mpi_error(settle(resize, &d).error) : OMPI_SUCCESS;
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
    struct word w = settle(measure, &d);
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
    return mpi_error(settle(synchronize, &d).error);
}

/* --- fbtl: bytes --- */

static int write_all(int fd, const char *bytes, size_t length, off_t at)
{
    while (length > 0) {
        ssize_t n = pwrite(fd, bytes, length, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        bytes += n;
        at += n;
        length -= (size_t)n;
    }
    return 0;
}

static size_t write_entries(void *ctx, void *word)
{
    ompio_file_t *fh = ((struct deed *)ctx)->fh;
    struct word *w = word;
    *w = word_of(file_fd(fh) < 0 ? -1 : 0);
    for (int i = 0; w->error == 0 && i < fh->f_num_of_io_entries; i++) {
        const mca_common_ompio_io_array_t *e = &fh->f_io_array[i];
        if (write_all(fh->fd, e->memory_address, e->length, (off_t)(intptr_t)e->offset) != 0)
            *w = word_of(-1);
        else
            w->value += (int64_t)e->length;
    }
    return sizeof *w;
}

static ssize_t fbtl_write(ompio_file_t *fh)
{
    struct deed d = {.fh = fh};
    struct word w = settle(write_entries, &d);
    return w.error == 0 ? (ssize_t)w.value : OMPI_ERROR;
}

/* Entries are read one after the other into a batch, and given out from it alike. */
struct reading {
    ompio_file_t *fh;
    int entry;   /* where the batch begins: in this entry, */
    size_t done; /* so many bytes of which are read */
};

struct batch {
    struct word word; /* value: bytes; fewer than there is room for: the file ends */
    char bytes[BATCH];
};

static size_t read_some(int fd, char *bytes, size_t length, off_t at)
{
    size_t done = 0;
    while (done < length) {
        ssize_t n = pread(fd, bytes + done, length - done, at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return SIZE_MAX;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* Calls each for the pieces of the batch, until one is not whole. Returns its bytes. */
static size_t walk(struct reading *r, struct batch *b, size_t most,
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

static size_t from_file(ompio_file_t *fh, char *bytes, char *memory, size_t length, off_t at)
{
    (void)memory;
    return read_some(fh->fd, bytes, length, at);
}

static size_t to_memory(ompio_file_t *fh, char *bytes, char *memory, size_t length, off_t at)
{
    (void)fh, (void)at;
    memcpy(memory, bytes, length);
    return length;
}

static size_t read_batch(void *ctx, void *value)
{
    struct reading copy = *(struct reading *)ctx;
    struct batch *b = value;
    size_t n = file_fd(copy.fh) < 0 ? SIZE_MAX : walk(&copy, b, BATCH, from_file);
    b->word = word_of(n == SIZE_MAX ? -1 : (int64_t)n);
    return sizeof b->word + (n == SIZE_MAX ? 0 : n);
}

static ssize_t fbtl_read(ompio_file_t *fh)
{
    struct reading r = {.fh = fh};
    struct batch *b = malloc(sizeof *b);
    ssize_t total = 0;
    bool more = b != NULL;
    while (more) {
        outcome_settle(b, sizeof *b, read_batch, &r);
        if (b->word.error != 0)
            total = OMPI_ERROR;
        more = b->word.error == 0 && b->word.value == BATCH;
        if (b->word.error == 0)
            total += (ssize_t)walk(&r, b, (size_t)b->word.value, to_memory);
    }
    free(b);
    return b != NULL ? total : OMPI_ERR_OUT_OF_RESOURCE;
}

/* --- components --- */

static int fs_module_init(ompio_file_t *fh)
{
    (void)fh;
    return OMPI_SUCCESS;
}

static mca_fs_base_module_t fs_module = {.fs_module_init = fs_module_init,
                                         .fs_module_finalize = fs_module_init,
                                         .fs_file_open = fs_open,
                                         .fs_file_close = fs_close,
                                         .fs_file_delete = fs_delete,
                                         .fs_file_set_size = fs_set_size,
                                         .fs_file_get_size = fs_get_size,
                                         .fs_file_sync = fs_sync};

static mca_fbtl_base_module_t fbtl_module = {.fbtl_module_init = fs_module_init,
                                             .fbtl_module_finalize = fs_module_init,
                                             .fbtl_preadv = fbtl_read,
                                             .fbtl_pwritev = fbtl_write};

static int init_query(bool progress_threads, bool threads)
{
    (void)progress_threads, (void)threads;
    return OMPI_SUCCESS;
}

static mca_fs_base_module_t *fs_query(ompio_file_t *fh, int *priority)
{
    *priority = PRIORITY;
    fh->f_fstype = UFS;
    return replica.engine != NULL ? &fs_module : NULL;
}

static mca_fbtl_base_module_t *fbtl_query(ompio_file_t *fh, int *priority)
{
    (void)fh;
    *priority = PRIORITY;
    return replica.engine != NULL ? &fbtl_module : NULL;
}

mca_fs_base_component_2_0_0_t mca_fs_replica_component = {
    .fsm_version = {MCA_FS_BASE_VERSION_2_0_0, .mca_component_name = "replica",
                    MCA_BASE_MAKE_VERSION(component, 0, 1, 0)},
    .fsm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .fsm_init_query = init_query,
    .fsm_file_query = fs_query,
    .fsm_file_unquery = fs_module_init,
};

mca_fbtl_base_component_2_0_0_t mca_fbtl_replica_component = {
    .fbtlm_version = {MCA_FBTL_BASE_VERSION_2_0_0, .mca_component_name = "replica",
                      MCA_BASE_MAKE_VERSION(component, 0, 1, 0)},
    .fbtlm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .fbtlm_init_query = init_query,
    .fbtlm_file_query = fbtl_query,
    .fbtlm_file_unquery = fs_module_init,
};
