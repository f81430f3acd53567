/* SPDX-License-Identifier: BSD-3-Clause */
/* seats.c -- starts, time-outs and replacements, one action at a time. */
#include "seats.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum seat_state {
    SEAT_NEW,      /* has a lease on which nothing was started */
    SEAT_STARTING, /* orted was asked for */
    SEAT_REPORTED, /* orted phoned home */
    SEAT_EMPTY,    /* its lease was lost */
};

struct seat {
    struct grid_lease lease;
    enum seat_state state;
    bool announced; /* the caller knows that the lease is a new one */
    bool added;     /* ... that the seat exists */
    bool refused;   /* the grid has nothing to replace it with */
    int64_t started_ms;
    char why[GRID_LINE + 1]; /* why its last lease was lost */
};

struct seats {
    int timeout_ms;
    struct seat *seat;
    unsigned count;
    struct grid_lease *spare;
    unsigned spares;
    struct id *release; /* leases to give back */
    size_t releases;
    struct id *failed; /* peers that let the job down */
    size_t failures;
    bool asking;
    unsigned asking_for; /* the seat */
    bool gave_up;
    char refusal[GRID_LINE + 1];
};

struct seats *seats_new(int timeout_ms)
{
    struct seats *s = calloc(1, sizeof *s);
    if (s != NULL)
        s->timeout_ms = timeout_ms;
    return s;
}

void seats_free(struct seats *s)
{
    if (s != NULL) {
        free(s->seat);
        free(s->spare);
        free(s->release);
        free(s->failed);
        free(s);
    }
}

/* One more element at the end of a list, zeroed; NULL when memory is out. */
static void *grow(void **list, size_t count, size_t size)
{
    char *more = realloc(*list, (count + 1) * size);
    if (more == NULL)
        return NULL;
    *list = more;
    return memset(more + count * size, 0, size);
}

static struct seat *new_seat(struct seats *s, const struct grid_lease *lease)
{
    struct seat *seat = grow((void **)&s->seat, s->count, sizeof *seat);
    if (seat != NULL) {
        seat->lease = *lease;
        s->count++;
    }
    return seat;
}

int seats_add(struct seats *s, const struct grid_lease *lease, unsigned *number)
{
    struct seat *seat = new_seat(s, lease);
    if (seat == NULL)
        return -ENOMEM;
    seat->announced = seat->added = true;
    *number = s->count - 1;
    return 0;
}

int seats_add_spare(struct seats *s, const struct grid_lease *lease)
{
    struct grid_lease *spare = grow((void **)&s->spare, s->spares, sizeof *spare);
    if (spare == NULL)
        return -ENOMEM;
    *spare = *lease;
    s->spares++;
    return 0;
}

static void remove_spare(struct seats *s, unsigned i)
{
    s->spares--;
    memmove(s->spare + i, s->spare + i + 1, (s->spares - i) * sizeof s->spare[0]);
}

bool seats_take_spare(struct seats *s, struct grid_lease *lease)
{
    if (s->spares == 0)
        return false;
    *lease = s->spare[0];
    remove_spare(s, 0);
    return true;
}

unsigned seats_count(const struct seats *s)
{
    return s->count;
}

unsigned seats_spares(const struct seats *s)
{
    return s->spares;
}

const struct grid_lease *seats_lease(const struct seats *s, unsigned seat)
{
    assert(seat < s->count);
    return &s->seat[seat].lease;
}

bool seats_find(const struct seats *s, const struct id *lease, unsigned *seat)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->seat[i].state != SEAT_EMPTY && id_equal(&s->seat[i].lease.id, lease)) {
            *seat = i;
            return true;
        }
    }
    return false;
}

bool seats_is_empty(const struct seats *s, unsigned seat)
{
    assert(seat < s->count);
    return s->seat[seat].state == SEAT_EMPTY;
}

bool seats_all_reported(const struct seats *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->seat[i].state != SEAT_REPORTED)
            return false;
    return true;
}

const struct id *seats_failed(const struct seats *s, size_t *count)
{
    *count = s->failures;
    return s->failed;
}

/* Out of memory costs the mark and no more: the peer may be asked again, the lease ends with the
 * job. */
static void note(struct id **list, size_t *count, const struct id *id)
{
    struct id *more = grow((void **)list, *count, sizeof *more);
    if (more != NULL) {
        *more = *id;
        (*count)++;
    }
}

/* A second report of one lease, or one of a lease that was given up, is no news. */
void seats_launched(struct seats *s, const struct id *lease)
{
    unsigned i;
    if (seats_find(s, lease, &i) && s->seat[i].state == SEAT_STARTING)
        snprintf(s->seat[i].why, sizeof s->seat[i].why, "its orted runs but does not report");
}

void seats_reported(struct seats *s, unsigned seat)
{
    assert(seat < s->count);
    if (s->seat[seat].state == SEAT_STARTING)
        s->seat[seat].state = SEAT_REPORTED;
}

static void vacate(struct seats *s, struct seat *seat, bool held, const char *why)
{
    note(&s->failed, &s->failures, &seat->lease.peer);
    if (held)
        note(&s->release, &s->releases, &seat->lease.id);
    seat->state = SEAT_EMPTY;
    if (why != seat->why)
        snprintf(seat->why, sizeof seat->why, "%s", why);
}

