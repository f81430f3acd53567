/* SPDX-License-Identifier: BSD-3-Clause */
/* borrow_say.c -- what of its actions other peers hear. */
#include "borrow.h"
#include <string.h>

bool borrow_message(const struct borrow_action *a, struct message_whole *said)
{
    struct message *m = &said->message;
    memset(m, 0, sizeof *m);
    switch (a->kind) {
    case BORROW_CONFIRM:
        m->kind = MSG_lease_confirm;
        m->lease_confirm.lease = a->lease;
        m->lease_confirm.slots = a->of->slots;
        return true;
    case BORROW_RELEASE:
        m->kind = MSG_lease_release;
        m->lease_release.lease = a->lease;
        return true;
    case BORROW_RENEW:
        m = message_clear(said, MSG_lease_renew);
        m->lease_renew->leases_count = a->count;
        if (a->count > 0)
            memcpy(m->lease_renew->leases, a->leases, a->count * sizeof *a->leases);
        return true;
    case BORROW_PROBE:
    case BORROW_LOST:
    case BORROW_CLEARED:
    case BORROW_TELL:
    case BORROW_ENDED:
    case BORROW_FAILED:
    case BORROW_PARTED:
        break;
    }
    return false;
}
