/* SPDX-License-Identifier: BSD-3-Clause */
/* fetching.c -- one list is fetched: its bytes, then what the store can find of it here, then the
 * rest from others. */
#include "fetcher_state.h"
#include "pack.h"
#include "overlay/crypto/identity.h"
#include "overlay/node/history.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FETCHING_TICK_S = 1,
    FETCHING_TURN = 4 * 1024 * 1024, /* bytes of the disk in one turn of the event loop */
    FETCHING_LIST_TICKS = 60,        /* for the list */
};

enum fetching_state {
    FETCHING_LIST,
    FETCHING_HERE,   /* what is here is looked for */
    FETCHING_OTHERS, /* the rest comes */
    FETCHING_WAITS,  /* another lease fetches the same */
    FETCHING_ENDED,
};

struct fetching {
    struct fetcher *fetcher;
    struct fetching *next;
    enum fetching_state state;
    struct part_files what;
    struct part_peer from;
    struct fetcher_calls calls;
    char about[STORE_ABOUT + 1];
    struct event *tick, *turn;
    uint8_t *list; /* as far as it is here */
    size_t list_at;
    unsigned ticks; /* without any of the list */
    struct tree *tree;
    struct fetch fetch;
    bool joined; /* the offerer knows what is here */
    uint8_t *coming[FETCH_COMING];
    struct err error;
};

static void turn_soon(struct fetching *one)
{
    event_active(one->turn, 0, 0);
}

static void send_message(struct fetching *one, const struct part_peer *to, const struct message *m)
{
    link_send(one->fetcher->node->links, to, m); /* a time-out follows, or the link is gone */
}

/* Or others wait for what was to come here first. */
static void tell_left(struct fetching *one)
{
    const struct message m = {.kind = MSG_files_leave, .files_leave.list = one->what.list};
    send_message(one, &one->from, &m);
}

static void end_with(struct fetching *one, const struct err *e)
{
    if (one->state == FETCHING_ENDED)
        return;
    if (one->state == FETCHING_OTHERS && e->code != 0)
        tell_left(one);
    one->state = FETCHING_ENDED;
    one->error = *e;
    turn_soon(one);
}

static void end_with_text(struct fetching *one, int code, const char *text, const char *more)
{
    struct err e = {0};
    err_set(&e, code, "%s: %.300s", text, more);
    end_with(one, &e);
}

static bool is_own(const struct fetching *one)
{
    const struct part_peer self = links_self(one->fetcher->node->links);
    return id_equal(&one->from.id, &self.id);
}

/* --- to others --- */

static void ask(struct fetching *one, const struct part_peer *whom, uint32_t object)
{
    const struct message m = {.kind = MSG_files_ask,
                              .files_ask = {.list = one->what.list, .object = object, .packs = 1}};
    send_message(one, whom, &m);
}

static void tell_failed(struct fetching *one, const struct fetch_action *a)
{
    struct message m = {.kind = MSG_files_failed};
    m.files_failed.list = one->what.list;
    m.files_failed.object = a->object;
    m.files_failed.giver = a->peer.id;
    m.files_failed.wrong = a->wrong;
    send_message(one, &one->from, &m);
}

static void tell_here(struct fetching *one)
{
    struct message m = {.kind = MSG_files_join};
    m.files_join.list = one->what.list;
    one->joined = true;
    m.files_join.have = tree_bits(one->tree, &m.files_join.have_length);
    send_message(one, &one->from, &m);
}

static void do_all(struct fetching *one, const struct fetch_out *out)
{
    for (size_t i = 0; i < out->count; i++) {
        const struct fetch_action *a = &out->action[i];
        switch (a->kind) {
        case FETCH_ASK:
            ask(one, &a->peer, a->object);
            break;
        case FETCH_FAILED:
            tell_failed(one, a);
            break;
        case FETCH_JOIN:
            tell_here(one);
            break;
        case FETCH_OVER:
            end_with_text(one, ETIMEDOUT, "did not get the job's files",
                          "the submitter's desktop says nothing");
            break;
        }
    }
}

/* --- the list --- */

static void begin_others(struct fetching *one)
{
    struct fetch_out out;
    one->state = FETCHING_OTHERS;
    fetch_init(&one->fetch, node_now_ms(), &out);
    do_all(one, &out);
}

static void list_came(struct fetching *one)
{
    struct hash hash;
    struct err e = {0};
    list_hash(&hash, one->list, one->list_at);
    if (!hash_equal(&hash, &one->what.list)) {
        end_with_text(one, EBADMSG, "did not get the job's files", "their list came wrong");
        return;
    }
    if (store_tree(one->fetcher->store, one->list, one->list_at, one->about, &one->tree, &e) != 0) {
        one->tree = NULL;
        end_with(one, &e);
        return;
    }
    if (tree_list(one->tree)->bytes > one->what.bytes) {
        end_with_text(one, EINVAL, "did not take the job's files", "they are more than was said");
        return;
    }
    free(one->list);
    one->list = NULL;
    one->state = FETCHING_HERE;
    turn_soon(one);
}

