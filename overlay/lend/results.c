/* SPDX-License-Identifier: BSD-3-Clause */
/* results.c -- gives the holder of a lease what its lanes have changed in the job's folder. What is
 * in a room's folder is a guest's to arrange: no link in it is followed. */
#include "results.h"
#include "overlay/base/log.h"
#include "overlay/core/lease/lease.h"
#include "overlay/files/upper.h"
#include "overlay/node/node.h"
#include "overlay/sandbox/room.h"
#include "overlay/sandbox/sweep.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    KEPT_MOST = 16, /* leases that have ended */
    KEPT_MS = 600000,
    LISTED_MOST = 8, /* listings that are read page by page */
    PIECE = 65536,
    READ_MOST = 4 * PIECE,
    DIGEST_MOST = 1024 * 1024,
    PAGE = sizeof((struct msg_results_names *)0)->results / sizeof(struct part_result),
    PAGE_BYTES = 128 * 1024, /* so that a page fits into a frame whatever its names are */
};

struct job_results {
    struct id lease, holder;
    char below[520];
    uint64_t until_ms; /* 0: its room lives */
};

struct listing {
    struct id lease;
    unsigned lane;
    struct upper upper;
};

struct results {
    struct node *node;
    results_done_fn *done;
    void *ctx;
    struct event *timer;
    struct job_results at[LEASE_MAX + KEPT_MOST];
    size_t count;
    struct listing listed[LISTED_MOST]; /* the oldest first */
    size_t listed_count;
};

/* --- whose they are --- */

static struct job_results *job_find(struct results *r, const struct id *lease)
{
    for (size_t i = 0; i < r->count; i++)
        if (id_equal(&r->at[i].lease, lease))
            return &r->at[i];
    return NULL;
}

static void folder_of(const struct results *r, const struct id *lease, const char *prefix,
                      char out[PATH_MAX])
{
    char hex[ID_TEXT + 1];
    id_text(lease, hex);
    snprintf(out, PATH_MAX, "%s/%s%.12s", r->node->settings.work, prefix, hex);
}

static void listing_drop(struct results *r, size_t i)
{
    upper_free(&r->listed[i].upper);
    memmove(&r->listed[i], &r->listed[i + 1], (--r->listed_count - i) * sizeof r->listed[0]);
}

static void job_forget(struct results *r, struct job_results *job)
{
    char path[PATH_MAX];
    for (size_t i = r->listed_count; i-- > 0;)
        if (id_equal(&r->listed[i].lease, &job->lease))
            listing_drop(r, i);
    if (job->until_ms != 0) {
        folder_of(r, &job->lease, ROOM_RESULTS, path);
        sweep_remove(path);
    }
    *job = r->at[--r->count];
}

static void results_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct results *r = ctx;
    const uint64_t now = node_now_ms();
    (void)fd, (void)what;
    for (size_t i = r->count; i-- > 0;)
        if (r->at[i].until_ms != 0 && now >= r->at[i].until_ms) {
            log_info(r->node->log, "results of a lease that has ended were not fetched: removed");
            job_forget(r, &r->at[i]);
        }
}

void results_begin(struct results *r, const struct id *lease, const struct id *holder,
                   const char *below)
{
    if (r->count == sizeof r->at / sizeof r->at[0])
        return;
    struct job_results *job = &r->at[r->count++];
    *job = (struct job_results){.lease = *lease, .holder = *holder};
    snprintf(job->below, sizeof job->below, "%s", below);
}

/* Of those that are kept the one that ends first makes room for another. */
static void make_room(struct results *r)
{
    struct job_results *first = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++) {
        struct job_results *job = &r->at[i];
        kept += job->until_ms != 0;
        if (job->until_ms != 0 && (first == NULL || job->until_ms < first->until_ms))
            first = job;
    }
    if (kept == KEPT_MOST)
        job_forget(r, first);
}

void results_end(struct results *r, const struct id *lease)
{
    char path[PATH_MAX];
    struct stat st;
    if (job_find(r, lease) == NULL)
        return;
    folder_of(r, lease, ROOM_RESULTS, path);
    if (lstat(path, &st) != 0) {
        job_forget(r, job_find(r, lease));
        return;
    }
    make_room(r);
    job_find(r, lease)->until_ms = node_now_ms() + KEPT_MS;
    event_add(r->timer, &(struct timeval){.tv_sec = 10});
}

/* --- a lane's folder --- */

