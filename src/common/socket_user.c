/* SPDX-License-Identifier: BSD-3-Clause */
/* socket_user.c -- asks the kernel by sock_diag: one question for each connection. */
#include "socket_user.h"
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

struct answer {
    struct nlmsghdr head;
    struct inet_diag_msg socket;
    char more[512];
};

/* What the kernel knows of the socket from -> to; false: there is none (any more). */
static bool socket_user_look_up(const struct sockaddr_in *from, const struct sockaddr_in *to,
                                struct answer *answer)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 what;
    } question = {.head = {.nlmsg_len = sizeof question,
                           .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                           .nlmsg_flags = NLM_F_REQUEST},
                  .what = {.sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP}};
    struct inet_diag_sockid *id = &question.what.id;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    id->idiag_sport = from->sin_port;
    id->idiag_dport = to->sin_port;
    id->idiag_src[0] = from->sin_addr.s_addr;
    id->idiag_dst[0] = to->sin_addr.s_addr;
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    bool found = fd >= 0 && send(fd, &question, sizeof question, 0) == sizeof question &&
                 recv(fd, answer, sizeof *answer, 0) >=
                     (ssize_t)(sizeof answer->head + sizeof answer->socket) &&
                 answer->head.nlmsg_type == SOCK_DIAG_BY_FAMILY;
    if (fd >= 0)
        close(fd);
    return found;
}

bool socket_user_is(int connection, uid_t user)
{
    struct sockaddr_in here, there;
    struct answer answer;
    socklen_t a = sizeof here, b = sizeof there;
    if (getsockname(connection, (struct sockaddr *)&here, &a) != 0 ||
        getpeername(connection, (struct sockaddr *)&there, &b) != 0 || here.sin_family != AF_INET ||
        there.sin_family != AF_INET)
        return false;
    /* A socket that nobody has open any more is said to be root's. */
    return socket_user_look_up(&there, &here, &answer) && answer.socket.idiag_inode != 0 &&
           answer.socket.idiag_uid == user;
}

bool socket_user_known(void)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}
