/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome_ompi4.c -- what a test, or a wait for any, has found: the leader's word.
 *
 * Whether a request is complete depends on the moment, so lanes may not each look for themselves.
 * The leader looks and tells which; the followers wait until the same are complete. Waits for one
 * or for all need no word. Nothing is told where no request is active: all lanes see that alike. */
#include "glue.h"
#include "src/pml_replica/preload/preload.h"
#include "opal/runtime/opal_progress.h"
#include <dlfcn.h>

enum { FEW = 64 };

static bool is_active(const ompi_request_t *r)
{
    return r->req_state != OMPI_REQUEST_INACTIVE;
}

static bool any_active(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++)
        if (is_active(requests[i]))
            return true;
    return false;
}

/* Indices of the active requests that are complete, up to `most` of them. */
static size_t complete_ones(size_t count, ompi_request_t **requests, int *indices, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < count && n < most; i++)
        if (is_active(requests[i]) && request_is_ready(requests[i]))
            indices[n++] = (int)i;
    return n;
}

static bool all_complete(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++)
        if (is_active(requests[i]) && !request_is_ready(requests[i]))
            return false;
    return true;
}

/* --- waits that need no word --- */

/* It is for no message alone, but for a collective, say, whose receives nobody waits for by name.
 */
static bool is_other(const ompi_request_t *r)
{
    return is_active(r) && r->req_type != OMPI_REQUEST_PML && !REQUEST_COMPLETE(r);
}

static bool any_other(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++)
        if (is_other(requests[i]))
            return true;
    return false;
}

static int wait_one(ompi_request_t **request, ompi_status_public_t *status)
{
    const bool other = is_other(*request);
    request_await(*request);
    replica.awaiting++;
    replica.awaiting_others += other;
    int rc = replica.stock.req_wait(request, status);
    replica.awaiting_others -= other;
    replica.awaiting--;
    link_catch_up();
    return rc;
}

static int wait_all(size_t count, ompi_request_t **requests, ompi_status_public_t *statuses)
{
    const bool other = any_other(count, requests);
    link_enter();
    for (size_t i = 0; i < count; i++)
        request_await(requests[i]);
    link_leave();
    replica.awaiting++;
    replica.awaiting_others += other;
    int rc = replica.stock.req_wait_all(count, requests, statuses);
    replica.awaiting_others -= other;
    replica.awaiting--;
    link_catch_up();
    return rc;
}

/* --- what has to be decided --- */

/* The indices that the leader has named, none: not yet. -EAGAIN: we lead now. */
static int hear(enum engine_decision kind, int *indices, size_t most)
{
    while (engine_follows(replica.engine)) {
        int n = engine_decision_take(replica.engine, kind, indices, most * sizeof *indices);
        if (n != -EAGAIN)
            return n < 0 ? 0 : n / (int)sizeof *indices;
        link_wait();
    }
    return -EAGAIN;
}

static void tell(enum engine_decision kind, const int *indices, size_t n)
{
    engine_decision_give(replica.engine, kind, indices, n * sizeof *indices);
}

static int find_inside(enum engine_decision kind, size_t count, ompi_request_t **requests,
                       int *indices, size_t most, bool block)
{
    int n = hear(kind, indices, most);
    if (n != -EAGAIN)
        return n;
    size_t found = complete_ones(count, requests, indices, most);
    if (found == 0) {
        opal_progress();
        found = complete_ones(count, requests, indices, most);
    }
    while (found == 0 && block) {
        link_wait();
        found = complete_ones(count, requests, indices, most);
    }
    tell(kind, indices, found);
    return (int)found;
}

/* Which are complete, up to `most`: by the leader's word. block: until there is one. */
static int find(enum engine_decision kind, size_t count, ompi_request_t **requests, int *indices,
                size_t most, bool block)
{
    link_enter();
    const bool other = engine_is_served(replica.engine) && any_other(count, requests);
    replica.awaiting_others += other;
    int n = find_inside(kind, count, requests, indices, most, block);
    replica.awaiting_others -= other;
    link_leave();
    return n;
}

