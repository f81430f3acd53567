/* SPDX-License-Identifier: BSD-3-Clause */
/* broker.c -- a guest's calls: whom they may reach, made for real by a child that is asked about.
 */
#include "overlay/sandbox/broker.h"
#include "overlay/sandbox/room.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static struct sockaddr_in v4(const char *ip, uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, ip, &a.sin_addr);
    return a;
}

static bool own_job = true;
static bool is_own_job(void *ctx, uint16_t port)
{
    (void)ctx, (void)port;
    return own_job;
}
static unsigned questions;
static void count_question(void *ctx, const uint8_t ip[16], uint16_t port)
{
    (void)ctx, (void)ip, (void)port;
    questions++;
}
static const struct broker_host host = {is_own_job, count_question, NULL};

static int judged(const struct broker *p, const char *ip, uint16_t port)
{
    struct sockaddr_in four = v4(ip, port);
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (strchr(ip, ':') == NULL)
        return broker_judge(p, (struct sockaddr *)&four, sizeof four);
    inet_pton(AF_INET6, ip, &a.sin6_addr);
    return broker_judge(p, (struct sockaddr *)&a, sizeof a);
}

static void allow(struct broker *p, const char *ip, bool met)
{
    uint8_t peer[ROOM_PEER] = {[10] = 0xff, [11] = 0xff, [16] = met};
    inet_pton(AF_INET, ip, peer + 12);
    broker_allow(p, peer, sizeof peer);
}

static void hear(struct broker *p, const char *ip, uint16_t port, bool yes)
{
    uint8_t peer[16] = {[10] = 0xff, [11] = 0xff};
    inet_pton(AF_INET, ip, peer + 12);
    broker_decide(p, peer, port, yes);
}

static void test_whom_it_may_call(void **state)
{
    (void)state;
    own_job = true;
    struct broker *p = broker_open(-1, 7000, &host);
    broker_tick(p, 1000);
    allow(p, "192.0.2.7", true);
    assert_int_equal(judged(p, "192.0.2.7", 40000), EINPROGRESS); /* its daemon is asked first */
    hear(p, "192.0.2.7", 40000, false);
    assert_int_equal(judged(p, "192.0.2.7", 40000), EINPROGRESS);
    hear(p, "192.0.2.7", 40000, true);
    assert_int_equal(judged(p, "192.0.2.7", 40000), 0);
    assert_int_equal(judged(p, "::ffff:192.0.2.7", 40000), 0);
    assert_int_equal(judged(p, "192.0.2.7", 40001), EINPROGRESS);
    hear(p, "192.0.2.8", 40000, true); /* is none of its peers, whatever is said */
    assert_int_equal(judged(p, "192.0.2.7", 22), EACCES);
    assert_int_equal(judged(p, "192.0.2.7", 7000), EACCES); /* of this host alone */
    assert_int_equal(judged(p, "192.0.2.8", 40000), EACCES);
    assert_int_equal(judged(p, "2001:db8::1", 40000), EACCES);
    assert_int_equal(judged(p, "127.0.0.1", 40000), 0);
    assert_int_equal(judged(p, "127.9.9.9", 40000), 0);
    assert_int_equal(judged(p, "0.0.0.0", 40000), 0);
    assert_int_equal(judged(p, "::1", 7000), 0);
    assert_int_equal(judged(p, "127.0.0.1", 7000), 0);
    assert_int_equal(judged(p, "127.0.0.1", 631), EACCES);
    own_job = false; /* nobody listens, or the owner's own mpirun: which of them is not told */
    assert_int_equal(judged(p, "127.0.0.1", 40000), ECONNREFUSED);
    assert_int_equal(judged(p, "::1", 40000), ECONNREFUSED);
    assert_int_equal(judged(p, "0.0.0.0", 40000), ECONNREFUSED);
    assert_int_equal(judged(p, "127.0.0.1", 7000), 0);
    allow(p, "127.0.0.1", true); /* another daemon at this address has a part of the job */
    assert_int_equal(judged(p, "127.0.0.1", 40000), EINPROGRESS);
    hear(p, "127.0.0.1", 40000, true);
    assert_int_equal(judged(p, "127.0.0.1", 40000), 0);
    broker_tick(p, 4000); /* what was said is forgotten */
    assert_int_equal(judged(p, "127.0.0.1", 40000), EINPROGRESS);
    own_job = true;
    allow(p, "192.0.2.8", false);
    assert_int_equal(judged(p, "192.0.2.8", 40000), EINPROGRESS);
    assert_int_equal(judged(p, "192.0.2.7", 40000), EACCES); /* no more */
    struct sockaddr hang_up = {.sa_family = AF_UNSPEC}, path = {.sa_family = AF_UNIX};
    assert_int_equal(broker_judge(p, &hang_up, sizeof hang_up), 0);
    assert_int_equal(broker_judge(p, &path, sizeof path), EACCES);
    assert_int_equal(broker_judge(p, &path, 1), EINVAL);
    struct sockaddr_in cut = v4("127.0.0.1", 40000);
    assert_int_equal(broker_judge(p, (struct sockaddr *)&cut, 7), EACCES);
    free(p); /* there is nothing to close */
}

