/* SPDX-License-Identifier: BSD-3-Clause */
/* lend_end.c -- how leases end: their holders are told before and after, and what runs is stopped.
 */
#include "lend_state.h"
#include "phrase.h"
#include <string.h>

void lend_give_reason(struct lend_grant *g, const char *text)
{
    struct phrase p;
    phrase_begin(&p, g->text, sizeof g->text);
    phrase_add(&p, text);
}

static const char *reason_of(const struct lend_grant *g, enum lease_cause cause)
{
    return g->text[0] != '\0' ? g->text : lease_cause_text(cause);
}

void lend_tell_unknown(struct lend *l, const struct part_peer *peer, const struct id *lease)
{
    struct lend_action *a = lend_do(l, LEND_ENDED, peer);
    a->lease = *lease;
    a->cause = LEASE_UNKNOWN;
    a->text = lease_cause_text(LEASE_UNKNOWN);
}

/* Before anything is killed, and over the same link: a holder that sees its connections to the job
 * break knows why by then. */
static void stop(struct lend *l, size_t row)
{
    struct lend_grant *g = &l->granted[row];
    const struct lease *one = &l->table.at[row];
    if (!g->warned && one->cause != LEASE_RELEASED) {
        struct lend_action *a = lend_do(l, LEND_ENDING, &g->holder);
        g->warned = true;
        a->lease = one->id;
        a->text = reason_of(g, one->cause);
    }
    if (!g->stopped)
        lend_do(l, LEND_STOP, &g->holder)->row = row;
    g->stopped = true;
}

/* What was granted stays as it is until the row is offered anew: actions name its text. */
static void clear(struct lend *l, size_t row)
{
    struct lend_grant *g = &l->granted[row];
    struct lease *one = &l->table.at[row];
    const char *why = reason_of(g, one->cause);
    struct lend_action *a = lend_do(l, LEND_ENDED, &g->holder);
    a->lease = one->id;
    a->cause = one->cause;
    a->status = g->status;
    a->text = why;
    a = lend_do(l, LEND_CLEARED, &g->holder);
    a->lease = one->id;
    a->cause = one->cause;
    a->row = row;
    a->slots = one->slots;
    memcpy(a->user, one->user, sizeof a->user);
    a->text = why;
    lease_clear(one);
    a->last = !lend_holds(l, &g->holder.id);
}

static void explain_unused(struct lend_grant *g, uint64_t unused_ms)
{
    struct phrase p;
    phrase_begin(&p, g->text, sizeof g->text);
    phrase_add(&p, "nothing ran under it for ");
    phrase_add_number(&p, unused_ms / 60000);
    phrase_add(&p, " minutes");
}

static void settle_those(struct lend *l, bool reserving)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        const struct lease *one = &l->table.at[i];
        struct lend_grant *g = &l->granted[i];
        if (one->state != LEASE_ENDING || (one->use == LEASE_RESERVES) != reserving ||
            !lease_is_over(&l->table, one))
            continue;
        if (one->cause == LEASE_UNUSED && g->text[0] == '\0')
            explain_unused(g, one->unused_ms);
        if (g->runs)
            stop(l, i);
        else
            clear(l, i);
    }
}

void lend_settle(struct lend *l)
{
    lease_close(&l->table);
    settle_those(l, false);
    settle_those(l, true); /* those that waited for leases within them */
}

/* An owner that has had more than its share for long gives it back when others wait: it is asked
 * first, so that a job with copies elsewhere goes on. */
void lend_share_out(struct lend *l, const struct lend_terms *terms, uint64_t now)
{
    struct lease *one = lease_surplus(&l->table, terms->slots, terms->kept_ms, now);
    if (one == NULL)
        return;
    struct lend_grant *g = &l->granted[lend_row(l, one)];
    if (g->surplus_ms == 0) {
        struct lend_action *a = lend_do(l, LEND_RECALLED, &g->holder);
        a->lease = one->id;
        a->within_ms = LEND_SURPLUS_MS;
        a->text = "shares its slots out";
        g->surplus_ms = now;
    } else if (now - g->surplus_ms >= LEND_SURPLUS_MS) {
        lend_give_reason(g, "others wait for slots, and it had more than its share");
        lease_end(one, LEASE_REVOKED);
    }
}
