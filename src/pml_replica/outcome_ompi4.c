/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome_ompi4.c -- outcomes of tests, and of waits for any, decided by the leader.
 *
 * Whether a request is complete depends on the moment, so lanes may not each find out for
 * themselves. The leader looks and decides which are; the followers wait until the same are
 * complete. Waits for one or for all need no decision. None is made where no request is active: all
 * lanes see that alike.
 *
 * With the outcome goes a word on what those requests are for. A program whose threads race for the
 * order of its calls asks for others in another lane, which may never be complete. */
#include "glue.h"
#include "opal/runtime/opal_progress.h"
#include "src/replica/memory.h"
#include <stdlib.h>
#include <string.h>

static bool requests_any_active(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++)
        if (request_is_active(requests[i]))
            return true;
    return false;
}

/* Indices of the active requests that are complete, up to `most` of them. */
static size_t requests_complete(size_t count, ompi_request_t **requests, int *indices, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < count && n < most; i++)
        if (request_is_active(requests[i]) && request_is_ready(requests[i]))
            indices[n++] = (int)i;
    return n;
}

static bool requests_all_complete(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++)
        if (request_is_active(requests[i]) && !request_is_ready(requests[i]))
            return false;
    return true;
}

/* --- waits that need no decision --- */

/* It is for no message: for a collective, say, whose receives no call names. */
static bool request_is_other(const ompi_request_t *r)
{
    return r->req_type != OMPI_REQUEST_PML && request_is_active(r) && !REQUEST_COMPLETE(r);
}

static bool requests_any_other(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++)
        if (request_is_other(requests[i]))
            return true;
    return false;
}

/* The program asks for them. What has come before may save copies of what it has sent. Is any for
 * no message? */
static bool requests_await(size_t count, ompi_request_t **requests)
{
    bool polled = false, other = false;
    const bool owes = engine_owes(replica.engine);
    for (size_t i = 0; i < count; i++) {
        if (REQUEST_COMPLETE(requests[i]) && !owes)
            continue; /* as most of small messages' are: no call for these */
        if (!polled && request_is_held(requests[i])) {
            link_progress();
            polled = true;
        }
        other |= request_is_other(requests[i]);
        request_await(requests[i]);
    }
    return other;
}

static int outcome_wait(ompi_request_t **request, ompi_status_public_t *status)
{
    bool other = false;
    replica.awaiting++;
    if (!REQUEST_COMPLETE(*request) || engine_owes(replica.engine)) {
        link_enter();
        other = requests_await(1, request);
        link_leave();
    }
    replica.awaiting_others += other;
    int rc = replica.stock.req_wait(request, status);
    replica.awaiting_others -= other;
    replica.awaiting--;
    link_catch_up();
    return rc;
}

static int outcome_wait_all(size_t count, ompi_request_t **requests, ompi_status_public_t *statuses)
{
    link_enter();
    const bool other = requests_await(count, requests);
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

/* A test asks for sends, too; receives it takes for done when they are withheld. */
static void requests_await_sends(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++)
        if (request_is_held(requests[i]))
            request_await(requests[i]);
}

/* The same for all lanes that ask for the same. indices: of n of them, each perhaps another lane's;
 * NULL: of all, and n is their number. */
static uint32_t requests_what(size_t count, ompi_request_t **requests, const int *indices, size_t n)
{
    uint32_t what = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t at = indices == NULL ? i : (size_t)indices[i];
        what = what * 31 + (at < count ? request_what(requests[at]) : UINT32_MAX);
    }
    return what;
}

/* An outcome as lanes tell it to each other: indices, then the word. */
struct outcome {
    int *words;
    int few[8 + 1];
};

static void outcome_open(struct outcome *o, size_t most)
{
    const size_t few = sizeof o->few / sizeof *o->few;
    o->words = most + 1 <= few ? o->few : memory_resized(NULL, (most + 1) * sizeof *o->words);
    o->words[0] = 0; /* of an outcome without indices */
}

static void outcome_close(struct outcome *o)
{
    if (o->words != o->few)
        free(o->words);
}

/* How many indices the leader has decided on; none: not yet. -EAGAIN: this process leads now. */
static int outcome_follow(enum engine_decision kind, struct outcome *o, size_t most)
{
    while (engine_follows(replica.engine)) {
        int n = engine_decision_take(replica.engine, kind, o->words, (most + 1) * sizeof(int));
        if (n != -EAGAIN)
            return n > (int)sizeof(int) ? n / (int)sizeof(int) - 1 : 0;
        link_wait();
    }
    return -EAGAIN;
}