/* What it has changed, or all of it where it works on a copy; -errno. */
static int lane_open(const struct results *r, const struct job_results *job, unsigned lane)
{
    static const char *const names[] = {"upper", "tree"};
    char path[PATH_MAX], inside[32];
    folder_of(r, &job->lease, job->until_ms != 0 ? ROOM_RESULTS : ROOM_PREFIX, path);
    int room = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd = room < 0 ? -errno : -ENOENT;
    for (size_t i = 0; i < 2 && room >= 0 && fd == -ENOENT; i++) {
        snprintf(inside, sizeof inside, "lane-%u/%s", lane, names[i]);
        fd = upper_open_folder(room, inside);
    }
    if (room >= 0)
        close(room);
    return fd;
}

static void answer(struct results *r, const struct part_peer *to, const struct message *m)
{
    int rc = link_send(r->node->links, to, m);
    if (rc != 0) /* the other side asks again, or gives up */
        log_debug(r->node->log, "%s not sent: %s", message_name(m->kind), strerror(-rc));
}

/* --- names --- */

static struct listing *listing_find(struct results *r, const struct id *lease, unsigned lane)
{
    for (size_t i = 0; i < r->listed_count; i++)
        if (id_equal(&r->listed[i].lease, lease) && r->listed[i].lane == lane)
            return &r->listed[i];
    return NULL;
}

/* -1: nothing lies below. */
static int below_open(const char *path)
{
    return path[0] != '\0' ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

static struct listing *listing_make(struct results *r, const struct job_results *job, unsigned lane,
                                    struct err *e)
{
    struct listing *old = listing_find(r, &job->lease, lane), made = {job->lease, lane, {0}};
    if (old != NULL)
        listing_drop(r, (size_t)(old - r->listed));
    int at = lane_open(r, job, lane);
    if (at < 0) {
        err_set(e, -at, "its folder is not there: %s", strerror(-at));
        return NULL;
    }
    int below = below_open(job->below);
    int rc = upper_list(&made.upper, at, below, e);
    close(at);
    if (below >= 0)
        close(below);
    if (rc != 0)
        return NULL;
    if (r->listed_count == LISTED_MOST)
        listing_drop(r, 0);
    r->listed[r->listed_count] = made;
    return &r->listed[r->listed_count++];
}

static uint32_t put_result(struct part_result *p, const struct result *what)
{
    *p = (struct part_result){.kind = (uint8_t)what->kind,
                              .mode = what->mode,
                              .size = what->size,
                              .mtime = what->mtime_ns,
                              .path = (const uint8_t *)what->path,
                              .path_length = (uint32_t)strlen(what->path)};
    if (what->target != NULL) {
        p->target = (const uint8_t *)what->target;
        p->target_length = (uint32_t)strlen(what->target);
    }
    return p->path_length + p->target_length + 64;
}

static void results_on_results_ask(struct results *r, const struct link_peer *from,
                                   const struct msg_results_ask *ask)
{
    struct message m = {.kind = MSG_results_names};
    struct msg_results_names *names = &m.results_names;
    struct err e = {0};
    const struct job_results *job = job_find(r, &ask->lease);
    struct listing *l = NULL;
    names->token = ask->token;
    if (job == NULL || !id_equal(&job->holder, &from->peer.id))
        err_set(&e, ENOENT, "there is no such lease any more");
    else if (ask->from == 0 || (l = listing_find(r, &ask->lease, ask->lane)) == NULL)
        l = listing_make(r, job, ask->lane, &e);
    snprintf(names->reason, sizeof names->reason, "%.255s", e.text);
    names->all = l != NULL ? (uint32_t)l->upper.count : 0;
    names->left_out = l != NULL ? (uint32_t)l->upper.left_out : 0;
    uint32_t bytes = 0;
    for (size_t i = ask->from;
         l != NULL && i < l->upper.count && names->results_count < PAGE && bytes < PAGE_BYTES; i++)
        bytes += put_result(&names->results[names->results_count++], &l->upper.at[i]);
    answer(r, &from->peer, &m);
}

/* --- bytes --- */

static int file_open(struct results *r, const struct link_peer *from,
                     const struct msg_results_read *read)
{
    char path[RESULT_PATH + 1];
    const struct job_results *job = job_find(r, &read->lease);
    if (job == NULL || !id_equal(&job->holder, &from->peer.id))
        return -ENOENT;
    if (read->path_length > RESULT_PATH || memchr(read->path, '\0', read->path_length) != NULL)
        return -EINVAL;
    memcpy(path, read->path, read->path_length);
    path[read->path_length] = '\0';
    int at = lane_open(r, job, read->lane);
    int fd = at < 0 ? at : upper_open(at, path);
    if (at >= 0)
        close(at);
    return fd;
}

/* Sets also what the file is like now: it may be written to all the time. */
static void piece_say(struct results *r, const struct link_peer *from, int fd,
                      struct msg_results_bytes *b)
{
    struct message m = {.kind = MSG_results_bytes};
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0) {
        b->size = (uint64_t)st.st_size;
        b->mtime = upper_time(&st);
    }
    m.results_bytes = *b;
    answer(r, &from->peer, &m);
}

