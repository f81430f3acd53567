/* SPDX-License-Identifier: BSD-3-Clause */
/* sockets.c -- a process with partners on its own host and on another one: looking at the sockets
 * of the latter costs more than a message of the former, and is seldom; but none waits for long. */
#include "src/transport/transport.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <cmocka.h>

enum { SELF, NEAR, FAR, PROCESSES };
enum { POLLS = 20000 };
enum { WAITS_NS = 2000, BUSY_NS = 64000 }; /* between two looks */

struct side {
    struct transport *t;
    char address[1024];
    unsigned came[PROCESSES]; /* by sender */
};

static struct side side[PROCESSES];
static unsigned looks;

/* In place of the C library's. */
int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
    looks++;
    return epoll_pwait(epoll, events, most, timeout_ms, NULL);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *place(void *arg, uint32_t from, const void *head, size_t head_length, size_t length)
{
    (void)arg, (void)from, (void)head, (void)head_length, (void)length;
    return NULL;
}

static void arrived(void *arg, uint32_t from, const void *head, size_t head_length, void *payload,
                    size_t length)
{
    (void)head, (void)head_length, (void)payload, (void)length;
    ((struct side *)arg)->came[from]++;
}

static void sent(void *arg, uint32_t to, void *token)
{
    (void)arg, (void)to, (void)token;
}

static void lost(void *arg, uint32_t peer, const char *reason)
{
    (void)arg, (void)peer;
    fail_msg("lost: %s", reason);
}

static const char *address(void *arg, uint32_t peer)
{
    (void)arg;
    return side[peer].address;
}

static void tell(uint32_t from, uint32_t to)
{
    assert_true(transport_send(side[from].t, to, TRANSPORT_URGENT, "x", 1, NULL, 0, NULL) >= 0);
}

static void poll_all(void)
{
    for (int i = 0; i < PROCESSES; i++)
        transport_poll(side[i].t, 0);
}

/* The one that is far away might as well be on another host. */
static int begin(void **state)
{
    (void)state;
    memset(side, 0, sizeof side);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        const struct transport_options o = {.self = i,
                                            .count = PROCESSES,
                                            .job = 7,
                                            .listen = "127.0.0.1",
                                            .shared_memory = i != FAR,
                                            .secret = {41},
                                            .retry_ms = 1000};
        const struct transport_events e = {&side[i], place, arrived, sent, lost, address};
        assert_int_equal(transport_open(&side[i].t, &o, &e), 0);
        strcpy(side[i].address, transport_address(side[i].t));
    }
    tell(SELF, NEAR);
    tell(SELF, FAR);
    while (side[NEAR].came[SELF] == 0 || side[FAR].came[SELF] == 0)
        poll_all();
    assert_false(transport_is_far(side[SELF].t, NEAR));
    assert_true(transport_is_far(side[SELF].t, FAR));
    for (int i = 0; i < 100; i++) /* what else the two have to say when they meet */
        poll_all();
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < PROCESSES; i++)
        transport_close(side[i].t);
    return 0;
}

/* So many polls of the first process, each with a message from the near one, or none. */
static void expect_few_looks(bool busy, uint64_t gap_ns)
{
    const uint64_t begin_ns = now_ns();
    looks = 0;
    for (int i = 0; i < POLLS; i++) {
        if (busy)
            tell(NEAR, SELF);
        transport_poll(side[SELF].t, 0);
    }
    const uint64_t took_ns = now_ns() - begin_ns;
    assert_in_range(looks, 1, took_ns / gap_ns + 4);
    assert_int_equal(side[SELF].came[NEAR], busy ? POLLS : 0);
}

static void test_seldom_while_the_rings_are_busy(void **state)
{
    (void)state;
    expect_few_looks(true, BUSY_NS);
}

static void test_not_at_each_poll_while_it_waits(void **state)
{
    (void)state;
    expect_few_looks(false, WAITS_NS);
}

/* The other host's message comes, though each poll has one of this host's. */
static void test_none_is_passed_over(void **state)
{
    (void)state;
    tell(FAR, SELF);
    transport_poll(side[FAR].t, 0);
    const uint64_t begin_ns = now_ns();
    while (side[SELF].came[FAR] == 0 && now_ns() - begin_ns < UINT64_C(10000000000)) {
        tell(NEAR, SELF);
        transport_poll(side[SELF].t, 0);
    }
    assert_int_equal(side[SELF].came[FAR], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_seldom_while_the_rings_are_busy, begin, end),
        cmocka_unit_test_setup_teardown(test_not_at_each_poll_while_it_waits, begin, end),
        cmocka_unit_test_setup_teardown(test_none_is_passed_over, begin, end),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
