/* SPDX-License-Identifier: BSD-3-Clause */
/* commit.c -- the file behind the two numbers. The daemon reads it and maps nothing: the program
 * could cut what is mapped. */
#include "commit.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool name_file(char path[PATH_MAX], const char *folder, unsigned process)
{
    int n = snprintf(path, PATH_MAX, "%s/p2pgrid-commit-%u", folder, process);
    return n > 0 && n < PATH_MAX;
}

struct commit *commit_make(const char *folder, unsigned process)
{
    char path[PATH_MAX];
    if (!name_file(path, folder, process)) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return NULL;
    void *at = MAP_FAILED;
    if (ftruncate(fd, sizeof(struct commit)) == 0)
        at = mmap(NULL, sizeof(struct commit), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return at != MAP_FAILED ? at : NULL;
}

int commit_open(const char *folder, unsigned process)
{
    char path[PATH_MAX];
    if (!name_file(path, folder, process))
        return -ENAMETOOLONG;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return fd >= 0 ? fd : -errno;
}

/* A number that is being written may be read in two halves: twice the same is none of these. */
bool commit_read(int fd, uint64_t *decided, uint64_t *held)
{
    enum { TRIES = 8 };
    uint64_t now[2] = {0}, before[2];
    for (int i = 0; i < TRIES; i++) {
        memcpy(before, now, sizeof now);
        if (pread(fd, now, sizeof now, 0) != sizeof now)
            return false;
        if (i > 0 && memcmp(now, before, sizeof now) == 0) {
            *decided = now[0];
            *held = now[1];
            return true;
        }
    }
    return false;
}
