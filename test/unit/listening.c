/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/host/listening.h"
#include "overlay/host/tcp_socket.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void test_lines(void **state)
{
    (void)state;
    static const char listens[] = "   1: 0100007F:A1B2 00000000:0000 0A 00000000:00000000 "
                                  "00:00000000 00000000  1000        0 4711 1 0000000000000000",
                      talks[] = "   2: 0100007F:A1B2 0100007F:0016 01 00000000:00000000 "
                                "00:00000000 00000000  1000        0 4712 1 0000000000000000",
                      six[] = "   0: 00000000000000000000000001000000:A1B2 "
                              "00000000000000000000000000000000:0000 0A 00000000:00000000 "
                              "00:00000000 00000000     0        0 4713 1 0000000000000000";
    struct tcp_socket s;
    assert_true(tcp_socket_parse(&s, listens));
    assert_int_equal(s.inode, 4711);
    assert_int_equal(s.here_port, 0xa1b2);
    assert_int_equal(s.state, TCP_SOCKET_LISTENS);
    assert_true(tcp_socket_parse(&s, six));
    assert_int_equal(s.inode, 4713);
    assert_int_equal(s.here_port, 0xa1b2);
    assert_int_equal(s.state, TCP_SOCKET_LISTENS);
    assert_true(tcp_socket_parse(&s, talks));
    assert_int_not_equal(s.state, TCP_SOCKET_LISTENS);
    assert_int_equal(s.there_port, 0x16);
    assert_int_equal(s.user, 1000);
    assert_false(tcp_socket_parse(&s, "  sl  local_address rem_address   st"));
    assert_false(tcp_socket_parse(&s, ""));
}

static int listen_at(int family, uint16_t *port)
{
    struct sockaddr_in six_or_four = {.sin_family = (sa_family_t)family, .sin_port = htons(*port)};
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(*port)};
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    socklen_t size = sizeof any;
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    const struct sockaddr *at =
        family == AF_INET ? (struct sockaddr *)&six_or_four : (struct sockaddr *)&any;
    if (bind(fd, at, family == AF_INET ? sizeof six_or_four : sizeof any) != 0 ||
        listen(fd, 1) != 0)
        return -1;
    getsockname(fd, (struct sockaddr *)&any, &size);
    *port = ntohs(any.sin6_port); /* at the same place in both */
    return fd;
}

/* A child, whose child listens. */
static pid_t listen_below_child(uint16_t *port)
{
    int said[2];
    assert_int_equal(pipe(said), 0);
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (listen_at(AF_INET, port) < 0 || write(said[1], port, sizeof *port) != sizeof *port)
                _exit(1);
            pause();
        }
        wait(NULL);
        _exit(0);
    }
    assert_int_equal(read(said[0], port, sizeof *port), sizeof *port);
    close(said[0]);
    close(said[1]);
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_whose(void **state)
{
    (void)state;
    struct listening_found found = {.next = 0};
    uint16_t port = 0;
    pid_t other = fork();
    if (other == 0) {
        pause();
        _exit(0);
    }
    pid_t child = listen_below_child(&port);
    assert_false(listening_below(port, &other, 1, &found));
    assert_true(listening_below(port, (const pid_t[]){other, child}, 2, &found));
    assert_true(listening_below(port, &other, 1, &found)); /* it was found once */
    found = (struct listening_found){.next = 0};
    uint16_t ports[4];
    struct listening_table table;
    listening_read(&table);
    assert_int_equal(listening_ports(&table, &found, 1, ports, 4), 0);
    listening_find(&found, &table, &child, 1);
    assert_int_equal(listening_ports(&table, &found, 1, ports, 4), 1);
    assert_int_equal(ports[0], port);
    assert_int_equal(listening_ports(&table, &found, (uint16_t)(port + 1), ports, 4), 0);
    free(table.at);
    found = (struct listening_found){.next = 0};
    assert_false(listening_below(1, &child, 1, &found)); /* nobody */
    int mine = listen_at(AF_INET6, &port); /* the kernel might give the call to this one */
    if (mine >= 0) {
        assert_false(listening_below(port, &child, 1, &found));
        close(mine);
        assert_true(listening_below(port, &child, 1, &found));
    }
    end(child);
    end(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_whose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
