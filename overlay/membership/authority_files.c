/* SPDX-License-Identifier: BSD-3-Clause */
/* authority_files.c -- the files in the authority's folder. Keys are 0600 from their first byte,
 * and no file that is there is overwritten. */
#include "authority_state.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

FILE *authority_file(const char *folder, const char *file, bool writing, mode_t mode, struct err *e)
{
    char path[AUTHORITY_PATH];
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) {
        err_set(e, ENAMETOOLONG, "%s: too long a path", folder);
        return NULL;
    }
    int flags = writing ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY;
    int fd = open(path, flags | O_CLOEXEC, mode);
    FILE *f = fd >= 0 ? fdopen(fd, writing ? "w" : "r") : NULL;
    if (f == NULL) {
        err_set(e, errno, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    return f;
}

int authority_close_file(FILE *f, bool ok, const char *folder, struct err *e)
{
    ok = fclose(f) == 0 && ok;
    return ok ? 0 : err_set(e, EIO, "%s: cannot write there: %s", folder, strerror(errno));
}

int authority_write_key(const char *folder, const char *file, EVP_PKEY *key, struct err *e)
{
    FILE *f = authority_file(folder, file, true, 0600, e);
    if (f == NULL)
        return -e->code;
    return authority_close_file(f, PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL), folder,
                                e);
}

int authority_write_certificate(const char *folder, const char *file, X509 *c, struct err *e)
{
    FILE *f = authority_file(folder, file, true, 0644, e);
    if (f == NULL)
        return -e->code;
    return authority_close_file(f, PEM_write_X509(f, c), folder, e);
}

static EVP_PKEY *owner_key_read(const char *folder, const char *file, struct err *e)
{
    FILE *f = authority_file(folder, file, false, 0, e);
    if (f == NULL)
        return NULL;
    EVP_PKEY *key = PEM_read_PrivateKey(f, NULL, NULL, NULL);
    fclose(f);
    if (key == NULL)
        err_set(e, EINVAL, "%s/%s: no key in there", folder, file);
    return key;
}

int authority_read_founder(struct authority *a, const char *folder, struct err *e)
{
    struct id id;
    EVP_PKEY *owner = owner_key_read(folder, "owner.key", e);
    int rc = owner != NULL ? identity_of_key(&id, owner) : -e->code;
    if (rc == 0)
        id_text(&id, a->owner);
    EVP_PKEY_free(owner);
    return rc;
}

int authority_read_root(struct authority *a, const char *folder, struct err *e)
{
    FILE *f = authority_file(folder, "authority.crt", false, 0, e);
    if (f == NULL)
        return -e->code;
    a->certificate = PEM_read_X509(f, NULL, NULL, NULL);
    fclose(f);
    if (a->certificate == NULL ||
        X509_NAME_get_text_by_NID(X509_get_subject_name(a->certificate), NID_organizationName,
                                  a->grid, sizeof a->grid) <= 0)
        return err_set(e, EINVAL, "%s/authority.crt: no grid's certificate in there", folder);
    return 0;
}

int authority_key_path(char out[AUTHORITY_PATH], const char *folder, struct err *e)
{
    if (snprintf(out, AUTHORITY_PATH, "%s/authority.key", folder) >= AUTHORITY_PATH)
        return err_set(e, ENAMETOOLONG, "%s: too long a path", folder);
    return 0;
}

bool authority_is_locked(const char *folder)
{
    char path[AUTHORITY_PATH];
    return authority_key_path(path, folder, NULL) == 0 && keyfile_is_locked(path);
}

bool authority_is_of(const char *folder, X509 *certificate)
{
    FILE *f = authority_file(folder, "authority.crt", false, 0, NULL);
    X509 *there = f != NULL ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
    bool same = there != NULL && X509_cmp(there, certificate) == 0;
    if (f != NULL)
        fclose(f);
    X509_free(there);
    return same;
}

/* authority.crt may be there from before: then it must be this grid's. */
int authority_write_root(const struct authority *a, const char *out, struct err *e)
{
    struct err why = {0};
    if (authority_write_certificate(out, "authority.crt", a->certificate, &why) == 0)
        return 0;
    FILE *f = why.code == EEXIST ? authority_file(out, "authority.crt", false, 0, &why) : NULL;
    if (f == NULL)
        return err_set(e, why.code, "%s", why.text);
    X509 *there = PEM_read_X509(f, NULL, NULL, NULL);
    fclose(f);
    bool same = there != NULL && X509_cmp(there, a->certificate) == 0;
    X509_free(there);
    return same ? 0 : err_set(e, EEXIST, "%s holds keys of another grid", out);
}
