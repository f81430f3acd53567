/* SPDX-License-Identifier: BSD-3-Clause */
/* offer.c -- files that are offered, and which peer is to have which object of which other. */
#include "fetcher_state.h"
#include "upper.h"
#include "overlay/crypto/identity.h"
#include "overlay/node/history.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include "overlay/base/log.h"
#include "overlay/base/file_at.h"
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct offer *offer_find(struct fetcher *f, const struct hash *list)
{
    struct offer *o = f->offers;
    while (o != NULL && !hash_equal(&o->hash, list))
        o = o->next;
    return o;
}

static void offer_free(struct fetcher *f, struct offer *o)
{
    struct offer **at = &f->offers;
    while (*at != NULL && *at != o)
        at = &(*at)->next;
    if (*at == o)
        *at = o->next;
    list_free(o->list);
    free(o->bytes);
    free(o->swarm);
    if (o->folder >= 0)
        close(o->folder);
    free(o);
}

void offers_free(struct fetcher *f)
{
    while (f->offers != NULL)
        offer_free(f, f->offers);
}

static struct offer *offer_new(const uint8_t *list, size_t length, const char *folder,
                               struct err *e)
{
    struct offer *o = calloc(1, sizeof *o);
    if (o == NULL || (o->bytes = malloc(length + 1)) == NULL) {
        free(o);
        err_set(e, ENOMEM, "no memory for a list of files");
        return NULL;
    }
    memcpy(o->bytes, list, length);
    o->length = length;
    o->users = 1;
    list_hash(&o->hash, list, length);
    o->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (o->folder < 0)
        err_set(e, errno, "%s: %s", folder, strerror(errno));
    return o;
}

int fetcher_offer(struct fetcher *f, const uint8_t *list, size_t length, const char *folder,
                  struct part_files *out, struct err *e)
{
    struct hash hash;
    list_hash(&hash, list, length);
    struct offer *o = offer_find(f, &hash);
    if (o != NULL) {
        o->users++;
    } else {
        o = offer_new(list, length, folder, e);
        if (o == NULL || o->folder < 0 || list_decode(&o->list, list, length, e) != 0) {
            if (o != NULL)
                offer_free(f, o);
            return e->code != 0 ? -e->code : -ENOMEM;
        }
        o->next = f->offers;
        f->offers = o;
    }
    *out = (struct part_files){.list = o->hash,
                               .size = (uint32_t)o->length,
                               .count = (uint32_t)o->list->count,
                               .bytes = o->list->bytes};
    return 0;
}

void fetcher_withdraw(struct fetcher *f, const struct hash *list)
{
    struct offer *o = offer_find(f, list);
    if (o == NULL || --o->users > 0)
        return;
    log_info(f->node->log, "files: of %llu bytes in %zu files, %llu bytes were given to others",
             (unsigned long long)o->list->bytes, o->list->count, (unsigned long long)o->given);
    offer_free(f, o);
}

/* What is not as the list says has been changed since: it is not given, or the peer that gets it
 * would accuse this one. */
