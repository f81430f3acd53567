/* SPDX-License-Identifier: BSD-3-Clause */
/* keyfile.c -- OpenSSL's own formats; scrypt at 16 MiB and some 0.2 s a guess. */
#include "keyfile.h"
#include "overlay/base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRYPT_N = 1 << 14, SCRYPT_R = 8, SCRYPT_P = 5, SALT = 16 };

bool keyfile_is_locked(const char *path)
{
    static const char head[] = "-----BEGIN ENCRYPTED ";
    char line[80] = "";
    FILE *f = fopen(path, "re");
    bool locked = f != NULL && fgets(line, sizeof line, f) != NULL &&
                  strncmp(line, head, sizeof head - 1) == 0;
    if (f != NULL)
        fclose(f);
    return locked;
}

/* Always passed to OpenSSL, which would ask at the terminal otherwise. */
static int keyfile_passphrase(char *out, int size, int writing, void *ctx)
{
    const struct keyfile_access *with = ctx;
    (void)writing;
    if (with == NULL || with->passphrase == NULL || with->length > (size_t)size)
        return -1;
    memcpy(out, with->passphrase, with->length);
    return (int)with->length;
}

static EVP_PKEY *keyfile_read_pem(const char *path, const struct keyfile_access *with,
                                  struct err *e)
{
    struct keyfile_access copy = with != NULL ? *with : (struct keyfile_access){0};
    FILE *f = fopen(path, "re");
    if (f == NULL) {
        err_set(e, errno, "%s: %s", path, strerror(errno));
        return NULL;
    }
    EVP_PKEY *key = PEM_read_PrivateKey(f, NULL, keyfile_passphrase, &copy);
    fclose(f);
    return key;
}

EVP_PKEY *keyfile_read(const char *path, const struct keyfile_access *with, struct err *e)
{
    bool locked = keyfile_is_locked(path);
    struct err why = {0};
    if (locked && with != NULL && with->seed != NULL)
        return EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, with->seed, KEYFILE_SEED);
    if (locked && (with == NULL || with->passphrase == NULL)) {
        err_set(e, ENOKEY, "the grid's authority is locked: this needs its passphrase");
        return NULL;
    }
    EVP_PKEY *key = keyfile_read_pem(path, with, &why);
    if (key == NULL && why.code != 0)
        err_set(e, why.code, "%s", why.text);
    else if (key == NULL && locked)
        err_set(e, EKEYREJECTED, "that is not the passphrase of the grid's authority");
    else if (key == NULL)
        err_set(e, EINVAL, "%s: no key in there", path);
    return key;
}

static bool keyfile_write_locked(FILE *f, EVP_PKEY *key, const struct keyfile_access *with)
{
    PKCS8_PRIV_KEY_INFO *bare = EVP_PKEY2PKCS8(key);
    X509_ALGOR *how =
        PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), NULL, SALT, NULL, SCRYPT_N, SCRYPT_R, SCRYPT_P);
    X509_SIG *locked = bare != NULL && how != NULL
                           ? PKCS8_set0_pbe((const char *)with->passphrase, (int)with->length, bare,
                                            how) /* how is its own now */
                           : NULL;
    bool ok = locked != NULL && PEM_write_PKCS8(f, locked);
    if (locked == NULL)
        X509_ALGOR_free(how);
    X509_SIG_free(locked);
    PKCS8_PRIV_KEY_INFO_free(bare);
    return ok;
}

/* The bytes of a file that was replaced. A disk that writes elsewhere keeps them all the same. */
static void keyfile_overwrite(int fd)
{
    static const char zeros[512];
    struct stat st;
    off_t at = 0;
    if (fstat(fd, &st) == 0)
        while (at < st.st_size && pwrite(fd, zeros, sizeof zeros, at) > 0)
            at += (off_t)sizeof zeros;
    fsync(fd);
}

int keyfile_replace(const char *path, EVP_PKEY *key, const struct keyfile_access *with,
                    struct err *e)
{
    struct file f;
    int old = open(path, O_WRONLY | O_CLOEXEC);
    int rc = file_begin(&f, path, 0600, e);
    if (rc == 0)
        rc = file_end(&f,
                      with != NULL
                          ? keyfile_write_locked(f.stream, key, with)
                          : PEM_write_PrivateKey(f.stream, key, NULL, NULL, 0, NULL, NULL) == 1,
                      e);
    if (rc == 0 && old >= 0)
        keyfile_overwrite(old);
    if (old >= 0)
        close(old);
    return rc;
}

int keyfile_check(const uint8_t *passphrase, size_t length, struct err *e)
{
    if (passphrase == NULL || length < KEYFILE_PASSPHRASE_MIN || length > KEYFILE_PASSPHRASE)
        return err_set(e, EINVAL, "a passphrase has %d to %d bytes", KEYFILE_PASSPHRASE_MIN,
                       KEYFILE_PASSPHRASE);
    return 0;
}
