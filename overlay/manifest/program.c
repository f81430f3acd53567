/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c -- finds, hashes and compares the files that a job executes. */
#include "program.h"
#include "content.h"
#include <errno.h>
#include <limits.h>
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

static int program_join(char out[PROGRAM_PATH + 1], const char *folder, size_t length,
                        const char *name)
{
    int n = snprintf(out, PROGRAM_PATH + 1, "%.*s/%s", (int)length, folder, name);
    return n <= PROGRAM_PATH ? 0 : -ENAMETOOLONG;
}

/* "./a.out" and "a.out" become the same path. */
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
        rc = name[0] == '/' ? program_join(out, "", 0, name + 1)
                            : program_join(out, cwd, strlen(cwd), without_dot(name));
        return rc == 0 && !is_program(out) ? -ENOENT : rc;
    }
    for (const char *at = search, *end; at != NULL; at = *end == ':' ? end + 1 : NULL) {
        end = strchrnul(at, ':');
        rc = at[0] == '/' ? program_join(out, at, (size_t)(end - at), name) : -ENOENT;
        if (rc == 0 && is_program(out))
            return 0;
    }
    return -ENOENT;
}

bool program_lies_in_system(const char *path)
{
    static const char *const folders[] = {"/usr/",   "/bin/",   "/sbin/", "/lib/",
                                          "/lib32/", "/lib64/", "/opt/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

bool program_is_of_system(const char *path)
{
    char real[PATH_MAX];
    return realpath(path, real) != NULL && program_lies_in_system(real);
}

static int open_program(const char *path, struct stat *st)
{
    int fd = content_open(path, st);
    if (fd >= 0 && access(path, X_OK) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return fd >= 0 || fd == -EINVAL ? -EACCES : fd;
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
        rc = content_hash(fd, p->hash);
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

/* The submitter learns whether a file has the bytes that it names, but of programs alone: a file
 * that is not executable is not compared. */
int program_open(const struct part_program *wanted, const char *at, struct err *e)
{
    struct stat st;
    if (wanted->path[0] != '/' || wanted->hash_length != PROGRAM_HASH)
        return err_set(e, EINVAL, "the program '%s' of its manifest is none", wanted->path);
    int fd = open_program(at, &st);
    if (fd == -ENOENT || fd == -ENOTDIR)
        return content_missing(wanted->path, e);
    if (fd < 0)
        return err_set(e, -fd, "%s is no program that can be read there: %s", wanted->path,
                       strerror(-fd));
    int rc = content_compare(fd, &st, wanted->path, wanted->size, wanted->hash, e);
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}