static bool outcome_is_agreed(const struct outcome *o, int n, uint32_t what)
{
    return n <= 0 || (uint32_t)o->words[n] == what;
}

/* The leader's program has asked for another one here. This one's may come all the same: it is
 * waited for as long as a process that shows no sign of life. */
static void request_await_in_doubt(ompi_request_t *request)
{
    const uint64_t limit = replica.params.drop_after_ms * UINT64_C(1000000);
    const uint64_t begin = now_ns(CLOCK_MONOTONIC_COARSE);
    request_await(request);
    while (request_is_active(request) && !request_is_ready(request)) {
        link_wait();
        if (limit > 0 && now_ns(CLOCK_MONOTONIC_COARSE) - begin >= limit)
            engine_asks_other(replica.engine);
    }
}

static void requests_await_in_doubt(size_t count, ompi_request_t **requests, const int *indices,
                                    int n)
{
    for (int i = 0; i < n; i++)
        if ((size_t)indices[i] < count)
            request_await_in_doubt(requests[indices[i]]);
        else
            engine_asks_other(replica.engine);
}

static void outcome_give(enum engine_decision kind, struct outcome *o, size_t n, uint32_t what)
{
    o->words[n] = (int)what;
    engine_decision_give(replica.engine, kind, o->words, n > 0 ? (n + 1) * sizeof(int) : 0);
    link_keep_pace();
}

static int outcome_find_inside(enum engine_decision kind, size_t count, ompi_request_t **requests,
                               struct outcome *o, size_t most, bool block)
{
    int n = outcome_follow(kind, o, most);
    if (n != -EAGAIN) {
        if (!outcome_is_agreed(o, n, requests_what(count, requests, o->words, (size_t)n)))
            requests_await_in_doubt(count, requests, o->words, n);
        return n;
    }
    requests_await_sends(count, requests);
    size_t found = requests_complete(count, requests, o->words, most);
    if (found == 0) {
        opal_progress();
        found = requests_complete(count, requests, o->words, most);
    }
    while (found == 0 && block) {
        link_wait();
        found = requests_complete(count, requests, o->words, most);
    }
    outcome_give(kind, o, found, requests_what(count, requests, o->words, found));
    return (int)found;
}

/* Which are complete, up to `most`, as the leader decides. block: until there is one. */
static int outcome_find(enum engine_decision kind, size_t count, ompi_request_t **requests,
                        int *indices, size_t most, bool block)
{
    struct outcome o;
    outcome_open(&o, most);
    link_enter();
    const bool other = engine_is_served(replica.engine) && requests_any_other(count, requests);
    replica.awaiting_others += other;
    int n = outcome_find_inside(kind, count, requests, &o, most, block);
    replica.awaiting_others -= other;
    link_leave();
    memcpy(indices, o.words, (size_t)n * sizeof *indices);
    outcome_close(&o);
    return n;
}

static int outcome_test_one(ompi_request_t **request, int *completed, ompi_status_public_t *status)
{
    if (!request_is_active(*request))
        return replica.stock.req_test(request, completed, status);
    int index, n = outcome_find(DECIDE_TEST, 1, request, &index, 1, false);
    *completed = n > 0;
    return n > 0 ? outcome_wait(request, status) : OMPI_SUCCESS;
}

static int outcome_test_any(size_t count, ompi_request_t **requests, int *index, int *completed,
                            ompi_status_public_t *status)
{
    if (!requests_any_active(count, requests))
        return replica.stock.req_test_any(count, requests, index, completed, status);
    int found, n = outcome_find(DECIDE_TEST, count, requests, &found, 1, false);
    *completed = n > 0;
    *index = n > 0 ? found : MPI_UNDEFINED;
    return n > 0 ? outcome_wait(&requests[found], status) : OMPI_SUCCESS;
}

static int outcome_test_all(size_t count, ompi_request_t **requests, int *completed,
                            ompi_status_public_t *statuses)
{
    if (!requests_any_active(count, requests))
        return replica.stock.req_test_all(count, requests, completed, statuses);
    struct outcome o;
    outcome_open(&o, 1);
    link_enter();
    const bool other = engine_is_served(replica.engine) && requests_any_other(count, requests);
    replica.awaiting_others += other;
    int n = outcome_follow(DECIDE_TEST, &o, 1);
    if (n == -EAGAIN) {
        requests_await_sends(count, requests);
        if (!requests_all_complete(count, requests))
            opal_progress();
        n = requests_all_complete(count, requests);
        outcome_give(DECIDE_TEST, &o, (size_t)n,
                     n > 0 ? requests_what(count, requests, NULL, count) : 0);
    } else if (n > 0 && !outcome_is_agreed(&o, n, requests_what(count, requests, NULL, count))) {
        for (size_t i = 0; i < count; i++)
            request_await_in_doubt(requests[i]);
    }
    replica.awaiting_others -= other;
    link_leave();
    *completed = n;
    return n > 0 ? outcome_wait_all(count, requests, statuses) : OMPI_SUCCESS;
}

