/* SPDX-License-Identifier: BSD-3-Clause */
/* file.c -- writes to a new file beside the old one, syncs it and renames it. */
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_make_folder(const char *path, struct err *e)
{
    char part[4096];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return err_set(e, ENAMETOOLONG, "%s: too long a path", path);
    for (char *at = part + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char was = *at;
        *at = '\0';
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return err_set(e, errno, "cannot make the folder %s: %s", part, strerror(errno));
        *at = was;
        if (was == '\0')
            return 0;
    }
}

int file_begin(struct file *f, const char *path, mode_t mode, struct err *e)
{
    if (snprintf(f->path, sizeof f->path, "%s", path) >= (int)sizeof f->path)
        return err_set(e, ENAMETOOLONG, "%s: too long a path", path);
    snprintf(f->fresh, sizeof f->fresh, "%s.new", f->path);
    unlink(f->fresh);
    int fd = open(f->fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    f->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f->stream != NULL)
        return 0;
    err_set(e, errno, "cannot write %s: %s", f->fresh, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -EIO;
}

int file_end(struct file *f, bool ok, struct err *e)
{
    ok = ok && fflush(f->stream) == 0 && !ferror(f->stream) && fsync(fileno(f->stream)) == 0;
    ok = fclose(f->stream) == 0 && ok && rename(f->fresh, f->path) == 0;
    if (ok)
        return 0;
    int rc = err_set(e, errno != 0 ? errno : EIO, "cannot write %s: %s", f->path, strerror(errno));
    unlink(f->fresh);
    return rc;
}
