/* SPDX-License-Identifier: BSD-3-Clause */
/* homes_fs_ompi4.c -- ompio's fs and fbtl for files that have a home (homes.h): every call is a
 * request to it. What is long is cut into requests of HOME_PIECE, some of which are under way at
 * once. Views, collective buffering and all else above are ompio's; the one aggregator is the first
 * rank, which is the home if that has not opened the file elsewhere before. */
#include "homes.h"
#include "view_name.h"
#include "ompi/file/file.h"
#include "ompi/mca/fs/base/base.h"
#include "ompi/mca/rte/rte.h"
#include "opal/util/opal_getcwd.h"
#include "opal/util/os_path.h"
#include "opal/util/path.h"
#include "src/common/log.h"
#include <unistd.h>

enum { UNDER_WAY = 4 };

struct remote *remote_of(const ompio_file_t *fh)
{
    return fh->f_fs == &homes_fs_module ? fh->f_fs_ptr : NULL;
}

static struct home_answer remote_ask(ompio_file_t *fh, enum home_kind kind, uint64_t number)
{
    const struct remote *r = remote_of(fh);
    return ask_now(r->home, kind, r->number, number, NULL, 0);
}

/* --- open --- */

/* The rank in MPI_COMM_WORLD of the communicator's first; -1: it has members of other jobs. */
static int home_of_comm(ompi_communicator_t *comm)
{
    int first = 0, world = -1;
    if (replica.engine != NULL)
        return world_rank_of(comm->c_local_group, 0);
    for (int i = 0; i < ompi_comm_size(comm); i++)
        if (ompi_comm_peer_lookup(comm, i)->super.proc_name.jobid != OMPI_PROC_MY_NAME->jobid)
            return -1;
    ompi_group_translate_ranks(comm->c_local_group, 1, &first,
                               ompi_mpi_comm_world.comm.c_local_group, &world);
    return world;
}

/* The home that any member knows the name to have; else the first rank. All find the same. */
static int home_agree(const ompio_file_t *fh, const char *name, int *home)
{
    ompi_communicator_t *comm = fh->f_comm;
    int known = homes_find(name), any = -1;
    const int first = home_of_comm(comm);
    if (first < 0) {
        if (ompi_comm_rank(comm) == 0)
            log_line("%s: MPI-IO of processes of several jobs needs a folder that desktops share "
                     "(p2p_files shared)",
                     fh->f_fullfilename);
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    int rc = comm->c_coll->coll_allreduce(&known, &any, 1, MPI_INT, MPI_MAX, comm,
                                          comm->c_coll->coll_allreduce_module);
    *home = any >= 0 ? any : first;
    return rc;
}

static uint64_t home_mode(int amode)
{
    return (uint64_t)((amode & MPI_MODE_CREATE ? HOME_CREATE : 0) |
                      (amode & MPI_MODE_EXCL ? HOME_EXCLUSIVE : 0) |
                      (amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR) ? HOME_READS : 0) |
                      (amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR) ? HOME_WRITES : 0));
}

static size_t tell_error(void *ctx, void *value)
{
    memcpy(value, ctx, sizeof(int64_t));
    return sizeof(int64_t);
}

/* What each lane found with its own home has to be alike: folders that are not end here. */
static void error_compare(const char *path, int64_t own)
{
    int64_t told = own;
    char line[HOME_MAX_PATH + 160];
    if (replica.engine == NULL || replica.lanes < 2)
        return;
    outcome_settle(&told, sizeof told, tell_error, &own);
    if (told == own)
        return;
    snprintf(line, sizeof line, "%s differs between desktops: %s on one, %s on another", path,
             own != 0 ? strerror((int)own) : "right", told != 0 ? strerror((int)told) : "right");
    link_stop(NULL, 1, line);
}

/* The first rank opens for all. */
static void remote_open(ompio_file_t *fh, const char *name, struct remote *r, int64_t *error)
{
    homes_attach(r->home);
    const struct home_answer a =
        ask_now(r->home, HOME_OPEN, 0, home_mode(fh->f_amode), name, strlen(name));
    error_compare(fh->f_fullfilename, a.error);
    r->number = (uint64_t)a.value;
    *error = a.error;
}

/* One aggregator, unless somebody has asked for another number. */
static int remote_parameter(char *name, int length)
{
    static const char aggregators[] = "num_aggregators";
    int value = replica.ompio_parameter(name, length);
    return value == -1 && length == (int)strlen(aggregators) &&
                   memcmp(name, aggregators, (size_t)length) == 0
               ? 1
               : value;
}

