/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c -- a TLS session with a daemon, frame by frame. */
#include "session.h"
#include "overlay/base/addr.h"
#include "overlay/transport/connection.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

static struct addr target;
static const char *local; /* the path of a UNIX socket instead */

void session_die(const char *what)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(1);
}

bool session_target(const char *where)
{
    local = where[0] == '/' ? where : NULL;
    return local != NULL || addr_parse(&target, where, 7117, NULL) == 0;
}

int session_dial(void)
{
    struct sockaddr_storage s = {0};
    socklen_t length = sizeof(struct sockaddr_un);
    if (local == NULL)
        length = addr_to_sock(&target, &s);
    else
        memcpy(&s, &(struct sockaddr_un){.sun_family = AF_UNIX}, sizeof(struct sockaddr_un));
    if (local != NULL)
        snprintf(((struct sockaddr_un *)&s)->sun_path, 108, "%s", local);
    int fd = socket(s.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval patience = {.tv_sec = SESSION_PATIENCE_MS / 1000};
    if (fd < 0 || connect(fd, (struct sockaddr *)&s, length) < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

int session_dial_or_die(void)
{
    int fd = session_dial();
    if (fd < 0)
        session_die(strerror(errno));
    return fd;
}

static void use_keys(SSL_CTX *tls, const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/peer.crt", folder);
    if (SSL_CTX_use_certificate_file(tls, path, SSL_FILETYPE_PEM) != 1)
        session_die(path);
    snprintf(path, sizeof path, "%s/peer.key", folder);
    if (SSL_CTX_use_PrivateKey_file(tls, path, SSL_FILETYPE_PEM) != 1)
        session_die(path);
}

SSL *session_start(const char *keys, int version, int fd)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(tls, version);
    if (keys != NULL)
        use_keys(tls, keys);
    SSL *ssl = SSL_new(tls);
    SSL_CTX_free(tls);
    SSL_set_fd(ssl, fd);
    return ssl;
}

void session_put(SSL *ssl, const struct message *m)
{
    static uint8_t frame[WIRE_MAX_FRAME];
    SSL_write(ssl, frame, (int)message_encode(m, frame, sizeof frame));
}

void session_hello(SSL *ssl, const struct addr *listens)
{
    struct message m = {.kind = MSG_hello};
    m.hello.lowest = WIRE_LOWEST;
    m.hello.highest = WIRE_HIGHEST;
    m.hello.born = (uint64_t)time(NULL) * 1000000;
    if (listens != NULL)
        m.hello.listen = *listens;
    strcpy(m.hello.name, "intruder");
    session_put(ssl, &m);
}

bool session_hear(SSL *ssl, struct message *m)
{
    static uint8_t frame[WIRE_MAX_FRAME];
    static struct message_whole said;
    size_t have = 0;
    for (;;) {
        long length = message_frame_length(frame, have);
        size_t wanted = length > 0 ? (size_t)length : 4;
        if (length > 0 && have == wanted) {
            const bool good = message_decode_whole(&said, frame, have, WIRE_HIGHEST);
            *m = said.message;
            return good;
        }
        int n = SSL_read(ssl, frame + have, (int)(wanted - have));
        if (n <= 0)
            return false;
        have += (size_t)n;
    }
}

SSL *session_enter(const char *keys)
{
    struct message *m = malloc(sizeof *m);
    SSL *ssl = session_start(keys, TLS1_3_VERSION, session_dial_or_die());
    if (SSL_connect(ssl) != 1 || !session_hear(ssl, m) || m->kind != MSG_hello)
        session_die("a member is not let in");
    free(m);
    return ssl;
}
