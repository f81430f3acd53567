/* SPDX-License-Identifier: BSD-3-Clause */
/* registrar_rotate.c -- gives the authority another key: makes it, takes it into use on this peer,
 * and spreads it from here. */
#include "authority.h"
#include "registrar_state.h"
#include "member.h"
#include "overlay/node/node.h"
#include "overlay/crypto/rotation.h"
#include "overlay/crypto/identity.h"
#include <errno.h>

enum { YEAR_S = 365 * 24 * 3600 };

/* Called again when the daemon starts: it may have ended in the middle of a change. What is in the
 * folder counts once its certificate is the new one. */
int registrar_adopt_key(struct registrar *k, struct err *e)
{
    const char *folder = k->node->settings.authority;
    struct rotation *r = registrar_has_authority(k) ? rotation_load(folder) : NULL;
    struct id key = identity_grid(k->node->identity);
    int rc = 0;
    if (r != NULL && id_equal(&r->from, &key) && authority_is_of(folder, r->after))
        rc = member_rotate(k->member, r, NULL, e);
    rotation_free(r);
    return rc;
}

int registrar_rotate(struct registrar *k, const struct msg_local_rotate *ask,
                     struct msg_local_rotated *out, struct err *e)
{
    const struct keyfile_access with = {.passphrase = ask->passphrase,
                                        .length = ask->passphrase_length};
    struct authority_change change = {.seconds = ask->seconds};
    struct authority *a;
    if (ask->seconds == 0 || ask->seconds > YEAR_S)
        return err_set(e, EINVAL, "a member that is away has at most 365 days");
    int rc = registrar_open_authority(k, ask->passphrase_length > 0 ? &with : NULL, &a, e);
    if (rc < 0)
        return rc;
    out->until = (uint64_t)time(NULL) + ask->seconds;
    rc = authority_rotate(a, &with, &change, e);
    if (rc == 0)
        rc = registrar_end_invitations(k, e);
    if (rc == 0)
        rc = registrar_adopt_key(k, e);
    if (rc == 0)
        rc = registrar_publish(k, a, e);
    authority_close(a);
    out->members = change.members;
    out->unlisted = change.unlisted;
    return rc;
}
