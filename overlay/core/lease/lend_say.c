/* SPDX-License-Identifier: BSD-3-Clause */
/* lend_say.c -- what of its actions other peers hear. */
#include "lend.h"
#include "phrase.h"
#include <string.h>

static void put_text(char *out, size_t size, const char *text)
{
    struct phrase p;
    phrase_begin(&p, out, size);
    phrase_add(&p, text);
}

bool lend_message(const struct lend_action *a, struct message *m)
{
    memset(m, 0, sizeof *m);
    switch (a->kind) {
    case LEND_ANSWER:
        m->kind = MSG_lease_answer;
        m->lease_answer = a->answer;
        return true;
    case LEND_PLACED:
        m->kind = MSG_lease_place;
        m->lease_place = *a->placed;
        return true;
    case LEND_RENEWED:
        m->kind = MSG_lease_renewed;
        m->lease_renewed.leases = (uint16_t)a->count;
        return true;
    case LEND_ENDED:
        m->kind = MSG_lease_ended;
        m->lease_ended.lease = a->lease;
        m->lease_ended.cause = (uint8_t)a->cause;
        m->lease_ended.status = (uint32_t)a->status;
        put_text(m->lease_ended.text, sizeof m->lease_ended.text, a->text);
        return true;
    case LEND_ENDING:
        m->kind = MSG_lease_ending;
        m->lease_ending.lease = a->lease;
        put_text(m->lease_ending.text, sizeof m->lease_ending.text, a->text);
        return true;
    case LEND_RECALLED:
        m->kind = MSG_lease_recall;
        m->lease_recall.lease = a->lease;
        m->lease_recall.within_ms = a->within_ms;
        put_text(m->lease_recall.text, sizeof m->lease_recall.text, a->text);
        return true;
    case LEND_PROBE: /* and its host is looked for */
        m->kind = MSG_lease_renewed;
        return true;
    case LEND_SEEN:
    case LEND_START:
    case LEND_STOP:
    case LEND_CLEARED:
    case LEND_FORGED:
    case LEND_TWICE:
        break;
    }
    return false;
}
