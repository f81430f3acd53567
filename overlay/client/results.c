/* SPDX-License-Identifier: BSD-3-Clause */
/* results.c -- what a lane of a lease has changed in the job's folder. What comes is another
 * desktop's word: it is held to the bounds of result.h. */
#include "results.h"
#include "ask.h"
#include <errno.h>
#include <string.h>

enum { ANSWER_MS = 30000, NAMES_MOST = 65536 };

static struct part_peer peer_of(const struct grid_lane *lane)
{
    return (struct part_peer){.id = lane->peer, .addr = lane->addr};
}

/* --- names --- */

struct names {
    grid_result_fn *each;
    void *ctx;
    uint32_t all, have;
    int rc;
    struct err *e;
};

static bool text_take(char *out, size_t size, const uint8_t *bytes, uint32_t length)
{
    if (length >= size || memchr(bytes, '\0', length) != NULL)
        return false;
    memcpy(out, bytes, length);
    out[length] = '\0';
    return true;
}

static int name_take(struct names *n, const struct part_result *p)
{
    char path[RESULT_PATH + 1], target[RESULT_TARGET + 1];
    if (p->kind == 0 || p->kind >= RESULT_KINDS ||
        !text_take(path, sizeof path, p->path, p->path_length) ||
        !text_take(target, sizeof target, p->target, p->target_length) ||
        !result_path_is_sound(path))
        return err_set(n->e, EPROTO, "its results have names that are none");
    const struct result what = {.kind = (enum result_kind)p->kind,
                                .mode = p->mode,
                                .size = p->size,
                                .mtime_ns = p->mtime,
                                .path = path,
                                .target = p->kind == RESULT_LINK ? target : NULL};
    return n->each(n->ctx, &what, n->e);
}

static void names_take(void *ctx, const struct message *m)
{
    struct names *n = ctx;
    if (m->kind != MSG_local_names || n->rc != 0)
        return;
    n->all = m->local_names.all;
    for (size_t i = 0; i < m->local_names.results_count && n->rc == 0; i++, n->have++)
        n->rc = name_take(n, &m->local_names.results[i]);
}

int client_results(struct client *c, const struct grid_lane *lane, grid_result_fn *each, void *ctx,
                   struct err *e)
{
    struct names n = {.each = each, .ctx = ctx, .e = e, .all = 1};
    struct msg_local_done done;
    while (n.rc == 0 && n.have < n.all) {
        const uint32_t before = n.have;
        struct message m = {.kind = MSG_local_results};
        m.local_results = (struct msg_local_results){.peer = peer_of(lane),
                                                     .lease = lane->lease,
                                                     .lane = (uint8_t)lane->lane,
                                                     .from = n.have};
        int rc = client_ask(c, &m, ANSWER_MS, names_take, &n, &done, e);
        n.rc = n.rc != 0 ? n.rc : rc;
        if (n.rc == 0 && n.have < n.all && (n.have == before || n.have > NAMES_MOST))
            n.rc = err_set(e, EPROTO, "its list of results has no end");
    }
    return n.rc;
}

/* --- bytes --- */

struct bytes {
    struct grid_bytes *out;
    size_t most;
    bool over;
};

static void bytes_take(void *ctx, const struct message *m)
{
    struct bytes *b = ctx;
    if (m->kind != MSG_local_bytes || b->over)
        return;
    const struct msg_local_bytes *said = &m->local_bytes;
    b->over = said->data_length > b->most - b->out->length;
    if (b->over)
        return;
    memcpy((uint8_t *)b->out->to + b->out->length, said->data, said->data_length);
    b->out->length += said->data_length;
    b->out->size = said->size;
    b->out->mtime_ns = said->mtime;
}

static int ask_bytes(struct client *c, const struct grid_lane *lane, const char *path,
                     uint64_t offset, bool digest, struct grid_bytes *out, struct err *e)
{
    struct message m = {.kind = MSG_local_read};
    struct bytes b = {.out = out, .most = digest ? GRID_DIGEST : GRID_READ};
    struct msg_local_done done;
    m.local_read = (struct msg_local_read){.peer = peer_of(lane),
                                           .lease = lane->lease,
                                           .lane = (uint8_t)lane->lane,
                                           .path = (const uint8_t *)path,
                                           .path_length = (uint32_t)strlen(path),
                                           .offset = offset,
                                           .length = digest ? GRID_DIGESTED : GRID_READ,
                                           .digest = digest};
    out->length = 0;
    int rc = client_ask(c, &m, ANSWER_MS, bytes_take, &b, &done, e);
    return rc == 0 && b.over ? err_set(e, EPROTO, "more came than was asked for") : rc;
}

int client_read_result(struct client *c, const struct grid_lane *lane, const char *path,
                       uint64_t offset, struct grid_bytes *out, struct err *e)
{
    return ask_bytes(c, lane, path, offset, false, out, e);
}

int client_digest_result(struct client *c, const struct grid_lane *lane, const char *path,
                         uint64_t offset, uint8_t digest[GRID_DIGEST], struct err *e)
{
    struct grid_bytes out = {.to = digest};
    int rc = ask_bytes(c, lane, path, offset, true, &out, e);
    return rc == 0 && out.length != GRID_DIGEST ? err_set(e, EPROTO, "no digest came") : rc;
}

void client_results_done(struct client *c, const struct grid_lane *lane)
{
    struct message m = {.kind = MSG_local_collected};
    m.local_collected = (struct msg_local_collected){.peer = peer_of(lane), .lease = lane->lease};
    (void)client_send(c, &m, NULL);
}
