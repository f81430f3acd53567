/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c -- finds, hashes and compares the files that a job executes. */
#include "program.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int join(char out[PROGRAM_PATH + 1], const char *folder, size_t length, const char *name)
{
    int n = snprintf(out, PROGRAM_PATH + 1, "%.*s/%s", (int)length, folder, name);
    return n <= PROGRAM_PATH ? 0 : -ENAMETOOLONG;
}

/* "./a.out" and "a.out" are asked for in the same words. */
static const char *without_dot(const char *name)
{
    while (name[0] == '.' && name[1] == '/')
        for (name += 2; *name == '/'; name++)
            ;
    return name;
}

int program_find(char out[PROGRAM_PATH + 1], const char *name, const char *cwd, const char *search)
{
    int rc;
    if (strchr(name, '/') != NULL) {
        rc = name[0] == '/' ? join(out, "", 0, name + 1)
                            : join(out, cwd, strlen(cwd), without_dot(name));
        return rc == 0 && !is_program(out) ? -ENOENT : rc;
    }
    for (const char *at = search, *end; at != NULL; at = *end == ':' ? end + 1 : NULL) {
        end = strchrnul(at, ':');
        rc = at[0] == '/' ? join(out, at, (size_t)(end - at), name) : -ENOENT;
        if (rc == 0 && is_program(out))
            return 0;
    }
    return -ENOENT;
}

bool program_is_of_system(const char *path)
{
    static const char *const folders[] = {"/usr/",   "/bin/",   "/sbin/", "/lib/",
                                          "/lib32/", "/lib64/", "/opt/"};
    char real[PATH_MAX];
    if (realpath(path, real) == NULL)
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(real, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

static int hash_bytes(int fd, uint8_t hash[PROGRAM_HASH])
{
    enum { PIECE = 256 * 1024 };
    crypto_generichash_state state;
    uint8_t *piece = malloc(PIECE);
    ssize_t n = -1;
    if (piece != NULL && sodium_init() >= 0 &&
        crypto_generichash_init(&state, NULL, 0, PROGRAM_HASH) == 0)
        while ((n = read(fd, piece, PIECE)) > 0)
            crypto_generichash_update(&state, piece, (size_t)n);
    free(piece);
    if (n != 0)
        return piece == NULL ? -ENOMEM : -EIO;
    crypto_generichash_final(&state, hash, PROGRAM_HASH);
    return 0;
}

/* A pipe in a program's place must not keep anyone waiting. */
static int open_program(const char *path, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && access(path, X_OK) == 0)
        return fd;
    close(fd);
    return -EACCES;
}

int program_take(struct program *p, const char *path, struct err *e)
{
    struct stat st;
    if (strlen(path) > PROGRAM_PATH)
        return err_set(e, ENAMETOOLONG, "the program's path is longer than %d characters: %s",
                       PROGRAM_PATH, path);
    strcpy(p->path, path);
    int fd = open_program(path, &st), rc = fd;
    if (fd >= 0) {
        p->size = (uint64_t)st.st_size;
        rc = hash_bytes(fd, p->hash);
        close(fd);
    }
    return rc == 0 ? 0 : err_set(e, -rc, "cannot read the program %s: %s", path, strerror(-rc));
}

struct part_program program_part(const struct program *p)
{
    struct part_program part = {.size = p->size, .hash = p->hash, .hash_length = PROGRAM_HASH};
    strcpy(part.path, p->path);
    return part;
}

/* Who names a file here learns whether he knows its bytes, of programs alone: what is not
 * executable is not compared. */
int program_open(const struct part_program *wanted, struct err *e)
{
    struct stat st;
    uint8_t hash[PROGRAM_HASH];
    if (wanted->path[0] != '/' || wanted->hash_length != PROGRAM_HASH)
        return err_set(e, EINVAL, "the program '%s' of its manifest is none", wanted->path);
    int fd = open_program(wanted->path, &st);
    if (fd == -ENOENT || fd == -ENOTDIR)
        return err_set(e, ENOENT,
                       "%s is not there; copy it to the same place, or use a folder that all "
                       "desktops share",
                       wanted->path);
    if (fd < 0)
        return err_set(e, -fd, "%s is no program that can be read there: %s", wanted->path,
                       strerror(-fd));
    int rc = (uint64_t)st.st_size == wanted->size ? hash_bytes(fd, hash) : -EBADMSG;
    if (rc == 0 && memcmp(hash, wanted->hash, PROGRAM_HASH) != 0)
        rc = -EBADMSG;
    if (rc == 0)
        return fd;
    close(fd);
    return rc == -EBADMSG
               ? err_set(e, EBADMSG, "%s differs from yours; copy yours there", wanted->path)
               : err_set(e, -rc, "%s cannot be read there: %s", wanted->path, strerror(-rc));
}