static void take_list(struct fetching *one, const struct msg_files_data *m)
{
    if (m->offset != one->list_at || m->data_length > one->what.size - one->list_at)
        return;
    memcpy(one->list + one->list_at, m->data, m->data_length);
    one->list_at += m->data_length;
    one->ticks = 0;
    if (one->list_at == one->what.size)
        list_came(one);
}

/* --- what is here --- */

/* On the submitter's own desktop: straight out of the folder. True: there is more. */
static bool take_own(struct fetching *one)
{
    const struct offer *o = offer_find(one->fetcher, &one->what.list);
    uint8_t *chunk = malloc(LIST_CHUNK);
    struct err e = {0};
    size_t done = 0, i = 0;
    if (o == NULL)
        err_set(&e, ENOENT, "its files are not offered any more");
    else if (chunk == NULL)
        err_set(&e, ENOMEM, "no memory");
    for (; e.code == 0 && done < FETCHING_TURN && i < o->list->object_count; i++) {
        if (tree_has(one->tree, i))
            continue;
        const int n = offer_read(o, i, chunk, &e);
        if (n >= 0)
            tree_put(one->tree, i, chunk, (size_t)n, &e);
        done += o->list->objects[i].size;
    }
    free(chunk);
    if (e.code != 0)
        end_with(one, &e);
    return e.code == 0 && !tree_is_whole(one->tree);
}

static void look_here(struct fetching *one)
{
    struct err e = {0};
    const int rc = tree_adopt(one->tree, FETCHING_TURN, &e);
    if (rc < 0)
        end_with(one, &e);
    else if (tree_is_whole(one->tree))
        end_with(one, &e);
    else if (rc > 0)
        turn_soon(one);
    else if (!is_own(one))
        begin_others(one);
    else if (take_own(one))
        turn_soon(one);
    else
        end_with(one, &e); /* or take_own() has */
}

/* --- what comes --- */

static struct fetching *find(struct fetcher *f, const struct hash *list, enum fetching_state state)
{
    struct fetching *one = f->all;
    while (one != NULL && !(one->state == state && hash_equal(&one->what.list, list)))
        one = one->next;
    return one;
}

/* Like `find`, where only the offerer may say so. */
static struct fetching *find_of(struct fetcher *f, const struct link_peer *from,
                                const struct hash *list, enum fetching_state state)
{
    struct fetching *one = find(f, list, state);
    return one != NULL && id_equal(&one->from.id, &from->peer.id) ? one : NULL;
}

/* The object of which these are the packed bytes, into the tree. */
static int put_packed(struct fetching *one, int place, uint32_t object, struct err *e)
{
    const uint32_t size = tree_list(one->tree)->objects[object].size;
    uint8_t *bytes = malloc(size);
    int rc;
    if (bytes == NULL)
        rc = err_set(e, ENOMEM, "no memory for the job's files");
    else if (!pack_open(bytes, size, one->coming[place], one->fetch.coming[place].size))
        rc = err_set(e, EBADMSG, "what came cannot be unpacked");
    else
        rc = tree_put(one->tree, object, bytes, size, e);
    free(bytes);
    return rc;
}

static void tell_wrong(const struct fetching *one, const struct link_peer *giver, uint32_t object)
{
    const struct node *node = one->fetcher->node;
    char text[OFFER_OBJECT];
    offer_object_text(tree_list(one->tree), object, text);
    log_warn(node->log, "files: %s gave wrong bytes of %s", giver->card->name, text);
    history_say(node->history, "%s gave wrong bytes of %s: fetched elsewhere", giver->card->name,
                text);
}

static void object_came(struct fetching *one, const struct link_peer *giver, int place,
                        uint32_t object, bool packed)
{
    const uint32_t size = one->fetch.coming[place].size;
    struct fetch_out out;
    struct err e = {0};
    const int rc = packed ? put_packed(one, place, object, &e)
                          : tree_put(one->tree, object, one->coming[place], size, &e);
    if (rc != 0 && rc != -EBADMSG) {
        end_with(one, &e);
        return;
    }
    if (rc != 0)
        tell_wrong(one, giver, object);
    fetch_done(&one->fetch, place, rc == 0, &out);
    do_all(one, &out);
    if (rc != 0)
        return;
    one->fetcher->fetched += size;
    struct message m = {.kind = MSG_files_got,
                        .files_got = {.list = one->what.list, .object = object}};
    send_message(one, &one->from, &m);
    if (tree_is_whole(one->tree))
        end_with(one, &e);
}

