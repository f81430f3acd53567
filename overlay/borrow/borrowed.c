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

struct hold {
    void *owner;
    struct id lease;
    struct part_peer peer;
    char name[64], site[64];
    uint16_t slots;
    bool foreign;
    struct id within;  /* a reservation; zero: none */
    uint64_t heard_ms; /* the peer was there; by lived_ms() */
    bool doubted;      /* its link broke, it was asked again */
    bool renewed;      /* in this round */
    char why[512];     /* the peer is about to end it; empty: not that we know */
};

struct holds {
    struct node *node;
    struct jobs *jobs;
    struct tunnels *tunnels;
    hold_event_fn *event;
    void *event_ctx;
    hold_owner_fn *find_owner;
    void *ctx; /* of find_owner */
    hold_down_fn *down;
    void *down_ctx;
    struct event *timer;
    struct lived lived;
    struct hold *at;
    size_t count;
};

enum { LATE_MS = 500 };

static uint64_t lived_ms(struct holds *h)
{
    return lived_look(&h->lived, node_now_ms(), LEASE_RENEW_MS + LATE_MS);
}

static struct hold *find(struct holds *h, const void *owner, const struct id *lease)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->at[i].owner == owner && id_equal(&h->at[i].lease, lease))
            return &h->at[i];
    return NULL;
}

static bool uses(const struct holds *h, const void *owner, const struct id *peer)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->at[i].owner == owner && id_equal(&h->at[i].peer.id, peer))
            return true;
    return false;
}

static void drop(struct holds *h, struct hold *hold)
{
    const struct hold was = *hold;
    tunnel_end(h->tunnels, &was.lease);
    *hold = h->at[--h->count];
    if (!uses(h, was.owner, &was.peer.id))
        jobs_leave(h->jobs, was.owner, &was.peer.id);
}

static void send_release(struct holds *h, const struct part_peer *peer, const struct id *lease)
{
    struct message m = {.kind = MSG_lease_release};
    m.lease_release.lease = *lease;
    link_send(h->node->links, peer, &m); /* if it is lost, the lease runs out */
}

/* The hold is gone before its owner hears of it: the owner may come back with another wish. */
static void end(struct holds *h, struct hold *hold, enum grid_event_kind kind, uint32_t status,
                const char *text)
{
    struct hold was = *hold;
    struct msg_local_event event = {.event = (uint8_t)kind, .lease = was.lease, .status = status};
    snprintf(event.text, sizeof event.text, "%s: %.440s", was.name, text);
    drop(h, hold);
    h->event(h->event_ctx, was.owner, &event);
}

static void lose(struct holds *h, struct hold *hold, enum grid_event_kind kind, const char *why)
{
    if (h->down != NULL)
        h->down(h->down_ctx, &hold->peer.id, hold->name, why);
    end(h, hold, kind, 0, why);
}

void holds_on_down(struct holds *h, hold_down_fn *down, void *ctx)
{
    h->down = down;
    h->down_ctx = ctx;
}

/* One message for each peer; those of `only`, or of all when it is NULL. */
static void renew(struct holds *h, const struct id *only)
{
    for (size_t i = 0; i < h->count; i++)
        h->at[i].renewed = only != NULL && !id_equal(&h->at[i].peer.id, only);
    for (size_t i = 0; i < h->count; i++) {
        if (h->at[i].renewed)
            continue;
        struct message m = {.kind = MSG_lease_renew};
        struct msg_lease_renew *r = &m.lease_renew;
        for (size_t k = i; k < h->count; k++) {
            struct hold *other = &h->at[k];
            if (other->renewed || !id_equal(&other->peer.id, &h->at[i].peer.id) ||
                r->leases_count == sizeof r->leases / sizeof r->leases[0])
                continue;
            other->renewed = true;
            r->leases[r->leases_count++] = (struct part_offer){other->lease, other->slots};
        }
        link_send(h->node->links, &h->at[i].peer, &m); /* on_time() sees when no answer comes */
    }
}

/* A renewal is late, says the peer. If this daemon has been started anew, none will come: so none
 * is named. */
static void on_probe(struct holds *h, const struct part_peer *peer)
{
    const struct message none = {.kind = MSG_lease_renew};
    for (size_t i = 0; i < h->count; i++)
        if (id_equal(&h->at[i].peer.id, &peer->id))
            return;
    link_send(h->node->links, peer, &none);
}