static int test(ompi_request_t **request, int *completed, ompi_status_public_t *status)
{
    if (!is_active(*request))
        return replica.stock.req_test(request, completed, status);
    int index, n = find(DECIDE_TEST, 1, request, &index, 1, false);
    *completed = n > 0;
    return n > 0 ? wait_one(request, status) : OMPI_SUCCESS;
}

static int test_any(size_t count, ompi_request_t **requests, int *index, int *completed,
                    ompi_status_public_t *status)
{
    if (!any_active(count, requests))
        return replica.stock.req_test_any(count, requests, index, completed, status);
    int found, n = find(DECIDE_TEST, count, requests, &found, 1, false);
    *completed = n > 0;
    *index = n > 0 ? found : MPI_UNDEFINED;
    return n > 0 ? wait_one(&requests[found], status) : OMPI_SUCCESS;
}

static int test_all(size_t count, ompi_request_t **requests, int *completed,
                    ompi_status_public_t *statuses)
{
    int yes = 0;
    if (!any_active(count, requests))
        return replica.stock.req_test_all(count, requests, completed, statuses);
    link_enter();
    const bool other = engine_is_served(replica.engine) && any_other(count, requests);
    replica.awaiting_others += other;
    int n = hear(DECIDE_TEST, &yes, 1);
    if (n == -EAGAIN) {
        if (!all_complete(count, requests))
            opal_progress();
        n = all_complete(count, requests);
        tell(DECIDE_TEST, &yes, (size_t)n);
    }
    replica.awaiting_others -= other;
    link_leave();
    *completed = n;
    return n > 0 ? wait_all(count, requests, statuses) : OMPI_SUCCESS;
}

/* Completes those that were named, in their order. */
static int finish_some(ompi_request_t **requests, int n, const int *indices,
                       ompi_status_public_t *statuses)
{
    int rc = OMPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        ompi_status_public_t one;
        int error = wait_one(&requests[indices[i]], &one);
        one.MPI_ERROR = error;
        if (statuses != MPI_STATUSES_IGNORE)
            OMPI_COPY_STATUS(&statuses[i], one, true);
        if (error != MPI_SUCCESS)
            rc = MPI_ERR_IN_STATUS;
    }
    return rc;
}

static int test_some(size_t count, ompi_request_t **requests, int *outcount, int *indices,
                     ompi_status_public_t *statuses)
{
    if (!any_active(count, requests))
        return replica.stock.req_test_some(count, requests, outcount, indices, statuses);
    *outcount = find(DECIDE_TEST, count, requests, indices, count, false);
    return finish_some(requests, *outcount, indices, statuses);
}

static int wait_any(size_t count, ompi_request_t **requests, int *index,
                    ompi_status_public_t *status)
{
    if (!any_active(count, requests))
        return replica.stock.req_wait_any(count, requests, index, status);
    find(DECIDE_WAIT, count, requests, index, 1, true);
    return wait_one(&requests[*index], status);
}

static int wait_some(size_t count, ompi_request_t **requests, int *outcount, int *indices,
                     ompi_status_public_t *statuses)
{
    if (!any_active(count, requests))
        return replica.stock.req_wait_some(count, requests, outcount, indices, statuses);
    *outcount = find(DECIDE_WAIT, count, requests, indices, count, true);
    return finish_some(requests, *outcount, indices, statuses);
}

/* --- the preloaded library's questions --- */

static int is_complete(ompi_request_t *r)
{
    int index;
    if (!is_active(r))
        return 1;
    if (find(DECIDE_TEST, 1, &r, &index, 1, false) == 0)
        return 0;
    request_await(r);
    while (!REQUEST_COMPLETE(r))
        link_wait();
    link_catch_up();
    return 1;
}

/* Who leads gives its own; who follows remembers by how much that differs, for the day it leads. */
static double time_inside(struct told_clock *clock, double own)
{
    double *last = &clock->last, told;
    while (engine_follows(replica.engine)) {
        int n = engine_decision_take(replica.engine, DECIDE_TIME, &told, sizeof told);
        if (n == (int)sizeof told) {
            clock->offset = told - own;
            return *last = told;
        }
        if (n != -EAGAIN)
            return *last;
        replica.waits_for_time = true;
        link_wait();
        replica.waits_for_time = false;
    }
    told = own + clock->offset;
    *last = told > *last ? told : *last;
    engine_decision_give(replica.engine, DECIDE_TIME, last, sizeof *last);
    if (!replica.has_attendant) /* who would tell it soon */
        engine_committed(replica.engine);
    return *last;
}

