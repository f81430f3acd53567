/* SPDX-License-Identifier: BSD-3-Clause */
/* content.c -- hashes and compares files. */
#include "content.h"
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int content_open(const char *path, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode))
        return fd;
    close(fd);
    return -EINVAL;
}

int content_hash(int fd, uint8_t hash[CONTENT_HASH])
{
    enum { PIECE = 256 * 1024 };
    crypto_generichash_state state;
    uint8_t *piece = malloc(PIECE);
    ssize_t n = -1;
    if (piece != NULL && sodium_init() >= 0 &&
        crypto_generichash_init(&state, NULL, 0, CONTENT_HASH) == 0)
        while ((n = read(fd, piece, PIECE)) > 0)
            crypto_generichash_update(&state, piece, (size_t)n);
    free(piece);
    if (n != 0)
        return piece == NULL ? -ENOMEM : -EIO;
    crypto_generichash_final(&state, hash, CONTENT_HASH);
    return 0;
}

int content_compare(int fd, const struct stat *st, const char *path, uint64_t size,
                    const uint8_t hash[CONTENT_HASH], struct err *e)
{
    uint8_t here[CONTENT_HASH];
    int rc = (uint64_t)st->st_size == size ? content_hash(fd, here) : -EBADMSG;
    if (rc == 0 && memcmp(here, hash, CONTENT_HASH) == 0)
        return 0;
    return rc == 0 || rc == -EBADMSG
               ? err_set(e, EBADMSG, "%s differs from yours; copy yours there", path)
               : err_set(e, -rc, "%s cannot be read there: %s", path, strerror(-rc));
}

int content_missing(const char *path, struct err *e)
{
    return err_set(e, ENOENT,
                   "%s is not there; copy it to the same place, or use a folder that all desktops "
                   "share",
                   path);
}
