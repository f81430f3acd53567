/* SPDX-License-Identifier: BSD-3-Clause */
/* borrowed.c -- the asking side: leases of other peers that are held for this daemon's clients. */
#include "borrowed.h"
#include "overlay/core/lease/lease.h"
#include "overlay/core/lease/lived.h"
#include "overlay/manifest/manifest.h"
#include "overlay/node/node.h"
#include "overlay/client/p2pgrid.h"
#include "overlay/transport/link.h"
#include "overlay/transport/tunnel.h"
#include "overlay/transport/uri.h"
#include "overlay/watch/job.h"
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct borrowed_lease {
    void *owner;
    struct id lease;
    struct part_peer peer;
    char name[64], site[64], arch[16];
    uint16_t slots;
    bool foreign;
    struct id within;  /* a reservation; zero: none */
    uint64_t heard_ms; /* the peer was there; by lived_ms() */
    bool doubted;      /* its link broke, it was asked again */
    bool renewed;      /* in this round */
    char why[512];     /* the peer is about to end it; empty: not that we know */
};

struct borrowed {
    struct node *node;
    struct jobs *jobs;
    struct tunnels *tunnels;
    borrowed_event_fn *event;
    void *event_ctx;
    borrowed_owner_fn *find_owner;
    void *ctx; /* of find_owner */
    borrowed_down_fn *down;
    void *down_ctx;
    struct event *timer;
    struct lived lived;
    struct borrowed_lease *at;
    size_t count;
    uint64_t released_ms; /* the last time; 0: never */
};

enum { LATE_MS = 500, GIVES_BACK_MS = 2000, FILES_SINCE = 8 /* version of the protocol */ };

static uint64_t lived_ms(struct borrowed *b)
{
    return lived_look(&b->lived, node_now_ms(), LEASE_RENEW_MS + LATE_MS);
}

static struct borrowed_lease *borrowed_find(struct borrowed *b, const void *owner,
                                            const struct id *lease)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->at[i].owner == owner && id_equal(&b->at[i].lease, lease))
            return &b->at[i];
    return NULL;
}

static bool uses(const struct borrowed *b, const void *owner, const struct id *peer)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->at[i].owner == owner && id_equal(&b->at[i].peer.id, peer))
            return true;
    return false;
}

static void drop(struct borrowed *b, struct borrowed_lease *one)
{
    const struct borrowed_lease was = *one;
    tunnel_end(b->tunnels, &was.lease);
    *one = b->at[--b->count];
    if (!uses(b, was.owner, &was.peer.id))
        jobs_leave(b->jobs, was.owner, &was.peer.id);
}

static void send_release(struct borrowed *b, const struct part_peer *peer, const struct id *lease)
{
    struct message m = {.kind = MSG_lease_release};
    m.lease_release.lease = *lease;
    link_send(b->node->links, peer, &m); /* if it is lost, the lease runs out */
    b->released_ms = node_now_ms();
}

/* The lease is gone before its owner hears of it: the owner may come back with another request. */
static void end(struct borrowed *b, struct borrowed_lease *one, enum grid_event_kind kind,
                uint32_t status, const char *text)
{
    struct borrowed_lease was = *one;
    struct msg_local_event event = {.event = (uint8_t)kind, .lease = was.lease, .status = status};
    snprintf(event.text, sizeof event.text, "%s: %.440s", was.name, text);
    drop(b, one);
    b->event(b->event_ctx, was.owner, &event);
}

static void lose(struct borrowed *b, struct borrowed_lease *one, enum grid_event_kind kind,
                 const char *why)
{
    if (b->down != NULL)
        b->down(b->down_ctx, &one->peer.id, one->name, why);
    end(b, one, kind, 0, why);
}

void borrowed_on_down(struct borrowed *b, borrowed_down_fn *down, void *ctx)
{
    b->down = down;
    b->down_ctx = ctx;
}

