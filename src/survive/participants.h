/* SPDX-License-Identifier: BSD-3-Clause */
/* participants.h -- which daemons must report in a collective, and which have. One list serves all
 * collectives of one set of daemons, round after round; a report that comes too late for its round
 * cannot be taken for the next. */
#ifndef P2P_SRC_SURVIVE_PARTICIPANTS_H
#define P2P_SRC_SURVIVE_PARTICIPANTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct participants;

enum report_answer {
    REPORT_TAKEN,   /* the first report of this daemon in this round */
    REPORT_TWICE,   /* it has reported in this round */
    REPORT_LATE,    /* its round is over */
    REPORT_EARLY,   /* its round has not begun: an error of the sender */
    REPORT_UNKNOWN, /* it is not of the set */
};

/* The daemons that take part, each once. NULL: no memory. */
struct participants *participants_new(const unsigned *daemons, size_t count);
void participants_free(struct participants *r);

enum report_answer participants_report(struct participants *r, unsigned daemon, uint32_t round);
/* It need not report any more, in this round and all later ones. */
void participants_excuse(struct participants *r, unsigned daemon);
/* Those that are still to report in this round, one by one: at begins with 0; false: no more. */
bool participants_missing(const struct participants *r, size_t *at, unsigned *daemon);
/* Has any reported, and have all that must? */
bool participants_complete(const struct participants *r);
/* The next round; all that are not excused must report again. */
void participants_next(struct participants *r);
uint32_t participants_round(const struct participants *r);
#endif