/* A daemon that waits for its turn on a host that is there has more time than a host that is gone.
 */
static bool is_lost(struct holds *h, const struct hold *hold, uint64_t now)
{
    uint64_t silent = now - hold->heard_ms;
    bool there = silent > LEASE_TTL_MS && link_answers(h->node->links, &hold->peer.id);
    return silent > (there ? LEASE_STALLED_MS : LEASE_TTL_MS);
}

static void on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct holds *h = ctx;
    uint64_t now = lived_ms(h);
    char why[64];
    (void)fd, (void)what;
    for (size_t i = 0; i < h->count;) {
        if (!is_lost(h, &h->at[i], now)) {
            i++;
            continue;
        }
        /* The peer has ended it by now, if it lives. */
        snprintf(why, sizeof why, "did not answer for %u s",
                 (unsigned)((now - h->at[i].heard_ms) / 1000));
        lose(h, &h->at[i], GRID_LEASE_ENDED, why);
    }
    renew(h, NULL);
}

static void heard(struct holds *h, const struct id *peer)
{
    for (size_t i = 0; i < h->count; i++)
        if (id_equal(&h->at[i].peer.id, peer)) {
            h->at[i].heard_ms = lived_ms(h);
            h->at[i].doubted = false;
        }
}

static void on_launched(struct holds *h, const struct hold *hold,
                        const struct msg_lease_launched *m)
{
    struct msg_local_event event = {.event = GRID_LAUNCHED, .lease = hold->lease, .pid = m->pid};
    memcpy(event.cores, m->cores, sizeof event.cores);
    h->event(h->event_ctx, hold->owner, &event);
}

static void on_recall(struct holds *h, const struct hold *hold, const struct msg_lease_recall *m)
{
    struct msg_local_event event = {.event = GRID_LEASE_RECALLED, .lease = hold->lease};
    snprintf(event.text, sizeof event.text, "%s %s within %u s", hold->name, m->text,
             (m->within_ms + 999) / 1000);
    h->event(h->event_ctx, hold->owner, &event);
}

static void on_ending(struct holds *h, struct hold *hold, const struct msg_lease_ending *m)
{
    snprintf(hold->why, sizeof hold->why, "%s", m->text);
    struct msg_local_event event = {.event = GRID_LEASE_ENDING, .lease = hold->lease};
    snprintf(event.text, sizeof event.text, "%s: %.440s", hold->name, m->text);
    h->event(h->event_ctx, hold->owner, &event);
}

static void on_seen(struct holds *h, const struct hold *hold, const struct msg_lease_seen *m)
{
    struct msg_local_event event = {
        .event = GRID_LEASE_SEEN, .lease = hold->lease, .waits = m->waits};
    h->event(h->event_ctx, hold->owner, &event);
}

/* Where its last word was lost with a link, a peer knows the lease no more, but had told why. */
static void on_ended(struct holds *h, struct hold *hold, const struct msg_lease_ended *m)
{
    char why[sizeof hold->why];
    strcpy(why, hold->why);
    end(h, hold, m->cause == LEASE_FAILED ? GRID_LAUNCH_FAILED : GRID_LEASE_ENDED, m->status,
        m->cause == LEASE_UNKNOWN && why[0] != '\0' ? why : m->text);
}

static struct hold *find_from(struct holds *h, const struct link_peer *from, const struct id *lease)
{
    for (size_t i = 0; i < h->count; i++)
        if (id_equal(&h->at[i].lease, lease) && id_equal(&h->at[i].peer.id, &from->peer.id))
            return &h->at[i];
    return NULL;
}

