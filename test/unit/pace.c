/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of a file may be in flight: what the link carries in its round trip and 25 ms. */
#include "overlay/transport/pace.h"
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static void test_most(void **state)
{
    (void)state;
    assert_int_equal(pace_most(0, 0), PACE_LEAST);
    assert_int_equal(pace_most(12500000, 200), 12500000 / 10000 * 252 + 16384);
    assert_int_equal(pace_most(1000, 3000000), PACE_LEAST);
    assert_true(pace_most(UINT64_MAX, UINT32_MAX) > 1000000000);
    /* On a link of 1 MB a second with a round trip of a second: nearly all that it carries. */
    assert_true(pace_most(1000000, 1000000) > 1000000);
}

/* What a connection begins with lets it find out the rest: each round trip brings more. */
static void test_begin(void **state)
{
    size_t most = pace_most(0, 100000);
    (void)state;
    for (int i = 0; i < 40 && most < 10000000; i++)
        most = pace_most((uint64_t)most * 10, 100000); /* a tenth of a second, no queue */
    assert_true(most >= 10000000);
}

static void test_socket(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    (void)state;
    const int listens = socket(AF_INET, SOCK_STREAM, 0), calls = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listens, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(listens, 1), 0);
    assert_int_equal(getsockname(listens, (struct sockaddr *)&at, &size), 0);
    assert_int_equal(connect(calls, (struct sockaddr *)&at, size), 0);
    assert_true(pace_room(calls) >= PACE_LEAST);
    assert_int_equal(pace_room(-1), 0);
    close(calls);
    close(listens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most),
        cmocka_unit_test(test_begin),
        cmocka_unit_test(test_socket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