void fetching_data(struct fetcher *f, const struct link_peer *from, const struct msg_files_data *m)
{
    struct fetching *one = find_of(f, from, &m->list, FETCHING_LIST);
    if (m->object == FETCHER_LIST && one != NULL)
        take_list(one, m);
    one = find(f, &m->list, FETCHING_OTHERS);
    if (one == NULL || m->object >= tree_list(one->tree)->object_count)
        return;
    const uint32_t plain = tree_list(one->tree)->objects[m->object].size;
    const uint32_t size = m->packed != 0 ? m->packed : plain;
    if (size > plain)
        return;
    const int place = fetch_data(&one->fetch, &from->peer.id, m->object, m->offset, m->data_length,
                                 size, node_now_ms());
    if (place < 0)
        return;
    if (one->coming[place] == NULL && (one->coming[place] = malloc(LIST_CHUNK)) == NULL) {
        end_with_text(one, ENOMEM, "did not get the job's files", "no memory");
        return;
    }
    memcpy(one->coming[place] + m->offset, m->data, m->data_length);
    if (fetch_is_whole(&one->fetch, place))
        object_came(one, from, place, m->object, m->packed != 0);
}

void fetching_get(struct fetcher *f, const struct link_peer *from, const struct msg_files_get *m)
{
    struct fetching *one = find_of(f, from, &m->list, FETCHING_OTHERS);
    struct fetch_out out;
    for (unsigned i = 0; one != NULL && i < m->sources_count; i++) {
        const uint32_t object = m->sources[i].object;
        const struct part_peer *giver =
            id_is_zero(&m->sources[i].peer.id) ? &one->from : &m->sources[i].peer;
        if (object >= tree_list(one->tree)->object_count)
            return;
        fetch_get(&one->fetch, object, giver, tree_has(one->tree, object), node_now_ms(), &out);
        do_all(one, &out);
    }
}

void fetching_refused(struct fetcher *f, const struct link_peer *from,
                      const struct msg_files_refused *m)
{
    struct fetching *one = find_of(f, from, &m->list, FETCHING_LIST);
    struct fetch_out out;
    if (one == NULL)
        one = find_of(f, from, &m->list, FETCHING_OTHERS);
    if (one != NULL) { /* nobody else has what the offerer has not */
        end_with_text(one, ENOENT, "did not get the job's files", m->reason);
        return;
    }
    if ((one = find(f, &m->list, FETCHING_OTHERS)) == NULL)
        return;
    fetch_refused(&one->fetch, &from->peer.id, m->object, &out);
    do_all(one, &out);
}

/* The offerer's lease ends with its link, if that does not come back: that is not decided here. */
void fetching_gone(struct fetcher *f, const struct id *peer, const char *why)
{
    struct fetch_out out;
    (void)why;
    for (struct fetching *one = f->all; one != NULL; one = one->next) {
        if (one->state == FETCHING_LIST && id_equal(&one->from.id, peer)) {
            one->list_at = 0; /* it is asked for again by the next tick */
        } else if (one->state == FETCHING_OTHERS) {
            fetch_gone(&one->fetch, peer, &out);
            do_all(one, &out);
        }
    }
}

/* --- begin, time, end --- */

static void fetching_free(struct fetching *one)
{
    struct fetching **at = &one->fetcher->all;
    while (*at != NULL && *at != one)
        at = &(*at)->next;
    if (*at == one)
        *at = one->next;
    if (one->tick != NULL)
        event_free(one->tick);
    if (one->turn != NULL)
        event_free(one->turn);
    for (size_t i = 0; i < FETCH_COMING; i++)
        free(one->coming[i]);
    if (one->tree != NULL)
        tree_release(one->tree);
    free(one->list);
    free(one);
}

static void fetching_start(struct fetching *one)
{
    const struct fetcher *f = one->fetcher;
    struct err e = {0};
    for (const struct fetching *other = f->all; other != NULL; other = other->next)
        if (other != one && other->state != FETCHING_ENDED && other->state != FETCHING_WAITS &&
            hash_equal(&other->what.list, &one->what.list)) {
            one->state = FETCHING_WAITS;
            return;
        }
    if (store_start(f->store, &one->what.list, &one->tree, &e) != 0) {
        end_with(one, &e);
        return;
    }
    one->state = one->tree != NULL ? FETCHING_HERE : FETCHING_LIST;
    if (one->tree != NULL && tree_is_whole(one->tree)) {
        end_with(one, &e);
    } else if (one->tree != NULL) {
        turn_soon(one);
    } else if (is_own(one)) {
        const struct offer *o = offer_find(one->fetcher, &one->what.list);
        if (o != NULL && o->length == one->what.size) {
            memcpy(one->list, o->bytes, o->length);
            one->list_at = o->length;
            list_came(one);
        } else {
            end_with_text(one, ENOENT, "did not get the job's files", "they are not offered");
        }
    } else {
        ask(one, &one->from, FETCHER_LIST);
    }
}

