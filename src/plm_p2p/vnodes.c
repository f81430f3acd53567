/* SPDX-License-Identifier: BSD-3-Clause */
/* vnodes.c -- starts, time-outs and replacements, one action at a time. */
#include "vnodes.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum vnode_state {
    VNODE_NEW,      /* has a lease on which nothing was started */
    VNODE_STARTING, /* orted was asked for */
    VNODE_REPORTED, /* orted phoned home */
    VNODE_EMPTY,    /* its lease was lost */
};

struct vnode {
    struct grid_lease lease;
    enum vnode_state state;
    bool announced; /* the caller knows that the lease is a new one */
    bool added;     /* ... that the vnode exists */
    bool refused;   /* the grid has nothing to replace it with */
    bool launched;  /* its peer has said so */
    int64_t started_ms;
    char why[GRID_LINE + 1]; /* why its last lease was lost */
};

struct vnodes {
    int timeout_ms;
    struct vnode *vnode;
    unsigned count;
    struct grid_lease *spare;
    unsigned spares;
    struct id *release; /* leases to give back */
    size_t releases;
    struct id *failed; /* peers that let the job down */
    size_t failures;
    bool asking;
    unsigned asking_for; /* the vnode */
    bool gave_up;
    char refusal[GRID_LINE + 1];
};

struct vnodes *vnodes_new(int timeout_ms)
{
    struct vnodes *s = calloc(1, sizeof *s);
    if (s != NULL)
        s->timeout_ms = timeout_ms;
    return s;
}

void vnodes_free(struct vnodes *s)
{
    if (s != NULL) {
        free(s->vnode);
        free(s->spare);
        free(s->release);
        free(s->failed);
        free(s);
    }
}

/* One more element at the end of a list, zeroed; NULL when memory is out. */
static void *list_grow(void **list, size_t count, size_t size)
{
    char *more = realloc(*list, (count + 1) * size);
    if (more == NULL)
        return NULL;
    *list = more;
    return memset(more + count * size, 0, size);
}

static struct vnode *vnode_new(struct vnodes *s, const struct grid_lease *lease)
{
    struct vnode *vnode = list_grow((void **)&s->vnode, s->count, sizeof *vnode);
    if (vnode != NULL) {
        vnode->lease = *lease;
        s->count++;
    }
    return vnode;
}

int vnodes_add(struct vnodes *s, const struct grid_lease *lease, unsigned *number)
{
    struct vnode *vnode = vnode_new(s, lease);
    if (vnode == NULL)
        return -ENOMEM;
    vnode->announced = vnode->added = true;
    *number = s->count - 1;
    return 0;
}

int vnodes_add_spare(struct vnodes *s, const struct grid_lease *lease)
{
    struct grid_lease *spare = list_grow((void **)&s->spare, s->spares, sizeof *spare);
    if (spare == NULL)
        return -ENOMEM;
    *spare = *lease;
    s->spares++;
    return 0;
}

static void remove_spare(struct vnodes *s, unsigned i)
{
    s->spares--;
    memmove(s->spare + i, s->spare + i + 1, (s->spares - i) * sizeof s->spare[0]);
}

bool vnodes_take_spare(struct vnodes *s, struct grid_lease *lease)
{
    if (s->spares == 0)
        return false;
    *lease = s->spare[0];
    remove_spare(s, 0);
    return true;
}

unsigned vnodes_count(const struct vnodes *s)
{
    return s->count;
}

const struct grid_lease *vnodes_lease(const struct vnodes *s, unsigned vnode)
{
    assert(vnode < s->count);
    return &s->vnode[vnode].lease;
}

bool vnodes_find(const struct vnodes *s, const struct id *lease, unsigned *vnode)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->vnode[i].state != VNODE_EMPTY && id_equal(&s->vnode[i].lease.id, lease)) {
            *vnode = i;
            return true;
        }
    }
    return false;
}

bool vnodes_is_empty(const struct vnodes *s, unsigned vnode)
{
    assert(vnode < s->count);
    return s->vnode[vnode].state == VNODE_EMPTY;
}

