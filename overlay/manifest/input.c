/* SPDX-License-Identifier: BSD-3-Clause */
/* input.c -- takes what is in a job's files, and compares it where the job is to run. */
#include "input.h"
#include "content.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof((struct input *)0)->hash == CONTENT_HASH, "of the whole hash");

int input_take(struct input *i, const char *name, const char *cwd, struct err *e)
{
    struct stat st;
    const int length = name[0] == '/' ? snprintf(i->path, sizeof i->path, "%s", name)
                                      : snprintf(i->path, sizeof i->path, "%s/%s", cwd, name);
    if (length > INPUT_PATH)
        return err_set(e, ENAMETOOLONG, "the file's path is longer than %d characters: %s",
                       INPUT_PATH, name);
    int fd = content_open(i->path, &st);
    if (fd < 0)
        return err_set(e, -fd, "cannot read the job's file %s: %s", i->path,
                       fd == -EINVAL ? "it is no plain file" : strerror(-fd));
    i->size = (uint64_t)st.st_size;
    int rc = content_hash(fd, i->hash);
    close(fd);
    return rc == 0 ? 0
                   : err_set(e, -rc, "cannot read the job's file %s: %s", i->path, strerror(-rc));
}

struct part_input input_part(const struct input *i)
{
    struct part_input part = {.size = i->size, .hash = i->hash, .hash_length = sizeof i->hash};
    strcpy(part.path, i->path);
    return part;
}

/* A guest must not learn whether the file is there, so both cases have one answer. */
static int not_for_guest(const char *path, struct err *e)
{
    return err_set(e, EACCES,
                   "%s is not there for your job; copy it to the same place, and ask the owner to "
                   "add its folder to 'readable' in p2pd.conf",
                   path);
}

int input_check(const struct part_input *wanted, bool guest, struct err *e)
{
    struct stat st;
    if (wanted->path[0] != '/' || wanted->hash_length != CONTENT_HASH)
        return err_set(e, EINVAL, "the file '%s' of its manifest is none", wanted->path);
    int fd = content_open(wanted->path, &st);
    if (guest && (fd == -ENOENT || fd == -ENOTDIR || fd == -EACCES))
        return not_for_guest(wanted->path, e);
    if (fd == -ENOENT || fd == -ENOTDIR)
        return content_missing(wanted->path, e);
    if (fd < 0)
        return err_set(e, -fd, "%s cannot be read there: %s", wanted->path,
                       fd == -EINVAL ? "it is no plain file" : strerror(-fd));
    int rc = content_compare(fd, &st, wanted->path, wanted->size, wanted->hash, e);
    close(fd);
    return rc;
}