/* --- by a guest --- */

static int listen_from(uint16_t port, uint16_t *chosen)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    for (;; port++) {
        struct sockaddr_in a = v4("127.0.0.1", port);
        if (bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 4096) == 0)
            break;
    }
    *chosen = port;
    return fd;
}

static int call(const struct sockaddr_in *to)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int met = connect(fd, (const struct sockaddr *)to, sizeof *to) == 0 ? 0 : errno;
    close(fd);
    return met;
}

typedef int act_fn(void);

/* Serves a child that does the act until it ends; `then` comes after its first call. */
static int served(act_fn *act, void (*then)(struct broker *p))
{
    int ends[2], status;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_t child = fork();
    if (child == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || broker_install(ends[1]) != 0)
            _exit(255);
        _exit(act());
    }
    close(ends[1]);
    assert_int_equal(poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 10000), 1);
    struct broker *p = broker_open(broker_receive(ends[0]), 0, &host);
    assert_non_null(p);
    allow(p, "192.0.2.8", false);
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct pollfd on = {.fd = broker_fd(p), .events = POLLIN};
        if (poll(&on, 1, 20) == 1 && (on.revents & POLLIN) != 0) {
            broker_serve(p);
            if (then != NULL)
                then(p);
        }
    }
    broker_close(p);
    close(ends[0]);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int met_by_guest(act_fn *act)
{
    return served(act, NULL);
}

static struct sockaddr_in allowed, forbidden;

/* It is known by now that a peer is at 192.0.2.9, and nobody at .8. */
static void find_another(struct broker *p)
{
    allow(p, "192.0.2.9", true);
}

static void find_it(struct broker *p)
{
    allow(p, "192.0.2.8", true);
    hear(p, "192.0.2.8", 40001, false); /* about another port */
    hear(p, "192.0.2.8", 40000, false);
}

static void find_a_silent_one(struct broker *p)
{
    allow(p, "192.0.2.8", true);
    broker_tick(p, 14000);
    broker_tick(p, 60000);
}

static int call_allowed(void)
{
    return call(&allowed);
}

static int call_forbidden(void)
{
    return call(&forbidden);
}

static int call_stranger(void)
{
    struct sockaddr_in a = v4("198.51.100.1", 40000);
    return call(&a);
}

static int call_unknown(void)
{
    struct sockaddr_in a = v4("192.0.2.8", 40000);
    return call(&a);
}

static int call_nonsense(void)
{
    return connect(777, (struct sockaddr *)&allowed, sizeof allowed) == 0 ? 0 : errno;
}

/* One thread calls, another one changes the address all the while. */
static struct sockaddr_in restless;
static atomic_int over;

static void *change(void *unused)
{
    (void)unused;
    volatile in_port_t *port = &restless.sin_port;
    for (unsigned i = 0; !over; i++)
        *port = i % 2 == 0 ? allowed.sin_port : forbidden.sin_port;
    return NULL;
}

static int call_restless(void)
{
    pthread_t thread;
    bool both[2] = {false};
    restless = allowed;
    if (pthread_create(&thread, NULL, change, NULL) != 0)
        return 255;
    for (int i = 0; i < 200 || (i < 3000 && !(both[0] && both[1])); i++)
        both[call(&restless) == 0] = true;
    over = 1;
    pthread_join(thread, NULL);
    return both[0] && both[1] ? 0 : 1;
}

static void test_guest(void **state)
{
    (void)state;
    uint16_t high, low;
    if (!broker_probe()) {
        puts("this kernel does not ask about calls");
        return;
    }
    int in = listen_from(33000, &high), out = listen_from(21000, &low);
    allowed = v4("127.0.0.1", high);
    forbidden = v4("127.0.0.1", low);
    assert_int_equal(call(&forbidden), 0);
    close(accept(out, NULL, NULL));
    assert_int_equal(met_by_guest(call_allowed), 0);
    assert_int_equal(met_by_guest(call_forbidden), EACCES);
    own_job = false;
    assert_int_equal(met_by_guest(call_allowed), ECONNREFUSED);
    own_job = true;
    assert_int_equal(met_by_guest(call_stranger), EACCES);
    assert_int_equal(served(call_unknown, find_another), EACCES); /* once it is decided */
    questions = 0;
    assert_int_equal(served(call_unknown, find_it), ECONNREFUSED);
    assert_int_equal(questions, 1);
    assert_int_equal(served(call_unknown, find_a_silent_one), ECONNREFUSED);
    assert_int_equal(met_by_guest(call_nonsense), EBADF);
    assert_int_equal(met_by_guest(call_restless), 0);
    assert_true(accept(in, NULL, NULL) >= 0);
    assert_int_equal(accept(out, NULL, NULL), -1); /* not once */
    assert_int_equal(errno, EAGAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whom_it_may_call),
                                       cmocka_unit_test(test_guest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
