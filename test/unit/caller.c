/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/host/caller.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static const char line[] = "   3: 0100007F:A0F6 0100007F:7918 01 00000000:00000000 00:00000000 "
                           "00000000  1000        0 81234 1 0000000000000000 20 4 30 10 -1";

static bool is_in(const char *text, uint16_t from, uint16_t to, uid_t user)
{
    struct tcp_socket s;
    return tcp_socket_parse(&s, text) && caller_is(&s, from, to, user);
}

static void test_a_line(void **state)
{
    (void)state;
    assert_true(is_in(line, 0xa0f6, 0x7918, 1000));
    assert_false(is_in(line, 0xa0f6, 0x7918, 0));
    assert_false(is_in(line, 0x7918, 0xa0f6, 1000));
    assert_false(is_in(line, 0xa0f6, 0x7919, 1000));
    assert_false(is_in("", 0xa0f6, 0x7918, 1000));
    assert_false(is_in("  sl  local_address rem_address   st tx_queue", 0, 0, 0));
}

static void test_nobody_has_it_open(void **state)
{
    (void)state;
    assert_false(is_in("   3: 0100007F:A0F6 0100007F:7918 05 00000000:00000000 00:00000000 "
                       "00000000     0        0 0 1 0000000000000000",
                       0xa0f6, 0x7918, 0));
}

static void test_not_on_loopback(void **state)
{
    (void)state;
    assert_false(is_in("   3: 0200007F:A0F6 0100007F:7918 01 00000000:00000000 00:00000000 "
                       "00000000  1000        0 81234 1 0000000000000000",
                       0xa0f6, 0x7918, 1000));
}

static void test_a_connection(void **state)
{
    (void)state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int door = socket(AF_INET, SOCK_STREAM, 0), caller = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(door, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(door, 1), 0);
    assert_int_equal(getsockname(door, (struct sockaddr *)&at, &size), 0);
    assert_int_equal(connect(caller, (struct sockaddr *)&at, size), 0);
    int let_in = accept(door, NULL, NULL);
    assert_true(caller_is_own(let_in));
    close(caller);
    assert_false(caller_is_own(let_in)); /* what is closed is nobody's */
    close(let_in);
    close(door);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line),
        cmocka_unit_test(test_nobody_has_it_open),
        cmocka_unit_test(test_not_on_loopback),
        cmocka_unit_test(test_a_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
