/* SPDX-License-Identifier: BSD-3-Clause */
/* listening.c -- looks up a port in the kernel's tables, and its sockets among the open files of
 * processes. */
#include "listening.h"
#include "proctree.h"
#include "tcp_socket.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE_FIRST = 64 };

static bool is_found(const struct listening_found *found, unsigned long inode)
{
    for (size_t i = 0; i < sizeof found->sockets / sizeof found->sockets[0]; i++)
        if (found->sockets[i] == inode)
            return true;
    return false;
}

static void listening_remember(struct listening_found *found, unsigned long inode)
{
    if (is_found(found, inode))
        return;
    found->sockets[found->next] = inode;
    found->next = (found->next + 1) % (sizeof found->sockets / sizeof found->sockets[0]);
}

static bool listening_add(void *ctx, const struct tcp_socket *s)
{
    struct listening_table *t = ctx;
    if (s->state != TCP_SOCKET_LISTENS || s->inode == 0)
        return true;
    if (t->count == t->size) {
        const size_t more = t->size == 0 ? SIZE_FIRST : 2 * t->size;
        struct listening_socket *at = realloc(t->at, more * sizeof *at);
        if (at == NULL)
            return false;
        t->at = at;
        t->size = more;
    }
    t->at[t->count++] = (struct listening_socket){s->inode, s->here_port};
    return true;
}

void listening_read(struct listening_table *t)
{
    *t = (struct listening_table){.count = 0};
    if (!tcp_socket_each("/proc/net/tcp", listening_add, t) ||
        !tcp_socket_each("/proc/net/tcp6", listening_add, t))
        t->count = 0;
}

struct listening_search {
    const struct listening_table *table;
    struct listening_found *found;
};

static bool is_in(const struct listening_table *t, unsigned long inode)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->at[i].inode == inode)
            return true;
    return false;
}

static void listening_search_process(void *ctx, const struct proctree_process *p)
{
    const struct listening_search *s = ctx;
    char path[64], link[64];
    unsigned long inode;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)p->pid);
    DIR *files = opendir(path);
    for (struct dirent *d; files != NULL && (d = readdir(files)) != NULL;) {
        const ssize_t n = readlinkat(dirfd(files), d->d_name, link, sizeof link - 1);
        link[n > 0 ? n : 0] = '\0';
        if (sscanf(link, "socket:[%lu]", &inode) == 1 && is_in(s->table, inode))
            listening_remember(s->found, inode);
    }
    if (files != NULL)
        closedir(files);
}

void listening_find(struct listening_found *found, const struct listening_table *t,
                    const pid_t *roots, size_t count)
{
    struct listening_search s = {t, found};
    for (size_t i = 0; i < count; i++)
        proctree_each(roots[i], listening_search_process, &s);
}

enum listening_who listening_at(const struct listening_table *t, uint16_t port,
                                const struct listening_found *found)
{
    enum listening_who who = LISTENING_NOBODY;
    for (size_t i = 0; i < t->count && who != LISTENING_OTHERS; i++)
        if (t->at[i].port == port)
            who = is_found(found, t->at[i].inode) ? LISTENING_FOUND : LISTENING_OTHERS;
    return who;
}

static bool is_listed(const uint16_t *ports, size_t count, uint16_t port)
{
    for (size_t i = 0; i < count; i++)
        if (ports[i] == port)
            return true;
    return false;
}

size_t listening_ports(const struct listening_table *t, const struct listening_found *found,
                       uint16_t first, uint16_t *ports, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count && count < most; i++) {
        const uint16_t port = t->at[i].port;
        if (port >= first && is_found(found, t->at[i].inode) && !is_listed(ports, count, port) &&
            listening_at(t, port, found) == LISTENING_FOUND)
            ports[count++] = port;
    }
    return count;
}

bool listening_below(uint16_t port, const pid_t *roots, size_t count, struct listening_found *found)
{
    struct listening_table t;
    listening_read(&t);
    enum listening_who who = listening_at(&t, port, found);
    if (who == LISTENING_OTHERS) {
        listening_find(found, &t, roots, count);
        who = listening_at(&t, port, found);
    }
    free(t.at);
    return who == LISTENING_FOUND;
}
