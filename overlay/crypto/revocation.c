/* SPDX-License-Identifier: BSD-3-Clause */
/* revocation.c -- signs, checks and stores the list. */
#include "revocation.h"
#include "overlay/base/file.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, LIST_MAX = 64 * 1024 };

static const char label[] = "p2pgrid revocations";

void revocation_copy(struct revocation *to, const struct msg_revocations *list)
{
    to->list = *list;
    if (list->signature_length == sizeof to->signature)
        memcpy(to->signature, list->signature, sizeof to->signature);
    to->list.signature = to->signature;
}

/* The text that is signed; malloc'd. */
static uint8_t *revocation_signed_text(const struct msg_revocations *list, size_t *length)
{
    struct msg_revocations bare = *list;
    uint8_t *out = malloc(sizeof label + LIST_MAX);
    bare.signature = NULL;
    bare.signature_length = 0;
    if (out == NULL)
        return NULL;
    memcpy(out, label, sizeof label);
    *length = message_put_revocations(&bare, out + sizeof label, LIST_MAX);
    *length += sizeof label;
    return out;
}

int revocation_sign(struct revocation *r, EVP_PKEY *authority, struct err *e)
{
    size_t length;
    uint8_t *text = revocation_signed_text(&r->list, &length);
    bool ok = text != NULL && signature_make(r->signature, authority, text, length);
    free(text);
    r->list.signature = r->signature;
    r->list.signature_length = sizeof r->signature;
    return ok ? 0 : err_set(e, EIO, "the list of revoked peers cannot be signed");
}

bool revocation_is_signed(const struct msg_revocations *list, EVP_PKEY *authority)
{
    size_t length;
    uint8_t *text = revocation_signed_text(list, &length);
    bool ok = text != NULL &&
              signature_check(authority, text, length, list->signature, list->signature_length);
    free(text);
    return ok;
}

bool revocation_has(const struct msg_revocations *list, const struct id *peer)
{
    for (unsigned i = 0; i < list->revoked_count; i++)
        if (id_equal(&list->revoked[i].peer, peer))
            return true;
    return false;
}

static int revocation_path(const char *folder, char path[PATH_SIZE], struct err *e)
{
    if (snprintf(path, PATH_SIZE, "%s/revocations", folder) >= PATH_SIZE)
        return err_set(e, ENAMETOOLONG, "%s: too long a path", folder);
    return 0;
}

void revocation_load(struct revocation *r, const char *folder, EVP_PKEY *authority)
{
    static const struct msg_revocations none;
    char path[PATH_SIZE];
    uint8_t *frame = malloc(LIST_MAX);
    struct message_whole *m = malloc(sizeof *m);
    FILE *f = revocation_path(folder, path, NULL) == 0 ? fopen(path, "re") : NULL;
    size_t length = f != NULL && frame != NULL ? fread(frame, 1, LIST_MAX, f) : 0;
    revocation_copy(r, &none);
    if (m != NULL && length > 0 && message_decode_whole(m, frame, length, WIRE_HIGHEST) &&
        m->message.kind == MSG_revocations &&
        revocation_is_signed(&m->large.revocations, authority))
        revocation_copy(r, &m->large.revocations);
    if (f != NULL)
        fclose(f);
    free(m);
    free(frame);
}

int revocation_save(const struct revocation *r, const char *folder, struct err *e)
{
    char path[PATH_SIZE];
    struct file f;
    uint8_t *frame = malloc(LIST_MAX);
    int rc = frame != NULL ? revocation_path(folder, path, e) : err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = file_begin(&f, path, 0600, e);
    if (rc == 0) {
        size_t length = message_put_revocations(&r->list, frame, LIST_MAX);
        rc = file_end(&f, fwrite(frame, 1, length, f.stream) == length, e);
    }
    free(frame);
    return rc;
}
