/* SPDX-License-Identifier: BSD-3-Clause */
/* fetcher_state.h -- shared by fetcher.c (messages), fetching.c (getting), offer.c (who gives what
 * to whom) and giver.c (giving) only. */
#ifndef P2P_OVERLAY_FILES_FETCHER_STATE_H
#define P2P_OVERLAY_FILES_FETCHER_STATE_H
#include "fetcher.h"
#include "overlay/core/files/fetch.h"
#include "overlay/core/files/swarm.h"
#include "overlay/base/err.h"
#include <event2/event.h>

#define FETCHER_LIST UINT32_MAX /* as an object: the list itself */

/* Files of a folder that others may fetch. */
struct offer {
    struct offer *next;
    struct hash hash;
    struct list *list;
    uint8_t *bytes; /* the list's */
    size_t length;
    int folder;
    unsigned users;
    struct swarm *swarm;
    unsigned most; /* peers in it */
    uint64_t given;
};

/* Something that a peer has asked for. */
struct gift {
    struct gift *next;
    struct part_peer to;
    struct hash list, hash; /* the object's, once it is read */
    uint32_t object;
    uint8_t *bytes; /* NULL: not read yet */
    size_t length, at;
    bool packs;      /* it may go packed */
    uint32_t packed; /* its length, if it does; else 0 */
};

struct fetcher {
    struct node *node;
    struct store *store;
    struct offer *offers;
    struct gift *gifts;
    struct packed *packed;
    struct event *pump; /* also when nothing was asked for long */
    bool pumping;
    size_t read; /* bytes, in this turn of the event loop */
    struct fetching *all;
    uint64_t fetched, given; /* bytes as they travelled, since the daemon began */
};

/* giver.c */
void giver_ask(struct fetcher *f, const struct link_peer *from, const struct msg_files_ask *ask);
void giver_pump(struct fetcher *f);
void giver_forget(struct fetcher *f, const struct id *peer);

/* offer.c */
struct offer *offer_find(struct fetcher *f, const struct hash *list);
/* An object of its folder, checked; its size, or -errno and why. */
int offer_read(const struct offer *o, size_t object, uint8_t *out, struct err *e);
void offer_join(struct fetcher *f, const struct link_peer *from, const struct msg_files_join *m);
void offer_got(struct fetcher *f, const struct id *from, const struct msg_files_got *m);
void offer_failed(struct fetcher *f, const struct link_peer *from,
                  const struct msg_files_failed *m);
void offer_rests(struct fetcher *f, const struct id *from, const struct hash *list);
void offer_gone(struct fetcher *f, const struct id *peer);
void offers_free(struct fetcher *f);
/* The file that an object is in, and its hash, as news say it: "data/in.dat (0123456789ab)". */
enum { OFFER_OBJECT = LIST_PATH + 64 };
void offer_object_text(const struct list *l, size_t object, char out[OFFER_OBJECT]);
void offers_tell(const struct fetcher *f, uint32_t token, fetcher_row_fn *row, void *ctx);

/* fetching.c */
void fetching_data(struct fetcher *f, const struct link_peer *from, const struct msg_files_data *m);
void fetching_get(struct fetcher *f, const struct link_peer *from, const struct msg_files_get *m);
void fetching_refused(struct fetcher *f, const struct link_peer *from,
                      const struct msg_files_refused *m);
void fetching_gone(struct fetcher *f, const struct id *peer, const char *why);
void fetching_tell(const struct fetcher *f, uint32_t token, fetcher_row_fn *row, void *ctx);
#endif
