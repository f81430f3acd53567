/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_socket.c -- a line, and all lines, of a table of sockets. */
#include "tcp_socket.h"
#include <errno.h>
#include <stdio.h>

bool tcp_socket_parse(struct tcp_socket *s, const char *line)
{
    unsigned here_port, there_port, user;
    const int found =
        sscanf(line, " %*d: %32[0-9A-F]:%4X %32[0-9A-F]:%4X %2X %*X:%*X %*X:%*X %*X %u %*d %lu",
               s->here, &here_port, s->there, &there_port, &s->state, &user, &s->inode);
    if (found != 7)
        return false;
    s->here_port = (uint16_t)here_port;
    s->there_port = (uint16_t)there_port;
    s->user = (uid_t)user;
    return true;
}

bool tcp_socket_each(const char *table, tcp_socket_fn *fn, void *ctx)
{
    char line[512];
    struct tcp_socket s;
    FILE *file = fopen(table, "re");
    bool whole = file != NULL || errno == ENOENT;
    while (file != NULL && whole && fgets(line, sizeof line, file) != NULL)
        whole = !tcp_socket_parse(&s, line) || fn(ctx, &s);
    if (file != NULL)
        fclose(file);
    return whole;
}
