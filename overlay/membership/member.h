/* SPDX-License-Identifier: BSD-3-Clause */
/* member.h -- this peer as a member of its grid: puts the list of revoked peers into effect and
 * passes it on, and has its own certificate renewed in time. */
#ifndef P2P_OVERLAY_MEMBERSHIP_MEMBER_H
#define P2P_OVERLAY_MEMBERSHIP_MEMBER_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include <time.h>

struct node;
struct member;
struct link_peer;
struct rotation;

/* Both are called from the event loop, the first also inside member_open(). */
struct member_watcher {
    void (*revoked)(void *ctx, const struct id *peer);    /* its links are broken already */
    void (*met)(void *ctx, const struct link_peer *with); /* a link to or from it is greeted */
    void *ctx;
};

/* A peer that was revoked itself is refused. */
int member_open(struct member **out, struct node *node, const struct member_watcher *watcher,
                struct err *e);
void member_close(struct member *m);
void member_hear(struct member *m, const struct link_peer *from, const struct message *said);
const struct msg_revocations *member_list(const struct member *m); /* serial 0: none */
/* If it is newer and signed by the authority: stores it, ends what revoked peers have here, passes
 * it on to every link except `from` (NULL: none). */
int member_take(struct member *m, const struct msg_revocations *list, const struct id *from,
                struct err *e);
/* The authority has another key: if that fits what this peer knows, stores it and passes it on;
 * every link is made anew. */
int member_rotate(struct member *m, const struct rotation *r, const struct id *from, struct err *e);
#endif
