/* SPDX-License-Identifier: BSD-3-Clause */
/* claim.h -- one job's claim on slots: which peers to ask, side by side, and what to keep of their
 * offers.
 *
 * Asks as the strategy deals slots out (share.h) and for a little more than is needed
 * (overbooking); a peer that is slow to answer is no longer counted on, so others are asked as
 * well. Once enough is offered and no near answer is due, what is kept is dealt out of the offers
 * in the same way, and nearest first. Copies of a rank are kept apart by taking no more than so
 * many slots of a peer, and of a domain as long as that works out. When it is too little and some
 * of the missing slots were only offered to another claim, everything is to be given back and tried
 * again after a random pause: both claims then end, at least one of them with its slots. */
#ifndef P2P_OVERLAY_CORE_LEASE_CLAIM_H
#define P2P_OVERLAY_CORE_LEASE_CLAIM_H
#include "overlay/base/id.h"
#include "lease.h"
#include "request.h"
#include "share.h"
#include <stddef.h>

enum {
    CLAIM_PROMPT_MS = 200,  /* an answer is counted on for so long */
    CLAIM_SILENT_MS = 1500, /* after this a peer did not answer */
    CLAIM_TRIES = 4,
};

enum claim_state { CLAIM_UNASKED, CLAIM_ASKED, CLAIM_OFFERED, CLAIM_REFUSED, CLAIM_SILENT };

struct claim_peer {
    uint16_t free;            /* as advertised, then as answered: it can be asked for these */
    uint32_t speed;           /* of one core, as advertised */
    uint32_t domain;          /* index of the first peer in its domain */
    uint32_t borrowed;        /* slots that the asker has there already */
    uint32_t domain_borrowed; /* the same in all its domain; of the first peer in it */
    enum claim_state state;
    uint16_t due;                       /* slots that it is to be asked for */
    uint16_t asked, offered, contested; /* slots; asked: on the way */
    uint64_t asked_ms;
};

struct claim_offer {
    struct id lease;
    size_t peer; /* its index */
    uint16_t slots;
    uint16_t keep; /* by claim_pick() */
    bool spare;
};

/* The arrays are the caller's: `peers` fitting ones, nearest first; `deal` as many, for claim.c to
 * work in; `offers` with room for what is added. */
struct claim {
    const struct request *request;
    uint32_t per_domain; /* slots of one domain, until that does not work out; 0: no bound */
    struct claim_peer *peers;
    struct share_peer *deal;
    size_t peer_count;
    struct claim_offer *offers;
    size_t offer_count;
};

enum claim_verdict {
    CLAIM_WAIT,      /* until an answer or claim_deadline(), then claim_next() again */
    CLAIM_ENOUGH,    /* claim_pick(), confirm what is kept, release the rest */
    CLAIM_CONTESTED, /* release all, begin again after a pause */
    CLAIM_SHORT,     /* release all, say why */
};

/* The next peer to be asked now, and for how many slots; false: none. */
bool claim_next(struct claim *c, uint64_t now_ms, size_t *peer, uint16_t *slots);
void claim_offer(struct claim *c, size_t peer, const struct id *lease, uint16_t slots);
/* The peer has answered; its offers are in. */
void claim_answered(struct claim *c, size_t peer, uint16_t free, uint16_t contested);
void claim_lost(struct claim *c, size_t peer);                   /* it cannot be reached */
uint64_t claim_deadline(const struct claim *c, uint64_t now_ms); /* UINT64_MAX: no answer is due */
/* After claim_next() has found none. */
enum claim_verdict claim_verdict(struct claim *c, uint64_t now_ms);
/* Says for each offer how much of it is kept, and whether as a spare: the nearest, and spares on
 * peers of their own where there are enough. */
void claim_pick(struct claim *c);
/* Has this peer given, with what the asker had there, all that it may? */
bool claim_is_used_up(const struct claim *c, size_t peer);
uint32_t claim_offered(const struct claim *c);
#endif