static int homes_open(struct ompi_communicator_t *comm, const char *name, int mode,
                      struct opal_info_t *info, ompio_file_t *fh)
{
    (void)comm, (void)name, (void)mode, (void)info;
    ompi_communicator_t *c = fh->f_comm;
    struct remote *r = calloc(1, sizeof *r);
    char all[HOME_MAX_PATH - 1];
    int64_t told[2] = {0, 0}; /* error, number */
    int rc = r == NULL                                         ? OMPI_ERR_OUT_OF_RESOURCE
             : !view_name(all, sizeof all, fh->f_fullfilename) ? MPI_ERR_BAD_FILE
                                                               : homes_start();
    fh->fd = -1;
    fh->f_fs_ptr = NULL;
    fh->f_stripe_size = 0;
    fh->f_stripe_count = 1;
    fh->f_flags |= OMPIO_LOCK_NEVER;
    if (rc == OMPI_SUCCESS)
        rc = home_agree(fh, all, &r->home);
    if (rc == OMPI_SUCCESS && fh->f_rank == 0)
        remote_open(fh, all, r, &told[0]);
    told[1] = rc == OMPI_SUCCESS ? (int64_t)r->number : 0;
    if (rc == OMPI_SUCCESS)
        rc = c->c_coll->coll_bcast(told, 2, MPI_INT64_T, 0, c, c->c_coll->coll_bcast_module);
    if (rc == OMPI_SUCCESS)
        rc = file_mpi_error((int)told[0]);
    if (rc != OMPI_SUCCESS) {
        free(r);
        return rc;
    }
    r->number = (uint64_t)told[1];
    homes_attach(r->home);
    homes_note(all, r->home);
    replica.ompio_parameter = fh->f_get_mca_parameter_value;
    fh->f_get_mca_parameter_value = remote_parameter;
    fh->f_fs_ptr = r;
    log_rank(replica.fs.verbose, 1, wire_self(&replica.homes->wire), "%s: open, rank %d keeps it",
             fh->f_fullfilename, r->home);
    return OMPI_SUCCESS;
}

/* All have come here, with all that they wrote. */
static int homes_close(ompio_file_t *fh)
{
    struct remote *r = remote_of(fh);
    if (r == NULL)
        return OMPI_SUCCESS;
    if (fh->f_rank == 0)
        remote_ask(fh, HOME_CLOSE, 0);
    fh->f_fs_ptr = NULL;
    free(r);
    return OMPI_SUCCESS;
}

static size_t path_remove(void *ctx, void *result)
{
    *(int64_t *)result = unlink(ctx) != 0 ? errno : 0;
    return sizeof(int64_t);
}

/* Of a file that nobody here has opened: it is in each lane's own folder. */
static int64_t path_remove_own(char *path)
{
    int64_t error;
    path_remove(path, &error);
    error_compare(path, error);
    return error;
}