static void fetching_end(struct fetching *one)
{
    struct fetcher *f = one->fetcher;
    const struct fetcher_calls calls = one->calls;
    const struct err e = one->error;
    struct tree *tree = e.code == 0 ? one->tree : NULL;
    if (tree != NULL && !one->joined && !is_own(one))
        tell_here(one); /* nothing had to come, but others may have it from here */
    if (tree != NULL)
        one->tree = NULL; /* the caller's from here on */
    fetching_free(one);
    for (struct fetching *other = f->all; other != NULL; other = other->next)
        if (other->state == FETCHING_WAITS)
            fetching_start(other);
    calls.done(calls.ctx, tree, &e);
}

static void on_turn(evutil_socket_t fd, short what, void *ctx)
{
    struct fetching *one = ctx;
    (void)fd, (void)what;
    if (one->state == FETCHING_ENDED)
        fetching_end(one);
    else if (one->state == FETCHING_HERE)
        look_here(one);
}

static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
    struct fetching *one = ctx;
    struct fetch_out out;
    (void)fd, (void)what;
    if (one->state == FETCHING_LIST && one->list_at == 0)
        ask(one, &one->from, FETCHER_LIST);
    if (one->state == FETCHING_LIST && ++one->ticks > FETCHING_LIST_TICKS)
        end_with_text(one, ETIMEDOUT, "did not get the job's files",
                      "the submitter's desktop says nothing");
    if (one->state == FETCHING_OTHERS) {
        fetch_tick(&one->fetch, node_now_ms(), &out);
        do_all(one, &out);
    }
    const struct tree *t = one->tree;
    for (const struct fetching *o = one->fetcher->all; t == NULL && o != NULL; o = o->next)
        if (hash_equal(&o->what.list, &one->what.list))
            t = o->tree;
    if (one->state != FETCHING_ENDED && one->calls.progress != NULL)
        one->calls.progress(one->calls.ctx, t != NULL ? tree_have(t) : 0, one->what.bytes);
}

int fetcher_fetch(struct fetcher *f, const struct part_files *what, const struct part_peer *from,
                  uint64_t most, const char *about, const struct fetcher_calls *calls,
                  struct fetching **out, struct err *e)
{
    enum { MIB = 1024 * 1024 };
    *out = NULL;
    if (f->store == NULL)
        return err_set(e, EBUSY, "keeps no files of jobs");
    if (most != 0 && what->bytes > most)
        return err_set(e, ENOSPC, "lends %llu MiB of disk, the job's files are %llu MiB",
                       (unsigned long long)(most / MIB), (unsigned long long)(what->bytes / MIB));
    if (what->size == 0 || what->size > LIST_SIZE)
        return err_set(e, EINVAL, "cannot read the list of the job's files");
    struct fetching *one = calloc(1, sizeof *one);
    if (one == NULL)
        return err_set(e, ENOMEM, "has no memory for the list of the job's files");
    *one = (struct fetching){.fetcher = f, .what = *what, .from = *from, .calls = *calls};
    snprintf(one->about, sizeof one->about, "%s", about);
    one->list = malloc(what->size);
    one->tick = event_new(f->node->base, -1, EV_PERSIST, on_tick, one);
    one->turn = event_new(f->node->base, -1, 0, on_turn, one);
    if (one->list == NULL || one->tick == NULL || one->turn == NULL ||
        event_add(one->tick, &(struct timeval){.tv_sec = FETCHING_TICK_S}) != 0) {
        fetching_free(one);
        return err_set(e, ENOMEM, "has no memory for the list of the job's files");
    }
    one->next = f->all;
    f->all = one;
    fetching_start(one);
    *out = one;
    return 0;
}

void fetcher_cancel(struct fetching *one)
{
    struct fetcher *f = one->fetcher;
    if (one->state == FETCHING_OTHERS)
        tell_left(one);
    fetching_free(one);
    for (struct fetching *other = f->all; other != NULL; other = other->next)
        if (other->state == FETCHING_WAITS)
            fetching_start(other);
}

void fetching_tell(const struct fetcher *f, uint32_t token, fetcher_row_fn *row, void *ctx)
{
    struct message m = {.kind = MSG_local_transfer, .local_transfer.token = token};
    struct msg_local_transfer *t = &m.local_transfer;
    for (const struct fetching *one = f->all; one != NULL; one = one->next) {
        if (one->state == FETCHING_WAITS || one->state == FETCHING_ENDED)
            continue;
        t->list = one->what.list;
        t->peers = 1;
        t->have = one->tree != NULL ? tree_have(one->tree) : 0;
        t->all = one->what.bytes;
        memcpy(t->about, one->about, sizeof t->about);
        row(ctx, &m);
    }
}