/* One message for each peer; those of `only`, or of all when it is NULL. */
static void renew(struct borrowed *b, const struct id *only)
{
    for (size_t i = 0; i < b->count; i++)
        b->at[i].renewed = only != NULL && !id_equal(&b->at[i].peer.id, only);
    for (size_t i = 0; i < b->count; i++) {
        if (b->at[i].renewed)
            continue;
        struct message m = {.kind = MSG_lease_renew};
        struct msg_lease_renew *r = &m.lease_renew;
        for (size_t k = i; k < b->count; k++) {
            struct borrowed_lease *other = &b->at[k];
            if (other->renewed || !id_equal(&other->peer.id, &b->at[i].peer.id) ||
                r->leases_count == sizeof r->leases / sizeof r->leases[0])
                continue;
            other->renewed = true;
            r->leases[r->leases_count++] = (struct part_offer){other->lease, other->slots};
        }
        link_send(b->node->links, &b->at[i].peer,
                  &m); /* borrowed_on_time() sees when no answer comes */
    }
}

/* A renewal is late, says the peer. If this daemon has been started anew, none will come: so none
 * is named. */
static void on_probe(struct borrowed *b, const struct part_peer *peer)
{
    const struct message none = {.kind = MSG_lease_renew};
    for (size_t i = 0; i < b->count; i++)
        if (id_equal(&b->at[i].peer.id, &peer->id))
            return;
    link_send(b->node->links, peer, &none);
}

/* A daemon that waits for its turn on a host that is there has more time than a host that is gone.
 */
static bool is_lost(struct borrowed *b, const struct borrowed_lease *one, uint64_t now)
{
    uint64_t silent = now - one->heard_ms;
    bool there = silent > LEASE_TTL_MS && link_answers(b->node->links, &one->peer.id);
    return silent > (there ? LEASE_STALLED_MS : LEASE_TTL_MS);
}

static void borrowed_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct borrowed *b = ctx;
    uint64_t now = lived_ms(b);
    char why[64];
    (void)fd, (void)what;
    for (size_t i = 0; i < b->count;) {
        if (!is_lost(b, &b->at[i], now)) {
            i++;
            continue;
        }
        /* The peer has ended it by now, if it lives. */
        snprintf(why, sizeof why, "did not answer for %u s",
                 (unsigned)((now - b->at[i].heard_ms) / 1000));
        lose(b, &b->at[i], GRID_LEASE_ENDED, why);
    }
    renew(b, NULL);
}

static void heard(struct borrowed *b, const struct id *peer)
{
    for (size_t i = 0; i < b->count; i++)
        if (id_equal(&b->at[i].peer.id, peer)) {
            b->at[i].heard_ms = lived_ms(b);
            b->at[i].doubted = false;
        }
}

static void on_launched(struct borrowed *b, const struct borrowed_lease *one,
                        const struct msg_lease_launched *m)
{
    struct msg_local_event event = {.event = GRID_LAUNCHED, .lease = one->lease, .pid = m->pid};
    memcpy(event.cores, m->cores, sizeof event.cores);
    b->event(b->event_ctx, one->owner, &event);
}

static void on_recall(struct borrowed *b, const struct borrowed_lease *one,
                      const struct msg_lease_recall *m)
{
    struct msg_local_event event = {.event = GRID_LEASE_RECALLED, .lease = one->lease};
    snprintf(event.text, sizeof event.text, "%s %s within %u s", one->name, m->text,
             (m->within_ms + 999) / 1000);
    b->event(b->event_ctx, one->owner, &event);
}

static void on_ending(struct borrowed *b, struct borrowed_lease *one,
                      const struct msg_lease_ending *m)
{
    snprintf(one->why, sizeof one->why, "%s", m->text);
    struct msg_local_event event = {.event = GRID_LEASE_ENDING, .lease = one->lease};
    snprintf(event.text, sizeof event.text, "%s: %.440s", one->name, m->text);
    b->event(b->event_ctx, one->owner, &event);
}

static void on_seen(struct borrowed *b, const struct borrowed_lease *one,
                    const struct msg_lease_seen *m)
{
    struct msg_local_event event = {
        .event = GRID_LEASE_SEEN, .lease = one->lease, .waits = m->waits};
    b->event(b->event_ctx, one->owner, &event);
}

