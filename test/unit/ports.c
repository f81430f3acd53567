/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/base/ports.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

/* All that there are, as several processes would: each once, and again when a claim ends. */
static void test_nobody_else_is_given_it(void **state)
{
    (void)state;
    enum { PORTS = PORTS_CONTROL_LAST - PORTS_CONTROL_FIRST + 1, PICKS = 200 };
    static bool taken[PORTS];
    int claims[PICKS];
    for (int i = 0; i < PICKS; i++) {
        uint16_t port = ports_pick(&claims[i]);
        assert_in_range(port, PORTS_CONTROL_FIRST, PORTS_CONTROL_LAST);
        assert_false(taken[port - PORTS_CONTROL_FIRST]);
        taken[port - PORTS_CONTROL_FIRST] = true;
    }
    for (int i = 0; i < PICKS; i++)
        close(claims[i]);
    for (int i = 0; i < PICKS; i++) {
        assert_int_not_equal(ports_pick(&claims[i]), 0);
        close(claims[i]);
    }
}

/* Somebody has taken all the names: there are still ports, and none of those that guests may call.
 */
static void test_names_are_taken(void **state)
{
    (void)state;
    enum { PORTS = PORTS_CONTROL_LAST - PORTS_CONTROL_FIRST + 1 };
    struct rlimit files;
    int claim, count = 0;
    static int taken[PORTS];
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    for (unsigned port = PORTS_CONTROL_FIRST; port <= PORTS_CONTROL_LAST; port++) {
        struct sockaddr_un name = {.sun_family = AF_UNIX};
        int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "p2pgrid-port-%u", port);
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            break; /* this process may not have so many: others have to do */
        if (bind(fd, (const struct sockaddr *)&name,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0)
            taken[count++] = fd;
        else
            close(fd);
    }
    assert_in_range(ports_pick(&claim), PORTS_CONTROL_FIRST, PORTS_CONTROL_LAST);
    if (claim >= 0)
        close(claim);
    while (count > 0)
        close(taken[--count]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nobody_else_is_given_it),
                                       cmocka_unit_test(test_names_are_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
