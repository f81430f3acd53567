/* SPDX-License-Identifier: BSD-3-Clause */
/* certificates.c -- the folder `members`: a PEM file for each member, named by its id. */
#include "certificates.h"
#include "overlay/base/file.h"
#include <dirent.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static int member_path(char out[PATH_SIZE], const char *folder, const struct id *member,
                       struct err *e)
{
    char id[ID_TEXT + 1];
    id_text(member, id);
    if (snprintf(out, PATH_SIZE, "%s/members/%s", folder, id) >= PATH_SIZE)
        return err_set(e, ENAMETOOLONG, "%s: too long a path", folder);
    return 0;
}

int certificates_read(struct certificates *d, const char *folder, const struct id *member,
                      struct err *e)
{
    char path[PATH_SIZE];
    memset(d, 0, sizeof *d);
    int rc = member_path(path, folder, member, e);
    FILE *f = rc == 0 ? fopen(path, "re") : NULL;
    if (f == NULL)
        return rc < 0 || errno == ENOENT ? rc : err_set(e, errno, "%s: %s", path, strerror(errno));
    X509 *one;
    while (d->count < CERTIFICATES_MAX && (one = PEM_read_X509(f, NULL, NULL, NULL)) != NULL)
        d->at[d->count++] = one;
    ERR_clear_error();
    fclose(f);
    return 0;
}

int certificates_write(const struct certificates *d, const char *folder, const struct id *member,
                       struct err *e)
{
    char path[PATH_SIZE], inner[PATH_SIZE];
    struct file f;
    bool ok = true;
    int rc = member_path(path, folder, member, e);
    if (rc == 0 && snprintf(inner, sizeof inner, "%s/members", folder) < PATH_SIZE)
        rc = file_make_folder(inner, e);
    if (rc == 0)
        rc = file_begin(&f, path, 0600, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; ok && i < d->count; i++)
        ok = PEM_write_X509(f.stream, d->at[i]);
    return file_end(&f, ok, e);
}

void certificates_clear(struct certificates *d)
{
    for (size_t i = 0; i < d->count; i++)
        X509_free(d->at[i]);
    memset(d, 0, sizeof *d);
}

bool certificates_exist(const char *folder, const struct id *member)
{
    char path[PATH_SIZE];
    return member_path(path, folder, member, NULL) == 0 && access(path, F_OK) == 0;
}

void certificates_remove(const char *folder, const struct id *member)
{
    char path[PATH_SIZE];
    if (member_path(path, folder, member, NULL) == 0)
        unlink(path);
}

static time_t asn1_time(const ASN1_TIME *t)
{
    struct tm tm;
    return ASN1_TIME_to_tm(t, &tm) ? timegm(&tm) : 0;
}

X509 *certificates_pick(const struct certificates *d, time_t now, time_t after)
{
    X509 *best = NULL;
    for (size_t i = 0; i < d->count; i++) {
        time_t ends = asn1_time(X509_get0_notAfter(d->at[i]));
        if (asn1_time(X509_get0_notBefore(d->at[i])) <= now && ends > now && ends > after) {
            best = d->at[i];
            after = ends;
        }
    }
    return best;
}

int certificates_each(const char *folder, certificates_each_fn *each, void *ctx, struct err *e)
{
    char inner[PATH_SIZE];
    struct id member;
    int rc = 0;
    snprintf(inner, sizeof inner, "%s/members", folder);
    DIR *dir = opendir(inner);
    if (dir == NULL)
        return errno == ENOENT ? 0 : err_set(e, errno, "%s: %s", inner, strerror(errno));
    for (const struct dirent *entry; rc == 0 && (entry = readdir(dir)) != NULL;)
        if (id_parse(&member, entry->d_name))
            rc = each(ctx, &member, e);
    closedir(dir);
    return rc;
}