static void on_fetching(struct borrowed *b, const struct borrowed_lease *one,
                        const struct msg_lease_fetching *m)
{
    struct msg_local_event event = {
        .event = GRID_FETCHING, .lease = one->lease, .have = m->have, .all = m->all};
    b->event(b->event_ctx, one->owner, &event);
}

/* Where its last word was lost with a link, a peer knows the lease no more, but had told why. */
static void on_ended(struct borrowed *b, struct borrowed_lease *one,
                     const struct msg_lease_ended *m)
{
    char why[sizeof one->why];
    strcpy(why, one->why);
    end(b, one, m->cause == LEASE_FAILED ? GRID_LAUNCH_FAILED : GRID_LEASE_ENDED, m->status,
        m->cause == LEASE_UNKNOWN && why[0] != '\0' ? why : m->text);
}

static struct borrowed_lease *find_from(struct borrowed *b, const struct link_peer *from,
                                        const struct id *lease)
{
    for (size_t i = 0; i < b->count; i++)
        if (id_equal(&b->at[i].lease, lease) && id_equal(&b->at[i].peer.id, &from->peer.id))
            return &b->at[i];
    return NULL;
}

enum takes {
#define TO_borrowed(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void borrowed_take(struct borrowed *b, const struct link_peer *from, const struct message *m)
{
    struct borrowed_lease *one;
    heard(b, &from->peer.id);
    switch ((enum takes)m->kind) {
    case MSG_lease_launched:
        if ((one = find_from(b, from, &m->lease_launched.lease)) != NULL)
            on_launched(b, one, &m->lease_launched);
        break;
    case MSG_lease_recall:
        if ((one = find_from(b, from, &m->lease_recall.lease)) != NULL)
            on_recall(b, one, &m->lease_recall);
        break;
    case MSG_lease_ending:
        if ((one = find_from(b, from, &m->lease_ending.lease)) != NULL)
            on_ending(b, one, &m->lease_ending);
        break;
    case MSG_lease_ended:
        if ((one = find_from(b, from, &m->lease_ended.lease)) != NULL)
            on_ended(b, one, &m->lease_ended);
        break;
    case MSG_lease_seen:
        if ((one = find_from(b, from, &m->lease_seen.lease)) != NULL)
            on_seen(b, one, &m->lease_seen);
        break;
    case MSG_lease_fetching:
        if ((one = find_from(b, from, &m->lease_fetching.lease)) != NULL)
            on_fetching(b, one, &m->lease_fetching);
        break;
    case MSG_lease_renewed:
        if (m->lease_renewed.leases == 0)
            on_probe(b, &from->peer);
        break;
    }
}

/* A broken link is no dead peer yet: ask once more; a dead one cannot be dialled. */
static void borrowed_on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct borrowed *b = ctx;
    bool ask = false;
    for (size_t i = 0; i < b->count;) {
        struct borrowed_lease *one = &b->at[i];
        if (id_equal(&one->peer.id, peer) && one->doubted) {
            lose(b, one, GRID_LEASE_ENDED, why);
            continue;
        }
        if (id_equal(&one->peer.id, peer))
            one->doubted = ask = true;
        i++;
    }
    if (ask)
        renew(b, peer);
}

/* The job's other peers agree that this one is silent: what runs there is given up. */
static void on_declared(void *ctx, const void *owner, const struct id *peer)
{
    struct borrowed *b = ctx;
    for (size_t i = 0; i < b->count;) {
        struct borrowed_lease *one = &b->at[i];
        if (one->owner != owner || !id_equal(&one->peer.id, peer)) {
            i++;
            continue;
        }
        send_release(b, &one->peer, &one->lease); /* should it live after all */
        lose(b, one, GRID_PEER_SILENT, "fell silent");
    }
}

