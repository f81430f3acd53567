/* SPDX-License-Identifier: BSD-3-Clause */
/* registrar_revoke.c -- revokes a member: in the authority's ledger, and in a signed list for all.
 */
#include "overlay/base/addr.h"
#include "authority.h"
#include "certificates.h"
#include "registrar_state.h"
#include "ledger.h"
#include "member.h"
#include "overlay/node/node.h"
#include "overlay/crypto/revocation.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int revoke_list(struct msg_revocations *list, const struct ledger *ledger, struct err *e)
{
    enum { MOST = sizeof list->revoked / sizeof list->revoked[0] };
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->at[i];
        if (!entry->revoked || entry->ends <= time(NULL))
            continue;
        if (list->revoked_count == MOST)
            return err_set(e, ENOSPC, "%d peers are revoked already: found a new grid", MOST);
        list->revoked[list->revoked_count++] =
            (struct part_revoked){.peer = entry->id, .ends = (uint64_t)entry->ends};
    }
    return 0;
}

static bool revoke_is_same(const struct msg_revocations *a, const struct msg_revocations *b)
{
    bool same = a->serial != 0 && b->serial != 0 && id_equal(&a->registrar.id, &b->registrar.id) &&
                addr_equal(&a->registrar.addr, &b->registrar.addr) &&
                a->revoked_count == b->revoked_count;
    for (unsigned i = 0; same && i < a->revoked_count; i++)
        same = id_equal(&a->revoked[i].peer, &b->revoked[i].peer);
    return same;
}

int registrar_publish(struct registrar *r, const struct authority *a, struct err *e)
{
    const struct msg_revocations *now = member_list(r->member);
    struct revocation *fresh = calloc(1, sizeof *fresh);
    struct ledger ledger;
    if (fresh == NULL)
        return err_set(e, ENOMEM, "no memory");
    uint64_t clock = (uint64_t)time(NULL);
    fresh->list.serial = now->serial < clock ? clock : now->serial + 1;
    fresh->list.registrar = links_self(r->node->links);
    int rc = ledger_read(&ledger, r->node->settings.authority, e);
    if (rc == 0) {
        rc = revoke_list(&fresh->list, &ledger, e);
        ledger_free(&ledger);
    }
    if (rc == 0 && !revoke_is_same(&fresh->list, now)) {
        rc = revocation_sign(fresh, authority_key(a), e);
        if (rc == 0)
            rc = member_take(r->member, &fresh->list, NULL, e);
    }
    free(fresh);
    return rc;
}

static int revoke_find(const struct registrar *r, const char *word, struct ledger_entry *out,
                       struct err *e)
{
    struct ledger ledger;
    int rc = ledger_read(&ledger, r->node->settings.authority, e);
    if (rc < 0)
        return rc;
    const struct ledger_entry *found = ledger_find(&ledger, word, time(NULL), e);
    if (found != NULL)
        *out = *found;
    ledger_free(&ledger);
    return found != NULL ? 0 : -ENOENT;
}

int registrar_revoke(struct registrar *r, const struct msg_local_revoke *ask,
                     struct msg_local_revoked *out, struct err *e)
{
    const struct keyfile_access with = {.passphrase = ask->passphrase,
                                        .length = ask->passphrase_length};
    const char *peer = ask->peer;
    struct ledger_entry entry;
    struct authority *a;
    int rc = registrar_open_authority(r, ask->passphrase_length > 0 ? &with : NULL, &a, e);
    if (rc < 0)
        return rc;
    rc = revoke_find(r, peer, &entry, e);
    if (rc == 0 && id_equal(&entry.id, &identity_card(r->node->identity)->id))
        rc = err_set(e, EINVAL, "%s is this desktop, which has the authority", peer);
    if (rc == 0 && !entry.revoked) {
        entry.revoked = true;
        entry.ends = authority_last_end(a, entry.ends);
        rc = ledger_add(r->node->settings.authority, &entry, e);
    }
    if (rc == 0)
        certificates_remove(r->node->settings.authority, &entry.id);
    if (rc == 0)
        rc = registrar_publish(r, a, e);
    authority_close(a);
    if (rc < 0)
        return rc;
    out->peer = entry.id;
    memcpy(out->name, entry.name, sizeof out->name);
    log_info(r->node->log, "revoked %s", entry.name);
    return 0;
}