/* Completes those that were decided on, in their order. */
static int outcome_finish_some(ompi_request_t **requests, int n, const int *indices,
                               ompi_status_public_t *statuses)
{
    int rc = OMPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        ompi_status_public_t one;
        int error = outcome_wait(&requests[indices[i]], &one);
        one.MPI_ERROR = error;
        if (statuses != MPI_STATUSES_IGNORE)
            OMPI_COPY_STATUS(&statuses[i], one, true);
        if (error != MPI_SUCCESS)
            rc = MPI_ERR_IN_STATUS;
    }
    return rc;
}

static int outcome_test_some(size_t count, ompi_request_t **requests, int *outcount, int *indices,
                             ompi_status_public_t *statuses)
{
    if (!requests_any_active(count, requests))
        return replica.stock.req_test_some(count, requests, outcount, indices, statuses);
    *outcount = outcome_find(DECIDE_TEST, count, requests, indices, count, false);
    return outcome_finish_some(requests, *outcount, indices, statuses);
}

static int outcome_wait_any(size_t count, ompi_request_t **requests, int *index,
                            ompi_status_public_t *status)
{
    if (!requests_any_active(count, requests))
        return replica.stock.req_wait_any(count, requests, index, status);
    outcome_find(DECIDE_WAIT, count, requests, index, 1, true);
    return outcome_wait(&requests[*index], status);
}

static int outcome_wait_some(size_t count, ompi_request_t **requests, int *outcount, int *indices,
                             ompi_status_public_t *statuses)
{
    if (!requests_any_active(count, requests))
        return replica.stock.req_wait_some(count, requests, outcount, indices, statuses);
    *outcount = outcome_find(DECIDE_WAIT, count, requests, indices, count, true);
    return outcome_finish_some(requests, *outcount, indices, statuses);
}

/* --- of one request, of a condition, of an act --- */

int outcome_is_complete(ompi_request_t *r)
{
    int index;
    if (!request_is_active(r))
        return 1;
    if (outcome_find(DECIDE_TEST, 1, &r, &index, 1, false) == 0)
        return 0;
    link_enter();
    request_await(r);
    while (!REQUEST_COMPLETE(r))
        link_wait();
    link_catch_up();
    link_leave();
    return 1;
}

bool outcome_test(bool (*holds)(void *ctx), void *ctx)
{
    struct outcome o;
    outcome_open(&o, 1);
    link_enter();
    int n = outcome_follow(DECIDE_TEST, &o, 1);
    if (n == -EAGAIN) {
        opal_progress();
        n = holds(ctx);
        outcome_give(DECIDE_TEST, &o, (size_t)n, 0);
    }
    while (n > 0 && !holds(ctx))
        link_wait();
    link_catch_up();
    link_leave();
    return n > 0;
}

/* The leader's value, or -EAGAIN: this process leads, and its followers hold all decisions that its
 * act may depend on. */
static int outcome_await_settled(void *value, size_t max)
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

/* No act before all hold what it may depend on: the next leader must come to the same. An act may
 * take long, as disks do, and is done outside of the engine. */
int outcome_settle(void *value, size_t max, size_t (*act)(void *ctx, void *value), void *ctx)
{
    link_enter();
    int n = outcome_await_settled(value, max);
    link_leave();
    if (n != -EAGAIN)
        return n;
    n = (int)act(ctx, value);
    link_enter();
    engine_decision_give(replica.engine, DECIDE_OTHER, value, (size_t)n);
    link_keep_pace();
    link_leave();
    return n;
}

void outcome_install(void)
{
    replica.stock = ompi_request_functions;
    ompi_request_functions.req_wait = outcome_wait;
    ompi_request_functions.req_wait_all = outcome_wait_all;
    ompi_request_functions.req_test = outcome_test_one;
    ompi_request_functions.req_test_any = outcome_test_any;
    ompi_request_functions.req_test_all = outcome_test_all;
    ompi_request_functions.req_test_some = outcome_test_some;
    ompi_request_functions.req_wait_any = outcome_wait_any;
    ompi_request_functions.req_wait_some = outcome_wait_some;
}

void outcome_remove(void)
{
    ompi_request_functions = replica.stock;
}