enum takes {
#define TO_hold(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void holds_take(struct holds *h, const struct link_peer *from, const struct message *m)
{
    struct hold *hold;
    heard(h, &from->peer.id);
    switch ((enum takes)m->kind) {
    case MSG_lease_launched:
        if ((hold = find_from(h, from, &m->lease_launched.lease)) != NULL)
            on_launched(h, hold, &m->lease_launched);
        break;
    case MSG_lease_recall:
        if ((hold = find_from(h, from, &m->lease_recall.lease)) != NULL)
            on_recall(h, hold, &m->lease_recall);
        break;
    case MSG_lease_ending:
        if ((hold = find_from(h, from, &m->lease_ending.lease)) != NULL)
            on_ending(h, hold, &m->lease_ending);
        break;
    case MSG_lease_ended:
        if ((hold = find_from(h, from, &m->lease_ended.lease)) != NULL)
            on_ended(h, hold, &m->lease_ended);
        break;
    case MSG_lease_seen:
        if ((hold = find_from(h, from, &m->lease_seen.lease)) != NULL)
            on_seen(h, hold, &m->lease_seen);
        break;
    case MSG_lease_renewed:
        if (m->lease_renewed.leases == 0)
            on_probe(h, &from->peer);
        break;
    }
}

/* A broken link is no dead peer yet: ask once more; a dead one cannot be dialled. */
static void on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct holds *h = ctx;
    bool ask = false;
    for (size_t i = 0; i < h->count;) {
        struct hold *hold = &h->at[i];
        if (id_equal(&hold->peer.id, peer) && hold->doubted) {
            lose(h, hold, GRID_LEASE_ENDED, why);
            continue;
        }
        if (id_equal(&hold->peer.id, peer))
            hold->doubted = ask = true;
        i++;
    }
    if (ask)
        renew(h, peer);
}

/* The job's other peers agree that this one is silent: what runs there is given up. */
static void on_declared(void *ctx, const void *owner, const struct id *peer)
{
    struct holds *h = ctx;
    for (size_t i = 0; i < h->count;) {
        struct hold *hold = &h->at[i];
        if (hold->owner != owner || !id_equal(&hold->peer.id, peer)) {
            i++;
            continue;
        }
        send_release(h, &hold->peer, &hold->lease); /* should it live after all */
        lose(h, hold, GRID_PEER_SILENT, "fell silent");
    }
}

int holds_open(struct holds **out, struct node *node, struct jobs *jobs, struct tunnels *tunnels,
               hold_event_fn *event, void *ctx, struct err *e)
{
    struct holds *h = calloc(1, sizeof *h);
    *out = h;
    if (h == NULL)
        return err_set(e, ENOMEM, "out of memory");
    h->node = node;
    h->jobs = jobs;
    h->tunnels = tunnels;
    h->event = event;
    h->event_ctx = ctx;
    h->timer = event_new(node->base, -1, EV_PERSIST, on_time, h);
    const struct timeval period = {.tv_sec = LEASE_RENEW_MS / 1000};
    if (h->timer == NULL || event_add(h->timer, &period) != 0 ||
        links_on_gone(node->links, on_gone, h) != 0) {
        holds_close(h);
        *out = NULL;
        return err_set(e, ENOMEM, "out of memory");
    }
    jobs_on_declared(jobs, on_declared, h);
    return 0;
}

void holds_close(struct holds *h)
{
    if (h == NULL)
        return;
    links_forget_gone(h->node->links, on_gone, h);
    jobs_on_declared(h->jobs, NULL, NULL);
    for (size_t i = 0; i < h->count; i++)
        send_release(h, &h->at[i].peer, &h->at[i].lease);
    if (h->timer != NULL)
        event_free(h->timer);
    free(h->at);
    free(h);
}

int hold_add(struct holds *h, void *owner, const struct msg_local_lease *lease,
             const struct id *within)
{
    struct hold *more = realloc(h->at, (h->count + 1) * sizeof *more);
    if (more == NULL) {
        send_release(h, &lease->peer, &lease->lease);
        return -ENOMEM;
    }
    h->at = more;
    struct hold *hold = &more[h->count++];
    *hold = (struct hold){
        .owner = owner, .lease = lease->lease, .peer = lease->peer, .slots = lease->slots};
    hold->foreign = lease->foreign != 0;
    hold->within = within != NULL ? *within : (struct id){{0}};
    hold->heard_ms = lived_ms(h);
    memcpy(hold->name, lease->name, sizeof hold->name);
    memcpy(hold->site, lease->site, sizeof hold->site);
    struct message m = {.kind = MSG_lease_confirm};
    m.lease_confirm.lease = lease->lease;
    m.lease_confirm.slots = lease->slots;
    link_send(h->node->links, &lease->peer, &m); /* if it is lost, the first renewal says so */
    jobs_enter(h->jobs, owner, &lease->peer);
    return 0;
}

