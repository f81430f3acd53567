/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c -- tells the daemon which files of this job may travel. */
#include "p2pgrid.h"
#include "ask.h"
#include "overlay/files/list.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MS = 60000 };

/* A list is longer than a message may be, so it goes as a file that only this user can read. */
static int files_write(const uint8_t *bytes, size_t length, char path[256], struct err *e)
{
    const char *folder = getenv("TMPDIR");
    if (folder == NULL || folder[0] != '/' || strlen(folder) > 200)
        folder = "/tmp";
    snprintf(path, 256, "%s/p2pgrid-list.XXXXXX", folder);
    const int fd = mkstemp(path);
    size_t at = 0;
    for (ssize_t n; fd >= 0 && at < length; at += (size_t)n)
        if ((n = write(fd, bytes + at, length - at)) <= 0)
            break;
    int rc = at == length
                 ? 0
                 : err_set(e, errno, "the list of the job's files cannot be written in %s: %s",
                           folder, strerror(errno));
    if (fd >= 0)
        close(fd);
    return rc;
}

static void files_taken(void *ctx, const struct message *m)
{
    struct grid_files *out = ctx;
    if (m->kind != MSG_local_offered)
        return;
    const struct part_files *p = &m->local_offered.files;
    *out = (struct grid_files){p->list, p->size, p->count, p->bytes};
}

int client_files(struct client *c, const struct list *list, const char *folder,
                 struct grid_files *out, struct err *e)
{
    struct message m = {.kind = MSG_local_files};
    struct msg_local_done done;
    uint8_t *bytes = NULL;
    size_t length;
    memset(out, 0, sizeof *out);
    if (strlen(folder) >= sizeof m.local_files.folder)
        return err_set(e, ENAMETOOLONG, "the job's folder has too long a path: %s", folder);
    int rc = list_encode(list, &bytes, &length, e);
    if (rc != 0)
        return rc;
    rc = files_write(bytes, length, m.local_files.list, e);
    free(bytes);
    strcpy(m.local_files.folder, folder);
    if (rc == 0)
        rc = client_ask(c, &m, FILES_MS, files_taken, out, &done, e);
    unlink(m.local_files.list);
    if (rc == 0 && hash_is_zero(&out->list))
        rc = err_set(e, EPROTO, "p2pd did not say what it took");
    return rc;
}
