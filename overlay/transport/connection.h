/* SPDX-License-Identifier: BSD-3-Clause */
/* connection.h -- one TLS connection to another daemon, from handshake to goodbye; used by link.c
 * alone.
 *
 *     dials or accepts -> handshake -> hello both ways -> frames -> bye both ways -> closed
 *
 * Nothing is parsed before the handshake has proved a member of the grid, except one frame of a
 * newcomer that says in the handshake that it has an invitation, and only while an invitation is
 * pending:
 *
 *     accepts -> handshake -> join_ask -> join_answer -> closed */
#ifndef P2P_OVERLAY_TRANSPORT_CONNECTION_H
#define P2P_OVERLAY_TRANSPORT_CONNECTION_H
#include "overlay/wire/message.h"
#include "overlay/crypto/identity.h"
#include <event2/event.h>

enum {
    CONNECTION_WHY = 255,
    CONNECTION_BINDING = 32,
    CONNECTION_GREET_MS = 20000, /* for connecting, handshake and hello together */
    CONNECTION_IDLE_MS = 60000,  /* without a message: bye */
    CONNECTION_BYE_MS = 10000,   /* for the other side's bye */
    CONNECTION_LOST_MS = 10000,  /* sent and never acknowledged: the kernel gives up */
};

/* How `why` begins when the other side's check was the end. */
#define CONNECTION_REFUSED "it refused this peer's certificate"
/* Asked for by newcomers with ALPN. */
#define CONNECTION_JOIN "p2pgrid-join"
/* Both ends of a TLS session derive the same secret with this label, and no third party can. */
#define CONNECTION_EXPORTER "EXPORTER-p2pgrid-join"

struct connection;

/* Called from the event loop only. */
struct connection_calls {
    void (*ready)(void *ctx, struct connection *c); /* its card and listening address are known */
    void (*frame)(void *ctx, struct connection *c, const uint8_t *frame, size_t length);
    /* A newcomer without a certificate of the grid asks for one; answered by connection_answer().
     */
    void (*join)(void *ctx, struct connection *c, const struct msg_join_ask *ask);
    /* It has ended, and is freed on return. clean: after bye both ways, so that nothing was lost.
     */
    void (*gone)(void *ctx, struct connection *c, bool clean, const char *why);
};

struct connection_setup {
    struct event_base *base;
    const struct identity *identity;
    const struct msg_hello *hello; /* this side's; copied */
    bool joinable;                 /* newcomers may ask to join */
    const struct connection_calls *calls;
    void *ctx;
};

/* NULL: errno says why. An accepted fd is closed in any case. */
struct connection *connection_dial(const struct connection_setup *setup, const struct addr *to);
struct connection *connection_accept(const struct connection_setup *setup, int fd,
                                     const struct addr *from);
void connection_free(struct connection *c); /* at once, without a call */
/* Ends it at the next turn of the event loop, with `why`. */
void connection_drop(struct connection *c, const char *why);

void connection_accuse(struct connection *c, const char *why); /* the same: it broke the rules */
bool connection_is_guilty(const struct connection *c);

bool connection_is_open(const struct connection *c);    /* greeted, and neither side has said bye */
bool connection_is_ending(const struct connection *c);  /* greeted, and bye is on its way */
bool connection_is_dialled(const struct connection *c); /* by this side */
const struct addr *connection_seen(const struct connection *c); /* the other end */
/* From here on: of a greeted connection. */
const struct identity_card *connection_card(const struct connection *c);
const struct msg_hello *connection_hello(const struct connection *c); /* the other side's */
unsigned connection_version(const struct connection *c); /* that both sides use: version.h */
/* The other side has said hello, and there is no version that both speak; `why` says so whole. */
bool connection_is_other_version(const struct connection *c);

/* Of a newcomer: the key it has shown to hold, and what binds its proof to this session. */
EVP_PKEY *connection_key(const struct connection *c);
X509 *connection_certificate(const struct connection *c); /* until the connection ends */
bool connection_binding(const struct connection *c, uint8_t out[CONNECTION_BINDING]);
void connection_answer(struct connection *c, const uint8_t *frame, size_t length); /* and closes */
/* Ends it without losing anything: what is sent later goes over a new one. */
void connection_say_bye(struct connection *c);

/* Whole frames, of this daemon's highest version; what the link's version does not have is left
 * out. */
void connection_send(struct connection *c, const uint8_t *frames, size_t length);
size_t connection_backlog(const struct connection *c); /* bytes not yet handed to the kernel */
size_t connection_room(const struct connection *c);    /* for a file: see pace.h */
/* Has the other host acknowledged anything in the last so many ms? Its kernel does that. */
bool connection_heard(const struct connection *c, unsigned ms);
/* The kernel did not have to retransmit repeatedly: this notices a lost host later, but is not
 * misled when this daemon itself is late. */
bool connection_answers(const struct connection *c);
/* Time passes: ends what took too long or was idle for too long. May call gone. */
void connection_tick(struct connection *c, uint64_t now_ms);
#endif