int hold_launch(struct holds *h, const void *owner, const struct msg_local_launch *launch)
{
    const struct hold *hold = find(h, owner, &launch->lease);
    if (hold == NULL)
        return -ENOENT;
    struct part_peer self = links_self(h->node->links);
    uint16_t port = uri_port((const char *)launch->command, launch->command_length);
    if (port != 0 && !id_equal(&hold->peer.id, &self.id) &&
        tunnel_allow(h->tunnels, &hold->peer, &hold->lease, port) < 0)
        return -ENOMEM;
    struct msg_manifest job = {.submitter = self.id,
                               .peer = hold->peer.id,
                               .lease = hold->lease,
                               .slots = hold->slots,
                               .issued = (uint64_t)time(NULL),
                               .command = launch->command,
                               .command_length = launch->command_length,
                               .environment = launch->environment,
                               .environment_length = launch->environment_length,
                               .programs_count = launch->programs_count,
                               .inputs_count = launch->inputs_count,
                               .bounds = launch->bounds,
                               .encrypts = launch->encrypts,
                               .confine = launch->confine};
    memcpy(job.folder, launch->folder, sizeof job.folder);
    memcpy(job.programs, launch->programs, launch->programs_count * sizeof job.programs[0]);
    memcpy(job.inputs, launch->inputs, launch->inputs_count * sizeof job.inputs[0]);
    struct manifest *sealed;
    int rc = manifest_sign(&sealed, &job, h->node->identity);
    if (rc != 0)
        return rc;
    struct message m = {.kind = MSG_lease_launch};
    manifest_put(sealed, &m.lease_launch);
    rc = link_send(h->node->links, &hold->peer, &m);
    manifest_free(sealed);
    return rc;
}

void hold_look(struct holds *h, const void *owner, const struct id *lease)
{
    const struct hold *hold = find(h, owner, lease);
    struct message m = {.kind = MSG_lease_look, .lease_look.lease = *lease};
    if (hold != NULL)
        link_send(h->node->links, &hold->peer, &m); /* if it is lost, it will be asked again */
}

bool hold_tell(const struct holds *h, const void *owner, unsigned nth,
               struct msg_local_lease *lease)
{
    for (size_t i = 0; i < h->count; i++) {
        const struct hold *hold = &h->at[i];
        if (hold->owner != owner || nth-- > 0)
            continue;
        lease->lease = hold->lease;
        lease->peer = hold->peer;
        lease->slots = hold->slots;
        lease->foreign = hold->foreign;
        memcpy(lease->name, hold->name, sizeof lease->name);
        memcpy(lease->site, hold->site, sizeof lease->site);
        return true;
    }
    return false;
}

void holds_find_owner(struct holds *h, hold_owner_fn *find_owner, void *ctx)
{
    h->find_owner = find_owner;
    h->ctx = ctx;
}

void hold_room(const struct holds *h, const struct id *reservation, const struct id *peer,
               uint16_t *slots, uint16_t *left)
{
    const void *owner = h->find_owner(h->ctx, reservation);
    unsigned all = 0, taken = 0;
    for (size_t i = 0; i < h->count; i++) {
        const struct hold *hold = &h->at[i];
        if (!id_equal(&hold->peer.id, peer))
            continue;
        if (hold->owner == owner)
            all += hold->slots;
        else if (id_equal(&hold->within, reservation))
            taken += hold->slots;
    }
    *slots = (uint16_t)all;
    *left = (uint16_t)(taken < all ? all - taken : 0);
}

unsigned hold_used(const struct holds *h, const struct id *reservation)
{
    unsigned used = 0;
    for (size_t i = 0; i < h->count; i++)
        used += id_equal(&h->at[i].within, reservation) ? h->at[i].slots : 0;
    return used;
}

void hold_peers(const struct holds *h, const struct id *reservation,
                void (*each)(void *ctx, const struct part_peer *peer), void *ctx)
{
    const void *owner = h->find_owner(h->ctx, reservation);
    for (size_t i = 0; i < h->count; i++)
        if (h->at[i].owner == owner)
            each(ctx, &h->at[i].peer);
}

void hold_release(struct holds *h, const void *owner, const struct id *lease)
{
    struct hold *hold = find(h, owner, lease);
    if (hold == NULL)
        return; /* it has ended already */
    send_release(h, &hold->peer, lease);
    drop(h, hold);
}

void hold_release_all(struct holds *h, const void *owner)
{
    for (size_t i = 0; i < h->count;) {
        if (h->at[i].owner != owner) {
            i++;
            continue;
        }
        send_release(h, &h->at[i].peer, &h->at[i].lease);
        drop(h, &h->at[i]);
    }
}