int borrowed_open(struct borrowed **out, struct node *node, struct jobs *jobs,
                  struct tunnels *tunnels, borrowed_event_fn *event, void *ctx, struct err *e)
{
    struct borrowed *b = calloc(1, sizeof *b);
    *out = b;
    if (b == NULL)
        return err_set(e, ENOMEM, "out of memory");
    b->node = node;
    b->jobs = jobs;
    b->tunnels = tunnels;
    b->event = event;
    b->event_ctx = ctx;
    b->timer = event_new(node->base, -1, EV_PERSIST, borrowed_on_time, b);
    const struct timeval period = {.tv_sec = LEASE_RENEW_MS / 1000};
    if (b->timer == NULL || event_add(b->timer, &period) != 0 ||
        links_on_gone(node->links, borrowed_on_gone, b) != 0) {
        borrowed_close(b);
        *out = NULL;
        return err_set(e, ENOMEM, "out of memory");
    }
    jobs_on_declared(jobs, on_declared, b);
    return 0;
}

void borrowed_close(struct borrowed *b)
{
    if (b == NULL)
        return;
    links_forget_gone(b->node->links, borrowed_on_gone, b);
    jobs_on_declared(b->jobs, NULL, NULL);
    for (size_t i = 0; i < b->count; i++)
        send_release(b, &b->at[i].peer, &b->at[i].lease);
    if (b->timer != NULL)
        event_free(b->timer);
    free(b->at);
    free(b);
}

int borrowed_add(struct borrowed *b, void *owner, const struct msg_local_lease *lease,
                 const struct id *within)
{
    struct borrowed_lease *more = realloc(b->at, (b->count + 1) * sizeof *more);
    if (more == NULL) {
        send_release(b, &lease->peer, &lease->lease);
        return -ENOMEM;
    }
    b->at = more;
    struct borrowed_lease *one = &more[b->count++];
    *one = (struct borrowed_lease){
        .owner = owner, .lease = lease->lease, .peer = lease->peer, .slots = lease->slots};
    one->foreign = lease->foreign != 0;
    one->within = within != NULL ? *within : (struct id){{0}};
    one->heard_ms = lived_ms(b);
    memcpy(one->name, lease->name, sizeof one->name);
    memcpy(one->site, lease->site, sizeof one->site);
    memcpy(one->arch, lease->arch, sizeof one->arch);
    struct message m = {.kind = MSG_lease_confirm};
    m.lease_confirm.lease = lease->lease;
    m.lease_confirm.slots = lease->slots;
    link_send(b->node->links, &lease->peer, &m); /* if it is lost, the first renewal says so */
    jobs_enter(b->jobs, owner, &lease->peer);
    return 0;
}

int borrowed_launch(struct borrowed *b, const void *owner, const struct msg_local_launch *launch)
{
    const struct borrowed_lease *one = borrowed_find(b, owner, &launch->lease);
    if (one == NULL)
        return -ENOENT;
    const unsigned version = link_version(b->node->links, &one->peer.id);
    if (!hash_is_zero(&launch->files.list) && version != 0 && version < FILES_SINCE)
        return -EPROTONOSUPPORT;
    struct part_peer self = links_self(b->node->links);
    uint16_t port = uri_port((const char *)launch->command, launch->command_length);
    if (port != 0 && !id_equal(&one->peer.id, &self.id) &&
        tunnel_allow(b->tunnels, &one->peer, &one->lease, port) < 0)
        return -ENOMEM;
    struct msg_manifest job = {.submitter = self.id,
                               .peer = one->peer.id,
                               .lease = one->lease,
                               .slots = one->slots,
                               .issued = (uint64_t)time(NULL),
                               .command = launch->command,
                               .command_length = launch->command_length,
                               .environment = launch->environment,
                               .environment_length = launch->environment_length,
                               .programs_count = launch->programs_count,
                               .inputs_count = launch->inputs_count,
                               .bounds = launch->bounds,
                               .encrypts = launch->encrypts,
                               .confine = launch->confine,
                               .files = launch->files,
                               .lanes = launch->lanes};
    memcpy(job.job_folder, launch->job_folder, sizeof job.job_folder);
    memcpy(job.folder, launch->folder, sizeof job.folder);
    memcpy(job.programs, launch->programs, launch->programs_count * sizeof job.programs[0]);
    memcpy(job.inputs, launch->inputs, launch->inputs_count * sizeof job.inputs[0]);
    struct manifest *sealed;
    int rc = manifest_sign(&sealed, &job, b->node->identity);
    if (rc != 0)
        return rc;
    struct message m = {.kind = MSG_lease_launch};
    manifest_put(sealed, &m.lease_launch);
    rc = link_send(b->node->links, &one->peer, &m);
    manifest_free(sealed);
    return rc;
}

