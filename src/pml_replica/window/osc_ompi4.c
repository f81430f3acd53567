/* SPDX-License-Identifier: BSD-3-Clause */
/* osc_ompi4.c -- windows: made, freed, and refused where lanes could not be alike. What is called
 * on them is in operation_ompi4.c and epoch_ompi4.c. */
#include "window.h"
#include "ompi/mca/osc/base/base.h"
#include "src/common/log.h"
#include "src/common/param.h"

enum { PRIORITY = 100 };

extern ompi_osc_base_component_2_0_0_t mca_osc_replica_component;

static int window_shared_query(ompi_win_t *win, int rank, size_t *size, int *unit, void *base)
{
    struct window *w = window_of(win);
    (void)rank;
    if (win->w_flavor != MPI_WIN_FLAVOR_SHARED)
        return MPI_ERR_WIN;
    *size = w->bytes;
    *unit = w->unit;
    *(void **)base = w->base;
    return OMPI_SUCCESS;
}

static int window_attach(ompi_win_t *win, void *base, size_t size)
{
    link_enter();
    engine_attach(replica.engine, window_of(win)->wire, (uintptr_t)base, size);
    link_leave();
    return OMPI_SUCCESS;
}

static int window_detach(ompi_win_t *win, const void *base)
{
    link_enter();
    engine_detach(replica.engine, window_of(win)->wire, (uintptr_t)base);
    link_leave();
    return OMPI_SUCCESS;
}

static void window_release(struct window *w)
{
    if (w->owned)
        free(w->base);
    free(w->posts);
    free(w->completes);
    free(w->awaited);
    free(w->replies);
    lock_queue_clear(&w->lock_queue);
    free(w->reading);
    free(w->dirty);
    free(w->locked);
    free(w->asked);
    budget_clear(&w->budget);
    free(w->posted);
    free(w->started);
    free(w);
}

static int window_free(ompi_win_t *win)
{
    struct window *w = window_of(win);
    epoch_fence(0, win);
    window_request(w, w->comm->c_my_rank, STOP);
    link_enter();
    while (!w->stopped || w->requesting > 0 || w->replying > 0)
        link_wait();
    engine_comm_free(replica.engine, w->wire);
    link_leave();
    ompi_comm_free(&w->comm);
    window_release(w);
    win->w_osc_module = NULL;
    return OMPI_SUCCESS;
}

static void window_fill(ompi_osc_base_module_t *calls)
{
    operations_fill(calls);
    epochs_fill(calls);
    calls->osc_win_shared_query = window_shared_query;
    calls->osc_win_attach = window_attach;
    calls->osc_win_detach = window_detach;
    calls->osc_free = window_free;
}

static struct window *window_new(int size)
{
    struct window *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    w->size = size;
    lock_queue_init(&w->lock_queue);
    w->posts = calloc((size_t)size, sizeof *w->posts);
    w->completes = calloc((size_t)size, sizeof *w->completes);
    w->awaited = calloc((size_t)size, sizeof *w->awaited);
    w->replies = calloc((size_t)size, sizeof *w->replies);
    w->reading = calloc((size_t)size, sizeof *w->reading);
    w->dirty = calloc((size_t)size, sizeof *w->dirty);
    w->locked = calloc((size_t)size, sizeof *w->locked);
    w->asked = calloc((size_t)size, sizeof *w->asked);
    w->posted = calloc((size_t)size, sizeof *w->posted);
    w->started = calloc((size_t)size, sizeof *w->started);
    if (w->posts && w->completes && w->awaited && w->replies && w->reading && w->dirty &&
        w->locked && w->asked && w->posted && w->started &&
        budget_init(&w->budget, size, replica.params.window_limit) == 0)
        return w;
    window_release(w);
    return NULL;
}

static int osc_register(void)
{
    replica.osc.priority = PRIORITY;
    param_common(&mca_osc_replica_component.osc_version, &ompi_osc_base_framework,
                 &replica.osc.priority, &replica.osc.verbose);
    return OMPI_SUCCESS;
}

static int osc_query(ompi_win_t *win, void **base, size_t size, int unit, ompi_communicator_t *comm,
                     opal_info_t *info, int flavor)
{
    (void)win, (void)base, (void)size, (void)unit, (void)comm, (void)info, (void)flavor;
    return replica.engine != NULL ? replica.osc.priority : OMPI_ERR_NOT_SUPPORTED;
}

static int osc_choose(ompi_win_t *win, void **base, size_t size, int unit,
                      ompi_communicator_t *comm, opal_info_t *info, int flavor, int *model)
{
    (void)info;
    if (flavor == MPI_WIN_FLAVOR_SHARED && ompi_comm_size(comm) > 1)
        return comm_refuse(comm, 0, MPI_ERR_RMA_SHARED, "MPI_Win_allocate_shared");
    if (flavor == MPI_WIN_FLAVOR_DYNAMIC && replica.params.verify)
        return comm_refuse(comm, 0, MPI_ERR_WIN,
                           "MPI_Win_create_dynamic with pml_replica_verify 1");
    struct window *w = window_new(ompi_comm_size(comm));
    if (w == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    window_fill(&w->super);
    w->bytes = size;
    w->unit = unit;
    w->dynamic = flavor == MPI_WIN_FLAVOR_DYNAMIC;
    w->owned = flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED;
    if (w->owned)
        *base = calloc(1, size > 0 ? size : 1);
    w->base = w->dynamic ? NULL : *base;
    int rc = w->owned && *base == NULL ? OMPI_ERR_OUT_OF_RESOURCE : ompi_comm_dup(comm, &w->comm);
    if (rc != OMPI_SUCCESS) {
        window_release(w);
        return rc;
    }
    link_enter();
    w->wire = engine_comm_twin(replica.engine, comm_of(w->comm), true);
    engine_by_place(replica.engine, w->wire);
    window_listen(w);
    link_leave();
    win->w_osc_module = &w->super;
    log_rank(replica.osc.verbose, 1, replica.rank, "a window of %zu bytes, for %d ranks", size,
             ompi_comm_size(comm));
    *model = MPI_WIN_UNIFIED;
    return w->comm->c_coll->coll_barrier(w->comm, w->comm->c_coll->coll_barrier_module);
}

static int osc_init(bool progress_threads, bool threads)
{
    (void)progress_threads, (void)threads;
    return OMPI_SUCCESS;
}

static int osc_finalize(void)
{
    return OMPI_SUCCESS;
}

ompi_osc_base_component_2_0_0_t mca_osc_replica_component = {
    .osc_version = {OMPI_OSC_BASE_VERSION_3_0_0, .mca_component_name = "replica",
                    PARAM_VERSION(component), .mca_register_component_params = osc_register},
    .osc_data = {MCA_BASE_METADATA_PARAM_NONE},
    .osc_init = osc_init,
    .osc_query = osc_query,
    .osc_select = osc_choose,
    .osc_finalize = osc_finalize,
};
