/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_state.h -- what the files of the lending side share: grant.c (messages and time),
 * grant_job.c (what runs), grant_owner.c (the owner's view). What is decided is in
 * overlay/core/lease/lend.h. */
#ifndef P2P_OVERLAY_LEND_GRANT_STATE_H
#define P2P_OVERLAY_LEND_GRANT_STATE_H
#include "grant.h"
#include "launch.h"
#include "results.h"
#include "overlay/core/lease/lend.h"
#include "overlay/core/lease/lived.h"
#include "overlay/crypto/identity.h"
#include "overlay/host/cores.h"
#include "overlay/node/node.h"

/* What runs under the lease of the same row in the table. */
struct grant_job {
    struct grant *grant;
    bool confined;         /* what runs is in a guest's sandbox */
    struct launch *launch; /* NULL: nothing runs */
    pid_t pid;
    struct manifest *manifest;      /* what is to run, or runs */
    struct fetching *fetching;      /* its files are on their way; nothing runs yet */
    struct event *stopped;          /* they were, and are not any more */
    struct tree *tree;              /* its files; NULL: it brought none */
    uint64_t began_ms;              /* since 1970; 0: nothing has run */
    char from[64];                  /* the holder's desktop */
    char program[256];              /* what the job says that it runs */
    char cores[CORE_LIST_TEXT + 1]; /* that are its own; "": none are */
};

struct grant {
    struct node *node;
    struct grant_parts parts;
    const struct lender *lender;
    struct launcher *launcher;
    struct results *results;
    struct event *timer;
    struct lived lived;
    uint64_t launched; /* leases in which something ran */
    struct lend lend;  /* its times are grant_now()'s */
    struct lend_out out;
    struct grant_job jobs[LEASE_MAX];
};

/* grant.c */
uint64_t grant_now(struct grant *g); /* of the time in which this daemon had its turns */
void grant_send(struct grant *g, const struct part_peer *to, const struct message *m);
/* What happened, and what follows from it. */
void grant_step(struct grant *g, const struct lend_event *event);
bool grant_is_guest(const struct grant *g, const struct identity_card *card);
void grant_ad(const struct grant *g, struct part_ad *ad); /* as it is now */

/* grant_job.c */
size_t grant_row(const struct grant_job *job);
/* The lease's holder has its results, or does without. */
void grant_forget_results(void *grant, const struct id *lease);
/* Tells the holder how what runs gets on. */
void grant_look(struct grant *g, size_t row);
/* Into the history, if anything ran. */
void grant_note_end(struct grant *g, size_t row, const struct lend_action *a);
/* 0, or *e says why it is not started. */
int grant_launch(struct grant *g, size_t row, const struct link_peer *from,
                 const struct msg_lease_launch *m, struct err *e);
/* Once its files are here. */
int grant_start(struct grant *g, size_t row, struct err *e);

/* grant_files.c */
int grant_fetch(struct grant *g, size_t row, const struct link_peer *from, struct err *e);
void grant_stop_fetching(struct grant *g, size_t row);
/* The row is free: nothing of what ran in it is kept. */
void grant_forget_job(struct grant *g, size_t row);
#endif
