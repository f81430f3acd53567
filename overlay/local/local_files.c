/* SPDX-License-Identifier: BSD-3-Clause */
/* local_files.c -- files that this user's jobs take along, and those that are kept here. */
#include "local_state.h"
#include "overlay/files/fetcher.h"
#include "overlay/node/node.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint8_t *read_list(const char *path, size_t *length, struct err *e)
{
    struct stat st;
    uint8_t *bytes = NULL;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= LIST_SIZE)
        bytes = malloc((size_t)st.st_size + 1);
    if (bytes != NULL && read(fd, bytes, (size_t)st.st_size) != st.st_size) {
        free(bytes);
        bytes = NULL;
    }
    if (bytes == NULL)
        err_set(e, EINVAL, "p2pd cannot read the list of the job's files, %s", path);
    else
        *length = (size_t)st.st_size;
    if (fd >= 0)
        close(fd);
    return bytes;
}

void local_offer(struct local_client *c, const struct msg_local_files *files,
                 struct part_files *out, struct err *e)
{
    size_t length = 0;
    uint8_t *bytes = NULL;
    if (c->offer_count == LOCAL_OFFERS)
        err_set(e, EMFILE, "one program offers files %d times at most", LOCAL_OFFERS);
    else
        bytes = read_list(files->list, &length, e);
    if (bytes != NULL &&
        fetcher_offer(c->local->parts.fetcher, bytes, length, files->folder, out, e) == 0)
        c->offers[c->offer_count++] = out->list;
    free(bytes);
}

void local_withdraw(struct local_client *c)
{
    while (c->offer_count > 0)
        fetcher_withdraw(c->local->parts.fetcher, &c->offers[--c->offer_count]);
}

/* --- what is kept --- */

static void change_cache(struct store *s, const struct msg_local_cache *ask, struct err *e)
{
    switch ((enum cache_verb)ask->verb) {
    case CACHE_LIST:
        return;
    case CACHE_TRIM:
        store_trim(s, ask->bytes);
        return;
    case CACHE_PIN:
    case CACHE_UNPIN:
        store_pin(s, &ask->list, ask->verb == CACHE_PIN, e);
        return;
    }
    err_set(e, EINVAL, "p2pd does not know what to do with the kept files");
}

uint32_t local_cache_rows(struct local_client *c, const struct msg_local_cache *ask, struct err *e)
{
    struct store *s = c->local->parts.store;
    struct message m = {.kind = MSG_local_cached};
    struct tree_state one;
    uint32_t rows = 0;
    if (s == NULL)
        err_set(e, ENOENT, "this desktop keeps no files of jobs; its log says why");
    else
        change_cache(s, ask, e);
    while (e->code == 0 && store_describe(s, rows, &one)) {
        m.local_cached = (struct msg_local_cached){
            .token = ask->token,
            .files = {.list = one.list, .size = one.size, .count = one.count, .bytes = one.bytes},
            .here = one.here,
            .used = one.used,
            .locks = (uint16_t)one.locks,
            .pinned = one.pinned,
            .bound = c->local->node->settings.cache_size};
        memcpy(m.local_cached.about, one.about, sizeof m.local_cached.about);
        local_say(c, &m);
        rows++;
    }
    return rows;
}
