/* SPDX-License-Identifier: BSD-3-Clause */
/* epoch_ompi4.c -- when one-sided operations are done: locks and flushes, fences, and the groups
 * that are posted to and started. A call that has no place in the epoch that its process is in is
 * an error of the program (MPI_ERR_RMA_SYNC), the same one in all lanes: only its own calls decide.
 */
#include "window.h"

bool epoch_allows(const struct window *w, int target)
{
    return w->fence_open || w->locked[target] != ACCESS_NONE;
}

static bool epoch_is_locked(const struct window *w, int target)
{
    return w->locked[target] >= ACCESS_TRUSTED;
}

/* --- passive target --- */

static int epoch_flush(int target, ompi_win_t *win)
{
    struct window *w = window_of(win);
    if (w->dirty[target])
        window_request_reply(w, target, FLUSH);
    link_progress();
    window_leave(w, target);
    return OMPI_SUCCESS;
}

static int epoch_flush_all(ompi_win_t *win)
{
    struct window *w = window_of(win);
    for (int i = 0; i < w->size; i++)
        if (w->dirty[i])
            window_request_reply(w, i, FLUSH);
    link_progress();
    for (int i = 0; i < w->size; i++)
        window_leave(w, i);
    return OMPI_SUCCESS;
}

static int epoch_flush_locked(int target, ompi_win_t *win)
{
    return epoch_is_locked(window_of(win), target) ? epoch_flush(target, win) : OMPI_ERR_RMA_SYNC;
}

static int epoch_flush_all_locked(ompi_win_t *win)
{
    return window_of(win)->locks == 0 ? OMPI_ERR_RMA_SYNC : epoch_flush_all(win);
}

static void epoch_want_lock(struct window *w, enum lock_type type, int target)
{
    window_await_lock();
    replica.ungranted = w;
    w->locked[target] = ACCESS_WANTED;
    w->lock_type = type;
    w->lock_target = target;
    w->ahead = 0;
}

/* The first request asks for the lock; only of its own window the program sees whether it has it.
 */
static int epoch_lock(int type, int target, int assertion, ompi_win_t *win)
{
    struct window *w = window_of(win);
    if (w->accessed != NULL || w->locked[target] != ACCESS_NONE)
        return OMPI_ERR_RMA_SYNC;
    w->fence_open = false;
    w->locks++;
    if (assertion & MPI_MODE_NOCHECK) {
        window_await_replies(w, target); /* it has an earlier lock, or none any more */
        w->locked[target] = ACCESS_TRUSTED;
        return OMPI_SUCCESS;
    }
    window_await_room_at(w, target);
    epoch_want_lock(w, type == MPI_LOCK_EXCLUSIVE ? LOCK_EXCLUSIVE : LOCK_SHARED, target);
    if (target == w->comm->c_my_rank)
        window_await_lock();
    return OMPI_SUCCESS;
}

/* An epoch without an operation may be meant to wait for those of others. */
static int epoch_unlock(int target, ompi_win_t *win)
{
    struct window *w = window_of(win);
    if (w->locks < 0 || !epoch_is_locked(w, target))
        return OMPI_ERR_RMA_SYNC;
    const enum access access = (enum access)w->locked[target];
    if (access != ACCESS_TRUSTED)
        window_request_reply(w, target, UNLOCK);
    if (replica.ungranted == w && w->lock_target == target)
        replica.ungranted = NULL;
    w->locked[target] = ACCESS_NONE;
    w->locks--;
    epoch_flush(target, win);
    if (access == ACCESS_WANTED)
        window_await_replies(w, target);
    return OMPI_SUCCESS;
}

/* In the order of ranks, so that there is no circle of waits with a process that locks exclusively.
 */
static int epoch_lock_all(int assertion, ompi_win_t *win)
{
    struct window *w = window_of(win);
    if (w->accessed != NULL || w->locks != 0)
        return OMPI_ERR_RMA_SYNC;
    w->fence_open = false;
    w->locks = -1;
    for (int i = 0; i < w->size; i++)
        if (assertion & MPI_MODE_NOCHECK)
            w->locked[i] = ACCESS_TRUSTED;
        else
            epoch_want_lock(w, LOCK_SHARED, i);
    window_await_lock();
    return OMPI_SUCCESS;
}

static int epoch_unlock_all(ompi_win_t *win)
{
    struct window *w = window_of(win);
    if (w->locks >= 0)
        return OMPI_ERR_RMA_SYNC;
    w->locks = 0;
    window_settle();
    for (int i = 0; i < w->size; i++)
        if (w->locked[i] == ACCESS_LOCKED)
            window_request_reply(w, i, UNLOCK);
    for (int i = 0; i < w->size; i++)
        w->locked[i] = ACCESS_NONE;
    return epoch_flush_all(win);
}

static int epoch_sync(ompi_win_t *win)
{
    (void)win;
    link_progress();
    return OMPI_SUCCESS;
}

/* --- active target --- */

/* How many requests all have sent here. That depends on each of them: a process that knows it
 * knows, too, that all have come to this fence. */
static int count_requests(const struct window *w, uint32_t *count)
{
    const mca_coll_base_comm_coll_t *coll = w->comm->c_coll;
    return coll->coll_reduce_scatter_block(w->asked, count, 1, MPI_UINT32_T, MPI_SUM, w->comm,
                                           coll->coll_reduce_scatter_block_module);
}