int offer_read(const struct offer *o, size_t object, uint8_t *out, struct err *e)
{
    const struct list *l = o->list;
    const struct list_object *one = &l->objects[object];
    const struct list_entry *in = &l->entries[l->entry_of[one->chunk]];
    const off_t offset = (off_t)(one->chunk - in->first_chunk) * LIST_CHUNK;
    const int fd = in->kind == LIST_OUTSIDE ? open(in->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                                            : upper_open(o->folder, in->path);
    struct hash hash = {{0}};
    if (fd < 0)
        return err_set(e, fd == -1 ? errno : -fd, "%.200s is not there any more", in->path);
    const ssize_t n = file_read_at(fd, out, one->size, offset);
    close(fd);
    list_hash(&hash, out, n > 0 ? (size_t)n : 0);
    return hash_equal(&hash, &one->hash)
               ? (int)n
               : err_set(e, ESTALE, "%.200s was changed after the job had begun", in->path);
}

void offer_object_text(const struct list *l, size_t object, char out[OFFER_OBJECT])
{
    enum { SHORT = 6 }; /* as p2pctl cache shows hashes */
    const struct list_object *one = &l->objects[object];
    char hex[2 * SHORT + 1];
    sodium_bin2hex(hex, sizeof hex, one->hash.b, SHORT);
    snprintf(out, OFFER_OBJECT, "%.300s (%s)", l->entries[l->entry_of[one->chunk]].path, hex);
}

/* --- who gives what to whom --- */

static void offer_assign(struct fetcher *f, struct offer *o)
{
    struct swarm_gift gift;
    while (o->swarm != NULL && swarm_next(o->swarm, &gift)) {
        struct message m = {.kind = MSG_files_get};
        m.files_get.list = o->hash;
        m.files_get.sources_count = 1;
        m.files_get.sources[0] =
            (struct part_files_source){.object = (uint32_t)gift.object, .peer = gift.from};
        if (link_send(f->node->links, &gift.to, &m) != 0)
            swarm_leaves(o->swarm, &gift.to.id); /* it joins again */
    }
}

static bool offer_make_room(struct offer *o)
{
    enum { FIRST = 16 };
    const unsigned most = o->swarm == NULL ? FIRST : 2 * o->most;
    if (o->swarm != NULL && swarm_peers(o->swarm) < o->most)
        return true;
    void *memory = most <= SWARM_PEERS ? malloc(swarm_size(o->list->object_count, most)) : NULL;
    if (memory == NULL)
        return false;
    struct swarm *old = o->swarm;
    o->swarm = old == NULL ? swarm_init(memory, o->list->object_count, most)
                           : swarm_move(memory, most, old);
    o->most = most;
    free(old);
    return true;
}

void offer_join(struct fetcher *f, const struct link_peer *from, const struct msg_files_join *m)
{
    struct offer *o = offer_find(f, &m->list);
    struct message no = {.kind = MSG_files_refused,
                         .files_refused = {.list = m->list, .object = FETCHER_LIST}};
    if (o != NULL && offer_make_room(o) &&
        swarm_join(o->swarm, &from->peer, m->have, m->have_length)) {
        offer_assign(f, o);
        return;
    }
    strcpy(no.files_refused.reason,
           o == NULL ? "its files are not offered any more" : "too many peers fetch its files");
    link_send(f->node->links, &from->peer, &no);
}

void offer_got(struct fetcher *f, const struct id *from, const struct msg_files_got *m)
{
    struct offer *o = offer_find(f, &m->list);
    if (o == NULL || o->swarm == NULL)
        return;
    swarm_got(o->swarm, from, m->object);
    offer_assign(f, o);
}

/* For the log, and for the user whose files they are. */
static void offer_accused(struct fetcher *f, const struct offer *o, const struct link_peer *from,
                          const struct msg_files_failed *m)
{
    char giver[ID_TEXT + 1], object[OFFER_OBJECT];
    const char *name = link_name(f->node->links, &m->giver);
    id_text(&m->giver, giver);
    offer_object_text(o->list, m->object, object);
    log_warn(f->node->log, "files: %s got wrong bytes of %s from %s (%.8s); it is given others",
             from->card->name, object, name[0] != '\0' ? name : "a peer", giver);
    history_say(f->node->history, "%s got wrong bytes of %s from %s (%.8s): fetched elsewhere",
                from->card->name, object, name[0] != '\0' ? name : "a peer", giver);
}

void offer_failed(struct fetcher *f, const struct link_peer *from, const struct msg_files_failed *m)
{
    struct offer *o = offer_find(f, &m->list);
    if (o == NULL || o->swarm == NULL || m->object >= o->list->object_count)
        return;
    if (m->wrong)
        offer_accused(f, o, from, m);
    swarm_failed(o->swarm, &from->peer.id, m->object, &m->giver, m->wrong != 0);
    offer_assign(f, o);
}

void offer_rests(struct fetcher *f, const struct id *from, const struct hash *list)
{
    struct offer *o = offer_find(f, list);
    if (o == NULL || o->swarm == NULL)
        return;
    swarm_rests(o->swarm, from);
    offer_assign(f, o);
}

void offer_gone(struct fetcher *f, const struct id *peer)
{
    for (struct offer *o = f->offers; o != NULL; o = o->next)
        if (o->swarm != NULL) {
            swarm_leaves(o->swarm, peer);
            offer_assign(f, o);
        }
}

void offers_tell(const struct fetcher *f, uint32_t token, fetcher_row_fn *row, void *ctx)
{
    struct message m = {.kind = MSG_local_transfer, .local_transfer = {.token = token, .gives = 1}};
    struct msg_local_transfer *t = &m.local_transfer;
    for (const struct offer *o = f->offers; o != NULL; o = o->next) {
        t->list = o->hash;
        t->peers = o->swarm != NULL ? swarm_peers(o->swarm) : 0;
        t->have = o->given;
        t->all = o->list->bytes;
        if (t->peers > 0)
            row(ctx, &m);
    }
}
