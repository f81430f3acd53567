/* SPDX-License-Identifier: BSD-3-Clause */
/* handshake.h -- TLS between two ends in memory. */
#ifndef P2P_HANDSHAKE_H
#define P2P_HANDSHAKE_H
#include <openssl/ssl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* True when both ends are content. Both are the caller's to free, and what is between them goes
 * with them. */
static inline bool handshake(SSL *client, SSL *server)
{
    BIO *left, *right;
    assert_int_equal(BIO_new_bio_pair(&left, 0, &right, 0), 1);
    SSL_set_bio(client, left, left);
    SSL_set_bio(server, right, right);
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    int c = 0, s = 0;
    for (int turn = 0; turn < 10; turn++) {
        c = SSL_do_handshake(client);
        s = SSL_do_handshake(server);
    }
    return c == 1 && s == 1;
}
#endif
