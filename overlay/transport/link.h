/* SPDX-License-Identifier: BSD-3-Clause */
/* link.h -- TLS links between daemons. A link is made when something is to be sent, carries
 * messages both ways in order, and is closed when idle; users name peers, never links.
 *
 * No callback runs inside link_send(). A message that was taken is delivered, or the peer is
 * reported gone. */
#ifndef P2P_OVERLAY_TRANSPORT_LINK_H
#define P2P_OVERLAY_TRANSPORT_LINK_H
#include "overlay/wire/message.h"
#include "overlay/settings/settings.h"
#include "overlay/crypto/identity.h"
#include "overlay/base/log.h"
#include <event2/event.h>

struct links;

/* The peer at the other end; all fields except the addresses come from its certificate. */
struct link_peer {
    struct part_peer peer;            /* addr: where it says it listens; port 0: nowhere */
    struct addr seen;                 /* the other end of the connection */
    const struct identity_card *card; /* name, owner, groups, end date */
    X509 *certificate;                /* that says so; NULL: of this peer itself */
    unsigned version;                 /* of the protocol, that both sides use */
};

/* from and m are valid until it returns. False: daemons do not send such a message. */
typedef bool links_receive_fn(void *ctx, const struct link_peer *from, const struct message *m);
/* Every link to the peer broke, or none could be made; messages under way may be lost. */
typedef void links_gone_fn(void *ctx, const struct id *peer, const char *why);

/* Listens at settings->listen. */
int links_open(struct links **out, struct event_base *base, const struct settings *settings,
               const struct identity *identity, struct log *log, struct err *e);
void links_close(struct links *l);
/* This peer as others should dial it. */
struct part_peer links_self(const struct links *l);
/* Finds this peer's address again. True: it has changed, and all connections are made anew. */
bool links_moved(struct links *l);

/* 0, or -EHOSTUNREACH (no link, and no address to dial), -ENOBUFS (too much waits already),
 * -EMSGSIZE (a field is out of its bounds). To itself: delivered from the event loop. */
int link_send(struct links *l, const struct part_peer *to, const struct message *m);
/* The same with a frame that is encoded already. */
int link_send_frame(struct links *l, const struct part_peer *to, const uint8_t *frame,
                    size_t length);
/* Bytes taken for this peer and not yet handed to the kernel. */
size_t link_backlog(const struct links *l, const struct id *peer);
/* Bytes of a file that may be sent to it now, so that nothing else is late; while there is no open
 * connection: 0. */
size_t link_room(const struct links *l, const struct id *peer);
/* Is there a connection to it that is open? */
bool link_is_open(const struct links *l, const struct id *peer);
/* Of the protocol, over the open link with it; 0: there is none. */
unsigned link_version(const struct links *l, const struct id *peer);
/* Its name, by the certificate that it has shown; "" while there is no open link with it. */
const char *link_name(const struct links *l, const struct id *peer);
/* Where the peer says that it listens; false: there is no open link with it, or it says nothing. */
bool link_address(const struct links *l, const struct id *peer, struct addr *at);
/* Has the peer's host acknowledged anything in the last so many ms? It does, as long as it is
 * there, whatever its daemon does. */
bool link_heard(const struct links *l, const struct id *peer, unsigned ms);
/* Does the peer's host acknowledge what this daemon sent? Certain two seconds after sending. */
bool link_answers(const struct links *l, const struct id *peer);

/* Gets all messages (dispatch.c). */
void links_on_message(struct links *l, links_receive_fn *receive, void *ctx);
/* Any number of watchers; called in the order they came. */
int links_on_gone(struct links *l, links_gone_fn *gone, void *ctx);
void links_forget_gone(struct links *l, links_gone_fn *gone, void *ctx);

/* A link to or from the peer is greeted. */
typedef void links_up_fn(void *ctx, const struct link_peer *with);
void links_on_up(struct links *l, links_up_fn *up, void *ctx); /* one watcher */
/* To every peer with a link, except one (NULL: none); returns how many. */
unsigned links_spread(struct links *l, const struct message *m, const struct id *but);
/* Breaks every link with the peer now; it is reported gone. */
void links_break(struct links *l, const struct id *peer, const char *why);
/* Makes every link anew, without loss, because this peer's certificate has changed. */
void links_renew(struct links *l);

/* A newcomer, which has an invitation instead of a certificate of the grid. */
struct link_joiner {
    struct addr seen;
    EVP_PKEY *key; /* it holds the private half */
    uint8_t binding[32];
};
/* Fills in the answer. Without such a function newcomers are refused in the handshake. */
typedef void links_join_fn(void *ctx, const struct link_joiner *who, const struct msg_join_ask *ask,
                           struct message *answer);
void links_on_join(struct links *l, links_join_fn *join, void *ctx);
/* Addresses of this peer, the likeliest first; returns how many. */
unsigned links_addresses(const struct links *l, struct addr *out, unsigned max);

/* A line for each desktop that lately had no version of the protocol in common with this one: for
 * an owner who looks for it. */
void links_other_versions(const struct links *l, char *out, size_t size);

/* Makes a link to an address whose peer is not known yet. `met` is called once, perhaps at once:
 * with the peer that answered, or with NULL and the reason. After that it is a link like any other.
 * Repeated calls with the same ctx meanwhile lead to one call of `met`. */
typedef void links_met_fn(void *ctx, const struct addr *at, const struct link_peer *who,
                          const char *why);
int links_meet(struct links *l, const struct addr *at, links_met_fn *met, void *ctx);
void links_forget_met(struct links *l, void *ctx); /* no `met` with this ctx is called any more */

size_t links_backlog(const struct links *l); /* of all peers together */
unsigned links_count(const struct links *l); /* connections, greeted or not */
int links_datagrams(const struct links *l);  /* the UDP socket at the port where links come in */
#endif
