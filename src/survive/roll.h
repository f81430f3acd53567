/* SPDX-License-Identifier: BSD-3-Clause */
/* roll.h -- who must report in a collective, and who has. One roll serves all collectives of one
 * set of daemons, round after round; a report that comes too late for its round cannot be taken for
 * the next. */
#ifndef P2P_SRC_SURVIVE_ROLL_H
#define P2P_SRC_SURVIVE_ROLL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roll;

enum roll_answer {
    ROLL_TAKEN,    /* the first report of this daemon in this round */
    ROLL_TWICE,    /* it has reported in this round */
    ROLL_LATE,     /* its round is over */
    ROLL_EARLY,    /* its round has not begun: an error of the sender */
    ROLL_STRANGER, /* it is not of the set */
};

/* The daemons that take part, each once. NULL: no memory. */
struct roll *roll_new(const unsigned *daemons, size_t count);
void roll_free(struct roll *r);

enum roll_answer roll_report(struct roll *r, unsigned daemon, uint32_t round);
/* It need not report any more, in this round and all later ones. */
void roll_excuse(struct roll *r, unsigned daemon);
/* Those who are still to report in this round, one by one: at begins with 0; false: no more. */
bool roll_missing(const struct roll *r, size_t *at, unsigned *daemon);
/* Has any reported, and all who must? */
bool roll_complete(const struct roll *r);
/* The next round; all who are not excused must report again. */
void roll_next(struct roll *r);
uint32_t roll_round(const struct roll *r);
#endif