/* The answers to a flush came from the origin's own lane. Where that is another one this process
 * may lack what was put by then. */
static void await_requests(const struct window *w, uint32_t count)
{
    link_enter();
    while ((int32_t)(w->served - count) < 0)
        link_wait();
    link_leave();
}

int epoch_fence(int assertion, ompi_win_t *win)
{
    struct window *w = window_of(win);
    uint32_t count = 0;
    w->fences++;
    window_step();
    window_resume(w);
    epoch_flush_all(win);
    window_settle();
    int rc = count_requests(w, &count);
    if (rc == OMPI_SUCCESS)
        await_requests(w, count);
    w->fenced++;
    w->fence_open = !(assertion & MPI_MODE_NOSUCCEED);
    return rc;
}

static int epoch_fence_checked(int assertion, ompi_win_t *win)
{
    const struct window *w = window_of(win);
    return w->accessed != NULL || w->locks != 0 ? OMPI_ERR_RMA_SYNC : epoch_fence(assertion, win);
}

/* The rank in the window's communicator of each member, one after the other. */
static int epoch_member(const struct window *w, ompi_group_t *group, int i)
{
    int rank = MPI_UNDEFINED;
    ompi_group_translate_ranks(group, 1, &i, w->comm->c_local_group, &rank);
    return rank;
}

static int epoch_post(ompi_group_t *group, int assertion, ompi_win_t *win)
{
    (void)assertion;
    struct window *w = window_of(win);
    if (w->exposed != NULL)
        return OMPI_ERR_RMA_SYNC;
    OBJ_RETAIN(group);
    w->exposed = group;
    for (int i = 0; i < group->grp_proc_count; i++)
        w->posted[epoch_member(w, group, i)]++;
    window_step();
    for (int i = 0; i < group->grp_proc_count; i++)
        window_request(w, epoch_member(w, group, i), POST);
    window_resume(w);
    return OMPI_SUCCESS;
}

static int epoch_start(ompi_group_t *group, int assertion, ompi_win_t *win)
{
    (void)assertion;
    struct window *w = window_of(win);
    if (w->accessed != NULL || w->locks != 0)
        return OMPI_ERR_RMA_SYNC;
    OBJ_RETAIN(group);
    w->fence_open = false;
    w->accessed = group;
    for (int i = 0; i < group->grp_proc_count; i++) {
        int target = epoch_member(w, group, i);
        while (w->posts[target] == 0)
            link_wait();
        link_catch_up();
        window_await_replies(w, target); /* it has an earlier lock, or none any more */
        w->posts[target]--;
        w->started[target]++;
        w->locked[target] = ACCESS_STARTED;
    }
    return OMPI_SUCCESS;
}

static int epoch_complete(ompi_win_t *win)
{
    struct window *w = window_of(win);
    if (w->accessed == NULL)
        return OMPI_ERR_RMA_SYNC;
    link_progress();
    for (int i = 0; i < w->accessed->grp_proc_count; i++) {
        int target = epoch_member(w, w->accessed, i);
        window_await_replies(w, target);
        window_request(w, target, COMPLETE);
        w->dirty[target] = false;
        w->locked[target] = ACCESS_NONE;
    }
    OBJ_RELEASE(w->accessed);
    w->accessed = NULL;
    return OMPI_SUCCESS;
}

static bool epoch_all_completed(void *ctx)
{
    const struct window *w = ctx;
    for (int i = 0; i < w->exposed->grp_proc_count; i++)
        if (w->completes[epoch_member(w, w->exposed, i)] == 0)
            return false;
    return true;
}

static int epoch_wait(ompi_win_t *win)
{
    struct window *w = window_of(win);
    if (w->exposed == NULL)
        return OMPI_ERR_RMA_SYNC;
    while (!epoch_all_completed(w))
        link_wait();
    link_catch_up();
    for (int i = 0; i < w->exposed->grp_proc_count; i++)
        w->completes[epoch_member(w, w->exposed, i)]--;
    OBJ_RELEASE(w->exposed);
    w->exposed = NULL;
    return OMPI_SUCCESS;
}

static int epoch_test(ompi_win_t *win, int *flag)
{
    struct window *w = window_of(win);
    *flag = w->exposed != NULL && outcome_test(epoch_all_completed, w);
    return *flag ? epoch_wait(win) : w->exposed != NULL ? OMPI_SUCCESS : OMPI_ERR_RMA_SYNC;
}

void epochs_fill(ompi_osc_base_module_t *calls)
{
    calls->osc_fence = epoch_fence_checked;
    calls->osc_start = epoch_start;
    calls->osc_complete = epoch_complete;
    calls->osc_post = epoch_post;
    calls->osc_wait = epoch_wait;
    calls->osc_test = epoch_test;
    calls->osc_lock = epoch_lock;
    calls->osc_unlock = epoch_unlock;
    calls->osc_lock_all = epoch_lock_all;
    calls->osc_unlock_all = epoch_unlock_all;
    calls->osc_sync = epoch_sync;
    calls->osc_flush = epoch_flush_locked;
    calls->osc_flush_all = epoch_flush_all_locked;
    calls->osc_flush_local = epoch_flush_locked;
    calls->osc_flush_local_all = epoch_flush_all_locked;
}
