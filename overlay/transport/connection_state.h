/* SPDX-License-Identifier: BSD-3-Clause */
/* connection_state.h -- what connection.c and connection_tls.c share; nobody else includes it. */
#ifndef P2P_OVERLAY_TRANSPORT_CONNECTION_STATE_H
#define P2P_OVERLAY_TRANSPORT_CONNECTION_STATE_H
#include "connection.h"

enum connection_state { SHAKING, GREETING, OPEN, JOINING };

struct connection {
    struct bufferevent *bev;
    struct connection_calls calls;
    void *ctx;
    const struct identity *identity;
    enum connection_state state;
    bool joinable, joins; /* newcomers are heard; it is one */
    bool dialled, bye_sent, bye_heard, dropped, guilty;
    bool closes; /* once everything is written: it has been answered, or said bye first and heard it
                  */
    bool other_version;
    unsigned version; /* 0: not greeted yet */
    struct addr seen;
    struct identity_card card;
    time_t ends; /* of what that stands in */
    struct msg_hello ours, theirs;
    uint64_t
        since_ms; /* begin of the handshake; then of the last message either way; then of bye */
    char why[CONNECTION_WHY + 1]; /* what the certificate's check said */
};

/* connection_tls.c: the state of a handshake that asks the other side for what it must show. NULL:
 * no memory. */
SSL *connection_tls(struct connection *c);
#endif
