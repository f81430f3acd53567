/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_state.h -- what the files of the granting side share: grant.c (messages and time),
 * grant_ask.c (offers), grant_job.c (what runs), grant_owner.c (the owner's view). */
#ifndef P2P_OVERLAY_LEND_GRANT_STATE_H
#define P2P_OVERLAY_LEND_GRANT_STATE_H
#include "grant.h"
#include "launch.h"
#include "overlay/core/lease/lease.h"
#include "overlay/core/lease/lived.h"
#include "overlay/crypto/identity.h"
#include "overlay/node/node.h"
#include "overlay/host/cores.h"

/* What belongs to the lease of the same place in the table. */
struct grant_job {
    struct grant *grant;
    struct part_peer holder;
    bool guest;            /* the holder is another owner's peer */
    bool confined;         /* what runs is in a guest's sandbox */
    bool recalled;         /* and was told so */
    uint64_t surplus_ms;   /* since then it is asked back, as others wait; 0: it is not */
    bool warned;           /* that what runs is about to be ended */
    struct launch *launch; /* NULL: nothing runs */
    pid_t pid;
    int status;
    char cores[CORE_LIST_TEXT + 1]; /* that are its own; "": none are */
    char text[512];                 /* why it ended, when there is more to say than the cause */
};

struct grant {
    struct node *node;
    struct grant_parts parts;
    const struct lender *lender;
    struct launcher *launcher;
    struct event *timer, *look;
    struct lived lived;
    struct lease_table table; /* its times are grant_now()'s */
    struct grant_job jobs[LEASE_MAX];
};

/* grant.c */
uint64_t grant_now(struct grant *g); /* of the time in which this daemon had its turns */
size_t grant_index(const struct grant *g, const struct lease *l);
void grant_send(struct grant *g, const struct part_peer *to, const struct message *m);
/* Brings what runs in line with the table. */
void grant_settle(struct grant *g);
bool grant_is_guest(const struct grant *g, const struct identity_card *card);
void grant_ad(const struct grant *g, struct part_ad *ad); /* as it is now */

void grant_asked(struct grant *g, const struct link_peer *from, const struct msg_lease_ask *ask);
/* Tells the holder how what runs gets on. */
void grant_look(struct grant *g, const struct lease *l);
void grant_launch(struct grant *g, struct lease *l, const struct link_peer *from,
                  const struct msg_lease_launch *m);
#endif
