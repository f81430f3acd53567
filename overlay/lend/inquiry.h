/* SPDX-License-Identifier: BSD-3-Clause */
/* inquiry.h -- may a guest connect to that port of another peer of its job? The daemons at that
 * address are asked: several may share one. A pure state machine; time is ms of one clock that
 * never goes back.
 *
 *     one of them says yes -> yes;  all say no, or time is up -> no;  "later" -> asked again */
#ifndef P2P_OVERLAY_LEND_INQUIRY_H
#define P2P_OVERLAY_LEND_INQUIRY_H
#include "overlay/base/id.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    INQUIRY_MOST = 1024,         /* daemons that are being asked */
    INQUIRY_PATIENCE_MS = 10000, /* for an answer: a daemon on a busy host is late for seconds */
    INQUIRY_PAUSE_MS = 20,       /* before the second time; then twice as long ... */
    INQUIRY_PAUSE_MOST_MS = 640, /* ... up to this */
};

enum inquiry_answer { INQUIRY_NO, INQUIRY_YES, INQUIRY_LATER };

/* Where guests of that submitter want to connect. */
struct inquiry_call {
    struct id submitter;
    uint8_t ip[16];
    uint16_t port;
};

/* One daemon that is asked about it. */
struct inquiry_row {
    struct inquiry_call call;
    struct id peer;
    uint32_t token;
    uint64_t until_ms, again_ms; /* again: UINT64_MAX while its answer is on the way */
    unsigned pause_ms;
};

struct inquiry {
    struct inquiry_row at[INQUIRY_MOST];
    size_t count;
    uint32_t token;
};

enum inquiry_step { INQUIRY_NOTHING, INQUIRY_ASK, INQUIRY_SETTLED };

bool inquiry_is_open(const struct inquiry *q, const struct inquiry_call *call);
/* That daemon is to be asked, at once: see inquiry_due(). False: too many are. */
bool inquiry_add(struct inquiry *q, const struct inquiry_call *call, const struct id *peer,
                 uint64_t now_ms);
/* INQUIRY_SETTLED: *yes or no, for *call. An answer from another peer than was asked is none. */
enum inquiry_step inquiry_hear(struct inquiry *q, const struct id *peer, uint32_t token,
                               enum inquiry_answer answer, uint64_t now_ms,
                               struct inquiry_call *call, bool *yes);
/* The question to that peer may be lost: it is asked again. */
void inquiry_gone(struct inquiry *q, const struct id *peer, uint64_t now_ms);
/* Until nothing is due any more: INQUIRY_ASK the row's peer, or INQUIRY_SETTLED: time is up, so the
 * answer is no. */
enum inquiry_step inquiry_due(struct inquiry *q, uint64_t now_ms, struct inquiry_row *row);
/* UINT64_MAX: no question is open. */
uint64_t inquiry_deadline(const struct inquiry *q);
#endif
