/* SPDX-License-Identifier: BSD-3-Clause */
/* local_socket.c -- the daemon's UNIX socket, made again when its file was removed. */
#include "local_socket.h"
#include "overlay/node/node.h"
#include "overlay/client/socket_path.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOOK_S = 5, BACKLOG = 64 };

struct local_socket {
    struct node *node;
    struct local_socket_owner owner;
    struct evconnlistener *listener;
    struct event *look;
    bool told; /* it was logged that it cannot listen */
    char path[PLACE_MAX + 1];
    dev_t device;
    ino_t file;
};

static int local_socket_make_folder(const char *path, struct err *e)
{
    char folder[PLACE_MAX + 1];
    struct stat s;
    strcpy(folder, path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder)
        return err_set(e, EINVAL, "%s: the local socket needs a folder of its own", path);
    *slash = '\0';
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return err_set(e, errno, "cannot make %s: %s", folder, strerror(errno));
    if (lstat(folder, &s) != 0 || !S_ISDIR(s.st_mode) || s.st_uid != geteuid() ||
        (s.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return err_set(e, EPERM,
                       "%s must be a folder that is yours and that others cannot write to", folder);
    return 0;
}

static int make_way(const struct sockaddr_un *at, struct err *e)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool lives = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) == 0;
    if (fd >= 0)
        close(fd);
    if (lives)
        return err_set(e, EADDRINUSE, "another p2pd runs already and answers at %s", at->sun_path);
    unlink(at->sun_path);
    return 0;
}

static int listen_at(void *ctx, const char *path, struct err *e)
{
    struct local_socket *s = ctx;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct stat st;
    strcpy(at.sun_path, path);
    int rc = local_socket_make_folder(path, e);
    if (rc == 0)
        rc = make_way(&at, e);
    if (rc != 0)
        return rc;
    s->listener = evconnlistener_new_bind(s->node->base, s->owner.accepted, s->owner.ctx,
                                          LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, BACKLOG,
                                          (struct sockaddr *)&at, sizeof at);
    if (s->listener == NULL)
        return err_set(e, errno, "cannot listen at %s: %s", path, strerror(errno));
    chmod(path, 0600);
    strcpy(s->path, path);
    if (lstat(path, &st) == 0) {
        s->device = st.st_dev;
        s->file = st.st_ino;
    }
    return 0;
}

static int listen_somewhere(struct local_socket *s, struct err *e)
{
    const char *path = s->node->settings.socket;
    return path[0] != '\0' ? listen_at(s, path, e) : place_try(listen_at, s, e);
}

static bool is_there(const struct local_socket *s)
{
    struct stat st;
    return s->listener != NULL && lstat(s->path, &st) == 0 && st.st_dev == s->device &&
           st.st_ino == s->file;
}

static void local_socket_on_look(evutil_socket_t fd, short what, void *ctx)
{
    struct local_socket *s = ctx;
    struct err e = {0};
    (void)fd, (void)what;
    if (is_there(s))
        return;
    if (s->listener != NULL)
        evconnlistener_free(s->listener);
    s->listener = NULL;
    if (listen_somewhere(s, &e) != 0) {
        if (!s->told)
            log_warn(s->node->log, "%s was removed, and there is no other place: %s", s->path,
                     e.text);
        s->told = true;
        return;
    }
    s->told = false;
    log_info(s->node->log, "its socket was removed; programs find it at %s now", s->path);
    s->owner.moved(s->owner.ctx);
}

int local_socket_open(struct local_socket **out, struct node *node,
                      const struct local_socket_owner *owner, struct err *e)
{
    struct local_socket *s = calloc(1, sizeof *s);
    *out = NULL;
    if (s == NULL)
        return err_set(e, ENOMEM, "out of memory");
    s->node = node;
    s->owner = *owner;
    s->look = event_new(node->base, -1, EV_PERSIST, local_socket_on_look, s);
    int rc = s->look != NULL ? listen_somewhere(s, e) : err_set(e, ENOMEM, "out of memory");
    if (rc == 0 && event_add(s->look, &(struct timeval){.tv_sec = LOOK_S}) != 0)
        rc = err_set(e, ENOMEM, "out of memory");
    if (rc == 0)
        *out = s;
    else
        local_socket_close(s);
    return rc;
}

void local_socket_close(struct local_socket *s)
{
    if (s == NULL)
        return;
    if (is_there(s))
        unlink(s->path);
    if (s->listener != NULL)
        evconnlistener_free(s->listener);
    if (s->look != NULL)
        event_free(s->look);
    free(s);
}

const char *local_socket_path(const struct local_socket *s)
{
    return s->path;
}
