/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/ras_p2p/nodename.h"
#include "overlay/core/lease/request_message.h"
#include "src/ras_p2p/request.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int in_list(const char *name, void *list)
{
    for (const char *const *n = list; *n != NULL; n++)
        if (strcmp(*n, name) == 0)
            return 1;
    return 0;
}

static const char *named(const char *peer, const char *own, const char *const *taken)
{
    static char out[NODENAME_MOST + 1];
    nodename_make(out, peer, own, in_list, (void *)taken);
    return out;
}

static void test_node_names(void **state)
{
    (void)state;
    const char *none[] = {NULL}, *some[] = {"pc17", "pc17-2", NULL};
    assert_string_equal(named("pc17", "pc3", none), "pc17");
    assert_string_equal(named("pc17", "pc3", some), "pc17-3");
    assert_string_equal(named("PC17", "pc3", none), "pc17");
    assert_string_equal(named("pc 17,[1]@x", "pc3", none), "pc-17--1--x");
    assert_string_equal(named("17", "pc3", none), "p17");
    assert_string_equal(named("", "pc3", none), "p");
    assert_string_equal(named("desk.lab.example.org", "pc3", none), "desk-lab-example-org");
}

static void test_node_is_never_the_own_host(void **state)
{
    (void)state;
    const char *none[] = {NULL}, *one[] = {"pc3-1", NULL};
    assert_string_equal(named("pc3", "pc3", none), "pc3-1");
    assert_string_equal(named("pc3", "pc3", one), "pc3-2");
    assert_string_equal(named("pc3", "pc3.lab.example.org", none), "pc3-1");
    assert_string_equal(named("PC3", "pc3", none), "pc3-1");
    assert_string_equal(named("pc3", "PC3", none), "pc3-1");
    assert_string_equal(named("localhost", "pc3", none), "localhost-1");
    assert_string_equal(named("pc3.lab", "pc3.lab", none), "pc3-lab-1");
}

static void test_long_names_are_cut(void **state)
{
    (void)state;
    char peer[200];
    const char *none[] = {NULL};
    memset(peer, 'x', sizeof peer - 1);
    peer[sizeof peer - 1] = '\0';
    assert_true(strlen(named(peer, "pc3", none)) <= NODENAME_MOST);
}

static void test_number_of_processes(void **state)
{
    (void)state;
    struct err e = {0};
    struct job_request r = {.apps = 2, .processes = (const int[]){3, 4}};
    assert_int_equal(request_count(&r, &e), 0);
    assert_int_equal(r.ranks, 7);
    r.processes = (const int[]){3, 0};
    assert_int_equal(request_count(&r, &e), -EINVAL);
    assert_non_null(strstr(e.text, "-n NUMBER for each program"));
    r.processes = (const int[]){65000, 65000};
    assert_int_equal(request_count(&r, NULL), -EINVAL);
}

static void test_request(void **state)
{
    (void)state;
    struct request w;
    struct job_request r = {.ranks = 4, .started = 4, .spares = 2, .require = "cores >= 2"};
    assert_int_equal(request_make(&r, &w, NULL), 0);
    assert_int_equal(w.slots, 4);
    assert_int_equal(w.spares, 2);
    assert_int_equal(w.per_lease, 0);
    assert_int_equal(w.per_peer, 0);
    assert_string_equal(w.require, "cores >= 2");
    r = (struct job_request){.ranks = 4, .started = 8, .replicated = true};
    assert_int_equal(request_make(&r, &w, NULL), 0);
    assert_int_equal(w.slots, 8);
    assert_int_equal(w.per_lease, 0);
    assert_int_equal(w.per_peer, 4);
    assert_null(w.require);
    r.spares = -1;
    assert_int_equal(request_make(&r, &w, NULL), -EINVAL);
}

static void test_per_node(void **state)
{
    (void)state;
    assert_int_equal(request_per_node("2:node"), 2);
    assert_int_equal(request_per_node("2:socket"), 0);
    assert_int_equal(request_per_node(""), 0);
    assert_int_equal(request_per_node(NULL), 0);
}