void seats_lost(struct seats *s, const struct id *lease, bool held, const char *why)
{
    unsigned i;
    if (seats_find(s, lease, &i)) {
        vacate(s, &s->seat[i], held, why);
        return;
    }
    for (i = 0; i < s->spares; i++) {
        if (id_equal(&s->spare[i].id, lease)) {
            remove_spare(s, i);
            return;
        }
    }
}

static bool is_late(const struct seats *s, const struct seat *seat, int64_t now_ms)
{
    return seat->state == SEAT_STARTING && now_ms - seat->started_ms >= s->timeout_ms;
}

/* Puts a lease onto a seat whose old one, if there still is one, goes back. */
static void reseat(struct seats *s, struct seat *seat, const struct grid_lease *lease)
{
    if (seat->state == SEAT_STARTING)
        vacate(s, seat, true, seat->why);
    seat->lease = *lease;
    seat->state = SEAT_NEW;
    seat->announced = false;
    seat->refused = false;
}

void seats_granted(struct seats *s, const struct grid_lease *leases, size_t count)
{
    assert(s->asking);
    s->asking = false;
    const unsigned i = s->asking_for;
    /* The slow orted may have come after all: then the leases are not needed. */
    const bool needed = s->seat[i].state == SEAT_STARTING || s->seat[i].state == SEAT_EMPTY;
    for (size_t k = 0; k < count; k++)
        if (!needed)
            note(&s->release, &s->releases, &leases[k].id);
        else if (k == 0)
            reseat(s, &s->seat[i], &leases[k]);
        else if (new_seat(s, &leases[k]) == NULL)
            note(&s->release, &s->releases, &leases[k].id);
}

void seats_refused(struct seats *s, const char *why)
{
    assert(s->asking);
    s->asking = false;
    s->seat[s->asking_for].refused = true;
    snprintf(s->refusal, sizeof s->refusal, "%s", why);
}

/* Tells the caller what it does not know yet about a seat, one step at a time. */
static bool tell(struct seat *seat, unsigned number, int64_t now_ms, struct seats_action *action)
{
    action->seat = number;
    if (seat->state != SEAT_NEW)
        return false;
    if (!seat->added) {
        seat->added = seat->announced = true;
        action->kind = SEATS_ADD;
    } else if (!seat->announced) {
        seat->announced = true;
        action->kind = SEATS_RESEAT;
    } else {
        seat->state = SEAT_STARTING;
        seat->started_ms = now_ms;
        snprintf(seat->why, sizeof seat->why, "its daemon does not answer");
        action->kind = SEATS_START;
    }
    return true;
}

static bool take_fitting_spare(struct seats *s, struct seat *seat)
{
    for (unsigned i = 0; i < s->spares; i++) {
        if (s->spare[i].slots >= seat->lease.slots) {
            const struct grid_lease lease = s->spare[i];
            remove_spare(s, i);
            reseat(s, seat, &lease);
            return true;
        }
    }
    return false;
}

static bool give_up(struct seats *s, const struct seat *seat, struct seats_action *action)
{
    s->gave_up = true;
    action->kind = SEATS_GIVE_UP;
    snprintf(action->text, sizeof action->text,
             "peer %.63s cannot take part: %.180s; nobody takes "
             "its place: %.180s",
             seat->lease.name, seat->why, s->refusal);
    return true;
}

/* Replaces who failed; for who is merely slow, tries to. */
static bool mend(struct seats *s, struct seat *seat, unsigned number, int64_t now_ms,
                 struct seats_action *action)
{
    const bool late = is_late(s, seat, now_ms);
    if (seat->state != SEAT_EMPTY && !late)
        return false;
    if (take_fitting_spare(s, seat))
        return tell(seat, number, now_ms, action);
    if (!seat->refused && !s->asking) {
        s->asking = true;
        s->asking_for = number;
        action->kind = SEATS_ASK;
        action->slots = seat->lease.slots;
        return true;
    }
    const bool patience =
        late && now_ms - seat->started_ms < (int64_t)s->timeout_ms * SEATS_PATIENCE;
    return seat->refused && !patience && give_up(s, seat, action);
}

bool seats_next(struct seats *s, int64_t now_ms, struct seats_action *action)
{
    *action = (struct seats_action){0};
    if (s->gave_up)
        return false;
    if (s->releases > 0) {
        action->kind = SEATS_RELEASE;
        action->lease = s->release[--s->releases];
        return true;
    }
    for (unsigned i = 0; i < s->count; i++)
        if (tell(&s->seat[i], i, now_ms, action) || mend(s, &s->seat[i], i, now_ms, action))
            return true;
    return false;
}

int64_t seats_deadline(const struct seats *s)
{
    int64_t soonest = INT64_MAX;
    for (unsigned i = 0; i < s->count && !s->gave_up; i++) {
        const struct seat *seat = &s->seat[i];
        /* While a question is on its way, its answer is what changes something. */
        if (seat->state == SEAT_STARTING && (seat->refused || !s->asking)) {
            const int64_t patience = seat->refused ? SEATS_PATIENCE : 1;
            const int64_t due = seat->started_ms + patience * s->timeout_ms;
            soonest = due < soonest ? due : soonest;
        }
    }
    return soonest;
}
