/* SPDX-License-Identifier: BSD-3-Clause */
/* conf.c -- p2pd.conf, read and written. */
#include "conf.h"
#include "overlay/base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONF_MOST = 1 << 20, CONF_MODE = 0600 };

static int conf_find(struct conf *c, const char *file, struct err *e)
{
    char folder[PATH_MAX];
    if (realpath(file, c->path) == NULL && errno != ENOENT)
        return err_set(e, errno, "%s: %s", file, strerror(errno));
    if (access(file, F_OK) != 0)
        snprintf(c->path, sizeof c->path, "%s", file);
    snprintf(folder, sizeof folder, "%s", c->path);
    *strrchr(folder, '/') = '\0';
    if (file_make_folder(folder[0] != '\0' ? folder : "/", e) != 0)
        return -e->code;
    c->folder = open(folder[0] != '\0' ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (c->folder < 0 || flock(c->folder, LOCK_EX) != 0)
        return err_set(e, errno, "%s: %s", folder, strerror(errno));
    return 0;
}

static int conf_read(struct conf *c, struct err *e)
{
    struct stat st;
    FILE *f = fopen(c->path, "re");
    c->was = calloc(1, CONF_MOST + 1);
    c->mode = CONF_MODE;
    if (c->was == NULL)
        err_set(e, ENOMEM, "no memory");
    else if (f == NULL && errno != ENOENT)
        err_set(e, errno, "%s: %s", c->path, strerror(errno));
    else if (f != NULL && (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode)))
        err_set(e, EINVAL, "%s is no file", c->path);
    else if (f != NULL) {
        const size_t length = fread(c->was, 1, CONF_MOST + 1, f);
        c->was_there = true;
        c->mode = st.st_mode & 07777;
        if (ferror(f) || length > CONF_MOST || strlen(c->was) != length)
            err_set(e, EINVAL, "%s cannot be read, or is no text", c->path);
    }
    if (f != NULL)
        fclose(f);
    return -e->code;
}

/* Its folder is synced, too: after a crash the name leads to the old text or to the new one. */
static int conf_write(const struct conf *c, const char *text, struct err *e)
{
    struct file f;
    int rc = file_begin(&f, c->path, c->mode, e);
    if (rc != 0)
        return rc;
    const bool ok = fputs(text, f.stream) >= 0 && fchmod(fileno(f.stream), c->mode) == 0;
    rc = file_end(&f, ok, e);
    if (rc == 0 && fsync(c->folder) != 0)
        rc = err_set(e, errno, "cannot write %s: %s", c->path, strerror(errno));
    return rc;
}

int conf_set(struct conf *c, const char *file, const char *name, const char *value, struct err *e)
{
    *c = (struct conf){.folder = -1};
    int rc = conf_find(c, file, e);
    if (rc == 0)
        rc = conf_read(c, e);
    char *text = rc == 0 ? policy_edit(c->was, c->path, name, value, e) : NULL;
    if (rc == 0 && text == NULL)
        rc = -e->code;
    if (rc == 0 && strcmp(text, c->was) != 0) {
        rc = conf_write(c, text, e);
        c->changed = rc == 0;
    }
    free(text);
    return rc;
}

int conf_undo(struct conf *c, struct err *e)
{
    if (!c->changed)
        return 0;
    c->changed = false;
    if (c->was_there)
        return conf_write(c, c->was, e);
    return unlink(c->path) == 0
               ? 0
               : err_set(e, errno, "cannot remove %s: %s", c->path, strerror(errno));
}

void conf_close(struct conf *c)
{
    free(c->was);
    if (c->folder >= 0)
        close(c->folder);
    *c = (struct conf){.folder = -1};
}
