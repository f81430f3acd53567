/* SPDX-License-Identifier: BSD-3-Clause */
/* presence.c -- asks logind, by loginctl, whether the desktop's session is idle. */
#include "presence.h"
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct presence {
    struct event_base *base;
    struct event *heard; /* NULL: no question is open */
    pid_t asked;
    int fd;
    uint64_t asked_ms;
    bool known, idle;
    char words[64];
    size_t have;
};

extern char **environ;

int presence_open(struct presence **out, struct event_base *base)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return -ENOMEM;
    (*out)->base = base;
    return 0;
}

static void presence_end(struct presence *p)
{
    event_free(p->heard);
    p->heard = NULL;
    close(p->fd);
    kill(p->asked, SIGKILL); /* it has answered, or is late */
    waitpid(p->asked, NULL, 0);
}

void presence_close(struct presence *p)
{
    if (p == NULL)
        return;
    if (p->heard != NULL)
        presence_end(p);
    free(p);
}

static void presence_hear(evutil_socket_t fd, short what, void *ctx)
{
    struct presence *p = ctx;
    (void)what;
    ssize_t n = read(fd, p->words + p->have, sizeof p->words - 1 - p->have);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    p->have += n > 0 ? (size_t)n : 0;
    if (n > 0 && p->have < sizeof p->words - 1)
        return;
    p->words[p->have] = '\0';
    p->idle = strcmp(p->words, "yes\n") == 0;
    p->known = p->idle || strcmp(p->words, "no\n") == 0;
    presence_end(p);
}

static void presence_ask(struct presence *p)
{
    char user[16];
    int ends[2];
    posix_spawn_file_actions_t files;
    char *const argv[] = {"loginctl", "show-user", user, "--property=IdleHint", "--value", NULL};
    snprintf(user, sizeof user, "%u", (unsigned)getuid());
    p->have = 0;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    int rc = posix_spawnp(&p->asked, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    p->fd = ends[0];
    p->heard = rc == 0 ? event_new(p->base, ends[0], EV_READ | EV_PERSIST, presence_hear, p) : NULL;
    if (p->heard != NULL) {
        event_add(p->heard, NULL);
        return;
    }
    close(ends[0]);
    p->known = false;
    if (rc == 0) {
        kill(p->asked, SIGKILL);
        waitpid(p->asked, NULL, 0);
    }
}

void presence_look(struct presence *p, uint64_t now_ms)
{
    if (p->asked_ms != 0 && now_ms - p->asked_ms < PRESENCE_ASK_MS)
        return;
    p->asked_ms = now_ms;
    if (p->heard != NULL) {
        presence_end(p); /* no answer since the last time */
        p->known = false;
    }
    presence_ask(p);
}

bool presence_known(const struct presence *p, bool *idle)
{
    *idle = p->idle;
    return p->known;
}