bool vnodes_all_reported(const struct vnodes *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->vnode[i].state != VNODE_REPORTED)
            return false;
    return true;
}

const struct id *vnodes_failed_peers(const struct vnodes *s, size_t *count)
{
    *count = s->failures;
    return s->failed;
}

/* Out of memory costs the mark and no more: the peer may be asked again, the lease ends with the
 * job. */
static void list_note(struct id **list, size_t *count, const struct id *id)
{
    struct id *more = list_grow((void **)list, *count, sizeof *more);
    if (more != NULL) {
        *more = *id;
        (*count)++;
    }
}

/* A second report of one lease, or one of a lease that was given up, is no news. */
void vnodes_launched(struct vnodes *s, const struct id *lease)
{
    unsigned i;
    if (vnodes_find(s, lease, &i) && s->vnode[i].state == VNODE_STARTING) {
        s->vnode[i].launched = true;
        snprintf(s->vnode[i].why, sizeof s->vnode[i].why, "its orted runs but does not report");
    }
}

bool vnodes_is_launching(const struct vnodes *s, unsigned vnode)
{
    assert(vnode < s->count);
    return s->vnode[vnode].state == VNODE_STARTING && !s->vnode[vnode].launched;
}

void vnodes_fetching(struct vnodes *s, const struct id *lease, int64_t now_ms)
{
    unsigned i;
    if (vnodes_find(s, lease, &i) && s->vnode[i].state == VNODE_STARTING) {
        s->vnode[i].started_ms = now_ms;
        snprintf(s->vnode[i].why, sizeof s->vnode[i].why, "the job's files do not come");
    }
}

void vnodes_reported(struct vnodes *s, unsigned vnode)
{
    assert(vnode < s->count);
    if (s->vnode[vnode].state == VNODE_STARTING)
        s->vnode[vnode].state = VNODE_REPORTED;
}

static void vnode_lose_lease(struct vnodes *s, struct vnode *vnode, bool held, const char *why)
{
    list_note(&s->failed, &s->failures, &vnode->lease.peer);
    if (held)
        list_note(&s->release, &s->releases, &vnode->lease.id);
    vnode->state = VNODE_EMPTY;
    if (why != vnode->why)
        snprintf(vnode->why, sizeof vnode->why, "%s", why);
}

void vnodes_lost(struct vnodes *s, const struct id *lease, bool held, const char *why)
{
    unsigned i;
    if (vnodes_find(s, lease, &i)) {
        vnode_lose_lease(s, &s->vnode[i], held, why);
        return;
    }
    for (i = 0; i < s->spares; i++) {
        if (id_equal(&s->spare[i].id, lease)) {
            remove_spare(s, i);
            return;
        }
    }
}

static bool vnode_is_late(const struct vnodes *s, const struct vnode *vnode, int64_t now_ms)
{
    return vnode->state == VNODE_STARTING && now_ms - vnode->started_ms >= s->timeout_ms;
}

/* Gives a vnode another lease; its old one, if there still is one, goes back. */
static void vnode_give_lease(struct vnodes *s, struct vnode *vnode, const struct grid_lease *lease)
{
    if (vnode->state == VNODE_STARTING)
        vnode_lose_lease(s, vnode, true, vnode->why);
    vnode->lease = *lease;
    vnode->state = VNODE_NEW;
    vnode->announced = false;
    vnode->refused = false;
}

void vnodes_granted(struct vnodes *s, const struct grid_lease *leases, size_t count)
{
    assert(s->asking);
    s->asking = false;
    const unsigned i = s->asking_for;
    /* The slow orted may have come after all: then the leases are not needed. */
    const bool needed = s->vnode[i].state == VNODE_STARTING || s->vnode[i].state == VNODE_EMPTY;
    for (size_t k = 0; k < count; k++)
        if (!needed)
            list_note(&s->release, &s->releases, &leases[k].id);
        else if (k == 0)
            vnode_give_lease(s, &s->vnode[i], &leases[k]);
        else if (vnode_new(s, &leases[k]) == NULL)
            list_note(&s->release, &s->releases, &leases[k].id);
}