/* A replacement is asked for by the same rules. */
static void test_request_for_another(void **state)
{
    (void)state;
    struct request w;
    const struct id gone[] = {{{7}}, {{9}}};
    struct job_request r = {
        .ranks = 4, .started = 8, .spares = 2, .replicated = true, .require = "cores >= 2"};
    assert_int_equal(request_another(&r, 3, gone, 2, &w, NULL), 0);
    assert_int_equal(w.slots, 3);
    assert_int_equal(w.spares, 0);
    assert_int_equal(w.per_peer, 4);
    assert_int_equal(w.apart, 4);
    assert_string_equal(w.require, "cores >= 2");
    assert_int_equal(w.exclude_count, 2);
    assert_memory_equal(w.exclude, gone, sizeof gone);
    assert_true(w.timeout_ms < 5000); /* so soon a job goes on, or ends */
    r = (struct job_request){.ranks = 4, .started = 4, .per_node = 2, .strategy = SHARE_SPREAD};
    assert_int_equal(request_another(&r, 2, NULL, 0, &w, NULL), 0);
    assert_int_equal(w.per_lease, 2);
    assert_int_equal(w.per_peer, 0);
    assert_int_equal(w.strategy, SHARE_SPREAD);
}

/* From a component to the daemon's search nothing of it is lost. */
static void test_as_a_message(void **state)
{
    (void)state;
    static struct msg_local_allocate m;
    static struct id exclude[REQUEST_EXCLUDES + 1];
    const struct id gone[] = {{{7}}, {{9}}};
    const struct request r = {.slots = 70000,
                              .per_lease = 2,
                              .spares = 3,
                              .strategy = SHARE_BALANCED,
                              .apart = 4,
                              .per_peer = 5,
                              .use = LEASE_WITHIN,
                              .reservation = {{6}},
                              .own = true,
                              .timeout_ms = 700,
                              .require = "cores >= 2",
                              .needs = "x86_64 libone.so.1",
                              .exclude = gone,
                              .exclude_count = 2};
    struct request back;
    assert_null(request_write(&r, &m));
    assert_null(request_read(&back, &m, exclude));
    assert_string_equal(back.require, r.require);
    assert_string_equal(back.needs, r.needs);
    assert_memory_equal(back.exclude, gone, sizeof gone);
    back.require = r.require;
    back.exclude = r.exclude;
    assert_int_equal(back.slots, r.slots);
    assert_int_equal(back.per_lease, r.per_lease);
    assert_int_equal(back.spares, r.spares);
    assert_int_equal(back.strategy, r.strategy);
    assert_int_equal(back.apart, r.apart);
    assert_int_equal(back.per_peer, r.per_peer);
    assert_int_equal(back.use, r.use);
    assert_true(id_equal(&back.reservation, &r.reservation));
    assert_true(back.own);
    assert_int_equal(back.timeout_ms, r.timeout_ms);
    assert_int_equal(back.exclude_count, 2);
}

static void test_no_message(void **state)
{
    (void)state;
    static struct msg_local_allocate m;
    static struct id many[REQUEST_EXCLUDES + 1];
    static char longest[1025];
    struct request r = {.slots = 1, .timeout_ms = 1};
    memset(longest, ' ', sizeof longest - 1);
    assert_null(request_write(&r, &m));
    m.strategy = SHARE_STRATEGIES;
    assert_non_null(request_read(&r, &m, many));
    m.strategy = 0;
    m.slots = 0;
    assert_non_null(request_read(&r, &m, many));
    const struct request bad[] = {
        {.slots = 0, .timeout_ms = 1},
        {.slots = 1, .timeout_ms = 0},
        {.slots = 1, .timeout_ms = 1, .spares = 65536},
        {.slots = 1, .timeout_ms = 1, .per_lease = 65536},
        {.slots = 1, .timeout_ms = 1, .require = longest},
        {.slots = 1, .timeout_ms = 1, .exclude = many, .exclude_count = REQUEST_EXCLUDES + 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_non_null(request_write(&bad[i], &m));
}

static void test_strategies(void **state)
{
    (void)state;
    enum share_strategy s;
    struct err e = {0};
    assert_int_equal(request_strategy(NULL, &s, NULL), 0);
    assert_int_equal(s, SHARE_CONCENTRATE);
    assert_int_equal(request_strategy("spread", &s, NULL), 0);
    assert_int_equal(s, SHARE_SPREAD);
    assert_int_equal(request_strategy("balanced", &s, NULL), 0);
    assert_int_equal(s, SHARE_BALANCED);
    assert_int_equal(request_strategy("far", &s, &e), -EINVAL);
    assert_non_null(strstr(e.text, "far"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_names),
        cmocka_unit_test(test_node_is_never_the_own_host),
        cmocka_unit_test(test_long_names_are_cut),
        cmocka_unit_test(test_number_of_processes),
        cmocka_unit_test(test_strategies),
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_per_node),
        cmocka_unit_test(test_request_for_another),
        cmocka_unit_test(test_as_a_message),
        cmocka_unit_test(test_no_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