static int homes_delete(char *name, struct opal_info_t *info)
{
    (void)info;
    char folder[OPAL_PATH_MAX], *path;
    if (opal_path_is_absolute(name))
        path = strdup(name);
    else
        path = opal_getcwd(folder, sizeof folder) == OPAL_SUCCESS
                   ? opal_os_path(0, folder, name, NULL)
                   : NULL;
    if (path == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    char all[HOME_MAX_PATH - 1];
    const int home = view_name(all, sizeof all, path) ? homes_find(all) : -1;
    const int64_t error =
        home < 0 ? path_remove_own(path) : ask_now(home, HOME_DELETE, 0, 0, all, strlen(all)).error;
    free(path);
    return file_mpi_error((int)error);
}

/* --- size --- */

/* A barrier follows. */
static int homes_set_size(ompio_file_t *fh, OMPI_MPI_OFFSET_TYPE size)
{
    return fh->f_rank == 0 ? file_mpi_error((int)remote_ask(fh, HOME_RESIZE, (uint64_t)size).error)
                           : OMPI_SUCCESS;
}

static int homes_get_size(ompio_file_t *fh, OMPI_MPI_OFFSET_TYPE *size)
{
    const struct home_answer a = remote_ask(fh, HOME_SIZE, 0);
    *size = a.value;
    return file_mpi_error((int)a.error);
}

/* What was written was answered, so the home has it. The disk is not waited for: what survives a
 * desktop are the copies on others. */
static int homes_sync(ompio_file_t *fh)
{
    (void)fh;
    return OMPI_SUCCESS;
}

/* --- bytes --- */

static struct batch_entry entry_of(const void *list, size_t i)
{
    const mca_common_ompio_io_array_t *e = (const mca_common_ompio_io_array_t *)list + i;
    return (struct batch_entry){
        .memory = e->memory_address, .at = (uint64_t)(uintptr_t)e->offset, .length = e->length};
}

/* A call that reads or writes, and its requests that are under way. */
struct moving {
    const struct remote *remote;
    struct batch_list list;
    struct batch_cursor next;
    bool writes, ended; /* by an error, or the end of the file */
    int64_t error;
    size_t total;
    struct ask *asks[UNDER_WAY];
    unsigned begun, finished;
    struct home_extent *extents; /* HOME_MAX_EXTENTS of them */
};

/* False: all are begun. */
static bool moving_begin_one(struct moving *m)
{
    const struct batch_cursor from = m->next;
    struct batch_cursor again = from;
    const struct batch_size s = batch_gather(&m->list, &m->next, m->extents, NULL);
    const size_t places = s.extents * sizeof *m->extents;
    const uint64_t words[HOME_WORDS] = {[HOME_KIND] = m->writes ? HOME_WRITE : HOME_READ,
                                        [HOME_FILE] = m->remote->number,
                                        [HOME_EXTENTS] = s.extents,
                                        [HOME_BYTES] = s.bytes};
    const size_t length = places + (m->writes ? s.bytes : 0);
    if (s.bytes == 0)
        return false;
    struct parcel *p = parcel_new(length);
    if (m->writes)
        batch_gather(&m->list, &again, m->extents, p->bytes + places);
    memcpy(p->bytes, m->extents, places);
    struct ask *a = ask_begin(m->remote->home, words, p, length, m->writes ? 0 : s.bytes);
    a->at = from;
    a->wanted = s.bytes;
    m->asks[m->begun++ % UNDER_WAY] = a;
    return true;
}

/* What comes behind the end, or an error, does not count. */
static void moving_finish_one(struct moving *m)
{
    struct ask *a = m->asks[m->finished++ % UNDER_WAY];
    ask_await(a, m->remote->home, m->finished == m->begun);
    if (!m->ended) {
        m->error = a->answer.error;
        if (!m->writes && m->error == 0)
            batch_scatter(&m->list, &a->at, a->data, (size_t)a->answer.value);
        m->total += (size_t)a->answer.value;
        m->ended = m->error != 0 || (size_t)a->answer.value < a->wanted;
    }
    free(a);
}

static void moving_go(struct moving *m)
{
    bool more = true;
    do {
        while (more && !m->ended && m->begun - m->finished < UNDER_WAY)
            more = moving_begin_one(m);
        if (m->begun != m->finished)
            moving_finish_one(m);
    } while (m->begun != m->finished || (more && !m->ended));
}

static ssize_t homes_move(ompio_file_t *fh, bool writes)
{
    struct moving m = {.remote = remote_of(fh),
                       .list = {.list = fh->f_io_array,
                                .count = (size_t)fh->f_num_of_io_entries,
                                .entry = entry_of},
                       .writes = writes,
                       .extents = malloc(HOME_MAX_EXTENTS * sizeof *m.extents)};
    if (m.extents == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    if (fh->f_atomicity)
        remote_ask(fh, HOME_HOLD, 0);
    moving_go(&m);
    if (fh->f_atomicity)
        remote_ask(fh, HOME_RELEASE, 0);
    free(m.extents);
    log_rank(replica.fbtl.verbose, 2, wire_self(&replica.homes->wire), "%s: %zu bytes %s%s%s",
             fh->f_fullfilename, m.total, writes ? "written" : "read",
             m.error != 0 ? ", and then " : "", m.error != 0 ? strerror((int)m.error) : "");
    return m.error == 0 ? (ssize_t)m.total : OMPI_ERROR;
}

static ssize_t homes_write(ompio_file_t *fh)
{
    return homes_move(fh, true);
}

static ssize_t homes_read(ompio_file_t *fh)
{
    return homes_move(fh, false);
}

static int homes_nothing(ompio_file_t *fh)
{
    (void)fh;
    return OMPI_SUCCESS;
}

mca_fs_base_module_t homes_fs_module = {.fs_module_init = homes_nothing,
                                        .fs_module_finalize = homes_nothing,
                                        .fs_file_open = homes_open,
                                        .fs_file_close = homes_close,
                                        .fs_file_delete = homes_delete,
                                        .fs_file_set_size = homes_set_size,
                                        .fs_file_get_size = homes_get_size,
                                        .fs_file_sync = homes_sync};

mca_fbtl_base_module_t homes_fbtl_module = {.fbtl_module_init = homes_nothing,
                                            .fbtl_module_finalize = homes_nothing,
                                            .fbtl_preadv = homes_read,
                                            .fbtl_pwritev = homes_write};
