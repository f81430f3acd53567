/* SPDX-License-Identifier: BSD-3-Clause */
/* session.h -- for programs that talk to a daemon as its like does, or as nobody should: plain
 * sockets and TLS sessions with one target. Each that meets what it cannot go on from ends the
 * program. */
#ifndef P2P_TEST_SESSION_H
#define P2P_TEST_SESSION_H
#include "overlay/wire/message.h"
#include <openssl/ssl.h>

enum { SESSION_PATIENCE_MS = 5000 }; /* for each word of the daemon */

_Noreturn void session_die(const char *what);
bool session_target(const char *where); /* IP:PORT, or the path of a UNIX socket */
int session_dial(void);                 /* -1: errno says why */
int session_dial_or_die(void);

/* Nothing is said yet. keys: a folder with peer.crt and peer.key, or NULL. */
SSL *session_start(const char *keys, int version, int fd);
/* As a member: shaken hands with, and the daemon has said hello. */
SSL *session_enter(const char *keys);
void session_hello(SSL *ssl, const struct addr *listens); /* NULL: nowhere */
void session_put(SSL *ssl, const struct message *m);
/* The next message of the daemon; false: it hung up, or says nothing more. */
bool session_hear(SSL *ssl, struct message *m);
#endif
