/* SPDX-License-Identifier: BSD-3-Clause */
/* listening.c -- looks a port up in the kernel's tables, and its sockets among the files of
 * processes. */
#include "listening.h"
#include "brood.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SOCKETS = 32, TCP_LISTENS = 0x0a };

struct search {
    unsigned long sockets[SOCKETS]; /* inodes; those that were found are taken out */
    size_t count;
    bool too_many;
    struct listening_found *found;
};

static bool is_found(const struct listening_found *found, unsigned long inode)
{
    for (size_t i = 0; i < sizeof found->sockets / sizeof found->sockets[0]; i++)
        if (found->sockets[i] == inode)
            return true;
    return false;
}

static void remember(struct listening_found *found, unsigned long inode)
{
    found->sockets[found->next] = inode;
    found->next = (found->next + 1) % (sizeof found->sockets / sizeof found->sockets[0]);
}

unsigned long listening_in(const char *line, uint16_t port)
{
    unsigned at, state;
    unsigned long inode;
    const int found =
        sscanf(line, " %*d: %*[0-9A-F]:%4X %*[0-9A-F]:%*4X %2X %*X:%*X %*X:%*X %*X %*u %*d %lu",
               &at, &state, &inode);
    return found == 3 && at == port && state == TCP_LISTENS ? inode : 0;
}

/* How many listen there. */
static size_t read_table(struct search *s, const char *path, uint16_t port)
{
    char line[512];
    size_t listen = 0;
    FILE *table = fopen(path, "re");
    while (table != NULL && fgets(line, sizeof line, table) != NULL) {
        const unsigned long inode = listening_in(line, port);
        if (inode == 0)
            continue;
        listen++;
        s->too_many = s->too_many || s->count == SOCKETS;
        if (!s->too_many && !is_found(s->found, inode))
            s->sockets[s->count++] = inode;
    }
    if (table != NULL)
        fclose(table);
    return listen;
}

static void take_out(struct search *s, unsigned long inode)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->sockets[i] == inode) {
            remember(s->found, inode);
            s->sockets[i--] = s->sockets[--s->count];
        }
}

static void look_at(void *ctx, const struct brood_process *p)
{
    struct search *s = ctx;
    char path[64], link[64];
    unsigned long inode;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)p->pid);
    DIR *files = s->count > 0 ? opendir(path) : NULL;
    for (struct dirent *d; files != NULL && (d = readdir(files)) != NULL;) {
        const ssize_t n = readlinkat(dirfd(files), d->d_name, link, sizeof link - 1);
        link[n > 0 ? n : 0] = '\0';
        if (sscanf(link, "socket:[%lu]", &inode) == 1)
            take_out(s, inode);
    }
    if (files != NULL)
        closedir(files);
}

bool listening_below(uint16_t port, const pid_t *roots, size_t count, struct listening_found *found)
{
    struct search s = {.found = found};
    size_t listen = read_table(&s, "/proc/net/tcp", port);
    listen += read_table(&s, "/proc/net/tcp6", port);
    if (listen == 0 || s.too_many)
        return false;
    for (size_t i = 0; i < count && s.count > 0; i++)
        brood_each(roots[i], look_at, &s);
    return s.count == 0;
}
