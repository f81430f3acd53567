/* SPDX-License-Identifier: BSD-3-Clause */
/* listeners.c -- sockets that listen everywhere are kept on loopback; others are left alone. */
#include "src/common/listeners.h"
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static int listen_at(uint32_t ip)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(ip)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

static const char *device(int fd)
{
    static char name[32];
    socklen_t size = sizeof name;
    memset(name, 0, sizeof name);
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &size), 0);
    return name;
}

static void test_wild_ones_come_home(void **state)
{
    (void)state;
    int wild = listen_at(INADDR_ANY), narrow = listen_at(INADDR_LOOPBACK);
    int idle = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a;
    socklen_t length = sizeof a;
    if (listeners_keep_home() > 0)
        skip(); /* an older kernel */
    assert_string_equal(device(wild), "lo");
    assert_string_equal(device(narrow), "");
    assert_string_equal(device(idle), "");
    assert_int_equal(getsockname(wild, (struct sockaddr *)&a, &length), 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(client, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listeners_keep_home(), 0); /* again: no harm */
    close(wild);
    close(narrow);
    close(idle);
    close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wild_ones_come_home)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
