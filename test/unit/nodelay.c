/* SPDX-License-Identifier: BSD-3-Clause */
/* nodelay.c -- of all sockets only libpmix's is touched. */
#include "src/common/nodelay.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static int has_nodelay(int fd)
{
    int on = -1;
    socklen_t size = sizeof on;
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
    return on != 0;
}

struct pair {
    int door, client, server;
    unsigned port;
};

static struct pair pair_open(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof a;
    struct pair p = {socket(AF_INET, SOCK_STREAM, 0), socket(AF_INET, SOCK_STREAM, 0), -1, 0};
    assert_int_equal(bind(p.door, (struct sockaddr *)&a, size), 0);
    assert_int_equal(listen(p.door, 1), 0);
    assert_int_equal(getsockname(p.door, (struct sockaddr *)&a, &size), 0);
    assert_int_equal(connect(p.client, (struct sockaddr *)&a, size), 0);
    p.server = accept(p.door, NULL, NULL);
    p.port = ntohs(a.sin_port);
    return p;
}

static void pair_close(const struct pair *p)
{
    close(p->door);
    close(p->client);
    close(p->server);
}

static void test_to_one_server(void **state)
{
    (void)state;
    const struct pair ours = pair_open(), other = pair_open();
    char uri[100];
    snprintf(uri, sizeof uri, "1287389184.1;tcp4://127.0.0.1:%u", ours.port);
    assert_int_equal(nodelay_to(uri), 1);
    assert_true(has_nodelay(ours.client));
    assert_false(has_nodelay(ours.server) || has_nodelay(other.client) ||
                 has_nodelay(other.server));
    pair_close(&ours);
    pair_close(&other);
}

static void test_no_such_server(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "a;tcp4://",
                                        "a;tcp4://:1",
                                        "a;tcp4://127.0.0.1",
                                        "a;tcp4://127.0.0.1:",
                                        "a;tcp4://127.0.0.1:0",
                                        "a;tcp4://127.0.0.1:99999",
                                        "a;tcp4://127.0.0.1:1x",
                                        "a;tcp4://a host with a name that is long:1",
                                        "a;tcp6://[::1]:1"};
    const struct pair p = pair_open();
    char other_host[100];
    snprintf(other_host, sizeof other_host, "a;tcp4://127.0.0.2:%u", p.port);
    assert_int_equal(nodelay_to(NULL), 0);
    assert_int_equal(nodelay_to(other_host), 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(nodelay_to(texts[i]), 0);
    assert_false(has_nodelay(p.client));
    pair_close(&p);
}

static void test_all(void **state)
{
    (void)state;
    int local[2];
    const struct pair p = pair_open();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, local), 0);
    assert_int_equal(nodelay_all(), 2);
    assert_true(has_nodelay(p.client) && has_nodelay(p.server));
    pair_close(&p);
    close(local[0]);
    close(local[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_one_server),
        cmocka_unit_test(test_no_such_server),
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