static double the_time(double own)
{
    link_enter();
    double time = time_inside(&replica.wtime, own);
    link_leave();
    return time;
}

/* Other threads ask in no order that lanes could share, and so do what MPI calls back. */
static double the_clock(double own)
{
    if (!pthread_equal(pthread_self(), replica.program) || replica.depth > 0)
        return own;
    link_enter();
    double time = time_inside(&replica.wall, own);
    link_leave();
    return time;
}

static void name_inside(char *name, int *length)
{
    while (engine_follows(replica.engine)) {
        int n = engine_decision_take(replica.engine, DECIDE_NAME, name, MPI_MAX_PROCESSOR_NAME - 1);
        if (n != -EAGAIN) {
            *length = n > 0 ? n : 0;
            name[*length] = '\0';
            return;
        }
        link_wait();
    }
    engine_decision_give(replica.engine, DECIDE_NAME, name, (size_t)*length);
}

static void the_name(char *name, int *length)
{
    link_enter();
    name_inside(name, length);
    link_leave();
}

bool outcome_test(bool (*holds)(void *ctx), void *ctx)
{
    int yes = 0;
    link_enter();
    int n = hear(DECIDE_TEST, &yes, 1);
    if (n == -EAGAIN) {
        opal_progress();
        n = holds(ctx);
        tell(DECIDE_TEST, &yes, (size_t)n);
    }
    while (n > 0 && !holds(ctx))
        link_wait();
    link_catch_up();
    link_leave();
    return n > 0;
}

/* The leader's value, or -EAGAIN: this process leads, and its followers hold all that it may
 * depend on. */
static int await_settled(void *value, size_t max)
{
    for (;; link_wait()) {
        bool follows = engine_follows(replica.engine);
        if (!follows && engine_committed(replica.engine))
            return -EAGAIN;
        int n = follows ? engine_decision_take(replica.engine, DECIDE_OTHER, value, max) : -EAGAIN;
        if (n != -EAGAIN)
            return n;
    }
}

/* No act before all hold what it may depend on: who leads next must come to the same. An act may
 * take long, as disks do, and is done outside. */
int outcome_settle(void *value, size_t max, size_t (*act)(void *ctx, void *value), void *ctx)
{
    link_enter();
    int n = await_settled(value, max);
    link_leave();
    if (n != -EAGAIN)
        return n;
    n = (int)act(ctx, value);
    link_enter();
    engine_decision_give(replica.engine, DECIDE_OTHER, value, (size_t)n);
    link_leave();
    return n;
}

static bool answer(struct preload_questions answers)
{
    struct preload_questions *q = dlsym(RTLD_DEFAULT, PRELOAD_SYMBOL);
    if (q != NULL)
        *q = answers;
    return q != NULL;
}

bool outcome_install(void)
{
    replica.stock = ompi_request_functions;
    ompi_request_functions.req_wait = wait_one;
    ompi_request_functions.req_wait_all = wait_all;
    ompi_request_functions.req_test = test;
    ompi_request_functions.req_test_any = test_any;
    ompi_request_functions.req_test_all = test_all;
    ompi_request_functions.req_test_some = test_some;
    ompi_request_functions.req_wait_any = wait_any;
    ompi_request_functions.req_wait_some = wait_some;
    replica.program = pthread_self();
    nap_begin();
    rally_begin();
    return answer((struct preload_questions){.time = the_time,
                                             .clock = replica.params.clock ? the_clock : NULL,
                                             .name = the_name,
                                             .is_complete = is_complete,
                                             .number = comm_number,
                                             .idup = comm_idup,
                                             .settle = output_settle,
                                             .rally = rally_lanes,
                                             .refuse = comm_refuse});
}

void outcome_remove(void)
{
    ompi_request_functions = replica.stock;
    (void)answer((struct preload_questions){.time = NULL});
}