void vnodes_refused(struct vnodes *s, const char *why)
{
    assert(s->asking);
    s->asking = false;
    s->vnode[s->asking_for].refused = true;
    snprintf(s->refusal, sizeof s->refusal, "%s", why);
}

/* The next step of a vnode that the caller does not know of. */
static bool vnode_announce(struct vnode *vnode, unsigned number, int64_t now_ms,
                           struct vnodes_action *action)
{
    action->vnode = number;
    if (vnode->state != VNODE_NEW)
        return false;
    if (!vnode->added) {
        vnode->added = vnode->announced = true;
        action->kind = VNODES_ADD;
    } else if (!vnode->announced) {
        vnode->announced = true;
        action->kind = VNODES_NEW_LEASE;
    } else {
        vnode->state = VNODE_STARTING;
        vnode->launched = false;
        vnode->started_ms = now_ms;
        snprintf(vnode->why, sizeof vnode->why, "its daemon does not answer");
        action->kind = VNODES_START;
    }
    return true;
}

static bool take_fitting_spare(struct vnodes *s, struct vnode *vnode)
{
    for (unsigned i = 0; i < s->spares; i++) {
        if (s->spare[i].slots >= vnode->lease.slots) {
            const struct grid_lease lease = s->spare[i];
            remove_spare(s, i);
            vnode_give_lease(s, vnode, &lease);
            return true;
        }
    }
    return false;
}

static bool vnodes_give_up(struct vnodes *s, const struct vnode *vnode,
                           struct vnodes_action *action)
{
    s->gave_up = true;
    action->kind = VNODES_GIVE_UP;
    snprintf(action->text, sizeof action->text,
             "peer %.63s cannot take part: %.180s; nobody takes "
             "its place: %.180s",
             vnode->lease.name, vnode->why, s->refusal);
    return true;
}

/* Replaces a peer that failed; tries to replace one that is merely slow. */
static bool vnode_mend(struct vnodes *s, struct vnode *vnode, unsigned number, int64_t now_ms,
                       struct vnodes_action *action)
{
    const bool late = vnode_is_late(s, vnode, now_ms);
    if (vnode->state != VNODE_EMPTY && !late)
        return false;
    if (take_fitting_spare(s, vnode))
        return vnode_announce(vnode, number, now_ms, action);
    if (!vnode->refused && !s->asking) {
        s->asking = true;
        s->asking_for = number;
        action->kind = VNODES_ASK;
        action->slots = vnode->lease.slots;
        return true;
    }
    const bool patience =
        late && now_ms - vnode->started_ms < (int64_t)s->timeout_ms * VNODES_PATIENCE;
    return vnode->refused && !patience && vnodes_give_up(s, vnode, action);
}

bool vnodes_next(struct vnodes *s, int64_t now_ms, struct vnodes_action *action)
{
    *action = (struct vnodes_action){0};
    if (s->gave_up)
        return false;
    if (s->releases > 0) {
        action->kind = VNODES_RELEASE;
        action->lease = s->release[--s->releases];
        return true;
    }
    for (unsigned i = 0; i < s->count; i++)
        if (vnode_announce(&s->vnode[i], i, now_ms, action) ||
            vnode_mend(s, &s->vnode[i], i, now_ms, action))
            return true;
    return false;
}

int64_t vnodes_deadline(const struct vnodes *s)
{
    int64_t soonest = INT64_MAX;
    for (unsigned i = 0; i < s->count && !s->gave_up; i++) {
        const struct vnode *vnode = &s->vnode[i];
        /* While a question is on its way, its answer is what changes something. */
        if (vnode->state == VNODE_STARTING && (vnode->refused || !s->asking)) {
            const int64_t patience = vnode->refused ? VNODES_PATIENCE : 1;
            const int64_t due = vnode->started_ms + patience * s->timeout_ms;
            soonest = due < soonest ? due : soonest;
        }
    }
    return soonest;
}