void borrowed_look(struct borrowed *b, const void *owner, const struct id *lease)
{
    const struct borrowed_lease *one = borrowed_find(b, owner, lease);
    struct message m = {.kind = MSG_lease_look, .lease_look.lease = *lease};
    if (one != NULL)
        link_send(b->node->links, &one->peer, &m); /* if it is lost, it will be asked again */
}

bool borrowed_nth(const struct borrowed *b, const void *owner, unsigned nth,
                  struct msg_local_lease *lease)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct borrowed_lease *one = &b->at[i];
        if (one->owner != owner || nth-- > 0)
            continue;
        lease->lease = one->lease;
        lease->peer = one->peer;
        lease->slots = one->slots;
        lease->foreign = one->foreign;
        memcpy(lease->name, one->name, sizeof lease->name);
        memcpy(lease->site, one->site, sizeof lease->site);
        memcpy(lease->arch, one->arch, sizeof lease->arch);
        return true;
    }
    return false;
}

size_t borrowed_count(const struct borrowed *b, const void *owner)
{
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++)
        count += b->at[i].owner == owner;
    return count;
}

size_t borrowed_list(const struct borrowed *b, const void *owner, struct candidate_borrowed *list,
                     size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < b->count && count < most; i++) {
        const struct borrowed_lease *one = &b->at[i];
        if (one->owner != owner)
            continue;
        list[count] = (struct candidate_borrowed){.peer = one->peer, .slots = one->slots};
        memcpy(list[count++].site, one->site, sizeof one->site);
    }
    return count;
}

void borrowed_find_owner(struct borrowed *b, borrowed_owner_fn *find_owner, void *ctx)
{
    b->find_owner = find_owner;
    b->ctx = ctx;
}

void borrowed_room(const struct borrowed *b, const struct id *reservation, const struct id *peer,
                   uint16_t *slots, uint16_t *left)
{
    const void *owner = b->find_owner(b->ctx, reservation);
    unsigned all = 0, taken = 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct borrowed_lease *one = &b->at[i];
        if (!id_equal(&one->peer.id, peer))
            continue;
        if (one->owner == owner)
            all += one->slots;
        else if (id_equal(&one->within, reservation))
            taken += one->slots;
    }
    *slots = (uint16_t)all;
    *left = (uint16_t)(taken < all ? all - taken : 0);
}

unsigned borrowed_in_use(const struct borrowed *b)
{
    unsigned slots = 0;
    for (size_t i = 0; i < b->count; i++)
        slots += id_is_zero(&b->at[i].within) ? b->at[i].slots : 0;
    return slots;
}

unsigned borrowed_used(const struct borrowed *b, const struct id *reservation)
{
    unsigned used = 0;
    for (size_t i = 0; i < b->count; i++)
        used += id_equal(&b->at[i].within, reservation) ? b->at[i].slots : 0;
    return used;
}

void borrowed_peers(const struct borrowed *b, const struct id *reservation,
                    void (*each)(void *ctx, const struct part_peer *peer), void *ctx)
{
    const void *owner = b->find_owner(b->ctx, reservation);
    for (size_t i = 0; i < b->count; i++)
        if (b->at[i].owner == owner)
            each(ctx, &b->at[i].peer);
}

void borrowed_release(struct borrowed *b, const void *owner, const struct id *lease)
{
    struct borrowed_lease *one = borrowed_find(b, owner, lease);
    if (one == NULL)
        return; /* it has ended already */
    send_release(b, &one->peer, lease);
    drop(b, one);
}

void borrowed_release_all(struct borrowed *b, const void *owner)
{
    for (size_t i = 0; i < b->count;) {
        if (b->at[i].owner != owner) {
            i++;
            continue;
        }
        send_release(b, &b->at[i].peer, &b->at[i].lease);
        drop(b, &b->at[i]);
    }
}

bool borrowed_gives_back(const struct borrowed *b)
{
    return b->released_ms != 0 && node_now_ms() < b->released_ms + GIVES_BACK_MS;
}