static void bytes_fail(struct results *r, const struct link_peer *from, uint32_t token, int code)
{
    struct msg_results_bytes b = {.token = token, .last = 1};
    snprintf(b.reason, sizeof b.reason, "%s", strerror(code));
    piece_say(r, from, -1, &b);
}

static void bytes_send(struct results *r, const struct link_peer *from,
                       const struct msg_results_read *read, int fd)
{
    uint8_t piece[PIECE];
    const uint32_t length = read->length < READ_MOST ? read->length : READ_MOST;
    for (uint32_t at = 0;;) {
        const size_t wanted = length - at < PIECE ? length - at : PIECE;
        ssize_t n = pread(fd, piece, wanted, (off_t)(read->offset + at));
        if (n < 0) {
            bytes_fail(r, from, read->token, errno);
            return;
        }
        at += (uint32_t)n;
        struct msg_results_bytes b = {.token = read->token,
                                      .last = n == 0 || at == length,
                                      .data = piece,
                                      .data_length = (uint32_t)n};
        piece_say(r, from, fd, &b);
        if (b.last)
            return;
    }
}

static void digest_send(struct results *r, const struct link_peer *from,
                        const struct msg_results_read *read, int fd)
{
    uint8_t piece[PIECE], digest[crypto_generichash_BYTES];
    crypto_generichash_state hash;
    const uint32_t length = read->length < DIGEST_MOST ? read->length : DIGEST_MOST;
    ssize_t n = 1;
    crypto_generichash_init(&hash, NULL, 0, sizeof digest);
    for (uint32_t at = 0; at < length && n > 0; at += (uint32_t)n) {
        n = pread(fd, piece, length - at < PIECE ? length - at : PIECE, (off_t)(read->offset + at));
        if (n > 0)
            crypto_generichash_update(&hash, piece, (size_t)n);
    }
    crypto_generichash_final(&hash, digest, sizeof digest);
    struct msg_results_bytes b = {
        .token = read->token, .last = 1, .data = digest, .data_length = sizeof digest};
    piece_say(r, from, fd, &b);
}

static void results_on_results_read(struct results *r, const struct link_peer *from,
                                    const struct msg_results_read *read)
{
    int fd = read->offset <= INT64_MAX ? file_open(r, from, read) : -EINVAL;
    if (fd < 0) {
        bytes_fail(r, from, read->token, -fd);
        return;
    }
    if (read->digest)
        digest_send(r, from, read, fd);
    else
        bytes_send(r, from, read, fd);
    close(fd);
}

static void results_on_results_done(struct results *r, const struct link_peer *from,
                                    const struct msg_results_done *done)
{
    struct job_results *job = job_find(r, &done->lease);
    if (job == NULL || !id_equal(&job->holder, &from->peer.id))
        return;
    if (job->until_ms != 0)
        job_forget(r, job);
    else
        r->done(r->ctx, &done->lease);
}

enum takes {
#define TO_results(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void results_take(struct results *r, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case TAKES_results_ask:
        results_on_results_ask(r, from, &m->results_ask);
        break;
    case TAKES_results_read:
        results_on_results_read(r, from, &m->results_read);
        break;
    case TAKES_results_done:
        results_on_results_done(r, from, &m->results_done);
        break;
    }
}

/* --- the beginning and the end --- */

int results_open(struct results **out, struct node *node, results_done_fn *done, void *ctx,
                 struct err *e)
{
    struct results *r = calloc(1, sizeof *r);
    *out = r;
    if (r == NULL)
        return err_set(e, ENOMEM, "out of memory");
    r->node = node;
    r->done = done;
    r->ctx = ctx;
    sweep_stale(node->settings.work, ROOM_RESULTS);
    r->timer = event_new(node->base, -1, EV_PERSIST, results_on_time, r);
    return r->timer != NULL ? 0 : err_set(e, ENOMEM, "out of memory");
}

void results_close(struct results *r)
{
    if (r == NULL)
        return;
    while (r->count > 0)
        job_forget(r, &r->at[r->count - 1]);
    if (r->timer != NULL)
        event_free(r->timer);
    free(r);
}
