/* SPDX-License-Identifier: BSD-3-Clause */
/* fate.c -- counts replicas down, and says what a person must know when none is left. */
#include "fate.h"
#include "placed.h"
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { LIVING, FINISHED, LOST, HOLE };

struct replica {
    enum state state;
    enum fate_cause cause;
    int value;
    unsigned order; /* of its loss, from 1 */
    uint64_t after_ms;
    char peer[FATE_PEER + 1];
};

struct fate {
    unsigned ranks, lanes;
    unsigned losses, finished; /* replicas lost so far; ranks finished */
    unsigned lost_rank;        /* when the job has failed */
    enum fate_verdict verdict;
    uint64_t start_ms;
    struct replica replica[]; /* [lane * ranks + rank] */
};

struct fate *fate_new(unsigned ranks, unsigned lanes, uint64_t start_ms)
{
    assert(ranks > 0 && lanes > 0);
    struct fate *f = calloc(1, sizeof *f + (size_t)ranks * lanes * sizeof f->replica[0]);
    if (f == NULL)
        return NULL;
    f->ranks = ranks;
    f->lanes = lanes;
    f->start_ms = start_ms;
    return f;
}

void fate_free(struct fate *f)
{
    free(f);
}

static const struct replica *fate_at(const struct fate *f, unsigned rank, unsigned lane)
{
    assert(rank < f->ranks && lane < f->lanes);
    return &f->replica[(size_t)lane * f->ranks + rank];
}

static struct replica *fate_at_for_change(struct fate *f, unsigned rank, unsigned lane)
{
    return (struct replica *)fate_at(f, rank, lane);
}

void fate_hole(struct fate *f, unsigned rank, unsigned lane)
{
    fate_at_for_change(f, rank, lane)->state = HOLE;
}

bool fate_living(const struct fate *f, unsigned rank, unsigned lane)
{
    return fate_at(f, rank, lane)->state == LIVING;
}

bool fate_finished(const struct fate *f, unsigned rank)
{
    for (unsigned lane = 0; lane < f->lanes; lane++)
        if (fate_at(f, rank, lane)->state == FINISHED)
            return true;
    return false;
}

bool fate_settled(const struct fate *f)
{
    for (size_t i = 0; i < (size_t)f->ranks * f->lanes; i++)
        if (f->replica[i].state == LIVING)
            return false;
    return true;
}

/* Lanes that talk go in step, so a slow one is behind by a part of the time at most. */
uint64_t fate_grace_of(uint64_t took_ms)
{
    enum { LEAST_MS = 2000, MOST_MS = 60000, SHARE = 10 };
    uint64_t part = took_ms / SHARE;
    return part < LEAST_MS ? LEAST_MS : part > MOST_MS ? MOST_MS : part;
}

uint64_t fate_grace(const struct fate *f, uint64_t now_ms)
{
    return fate_grace_of(now_ms > f->start_ms ? now_ms - f->start_ms : 0);
}

unsigned fate_leader(const struct fate *f, unsigned rank)
{
    unsigned lane = 0;
    while (lane < f->lanes && !fate_living(f, rank, lane))
        lane++;
    return lane;
}

unsigned fate_living_replicas(const struct fate *f, unsigned rank)
{
    unsigned n = 0;
    for (unsigned lane = 0; lane < f->lanes; lane++)
        n += fate_living(f, rank, lane);
    return n;
}

bool fate_spares(const struct fate *f, unsigned rank, unsigned lane)
{
    const unsigned others = fate_living_replicas(f, rank) - fate_living(f, rank, lane);
    return others > 0 || fate_finished(f, rank);
}

enum fate_verdict fate_verdict(const struct fate *f)
{
    return f->verdict;
}

enum fate_verdict fate_finish(struct fate *f, unsigned rank, unsigned lane)
{
    struct replica *r = fate_at_for_change(f, rank, lane);
    if (r->state != LIVING)
        return f->verdict;
    f->finished += !fate_finished(f, rank);
    r->state = FINISHED;
    if (f->finished == f->ranks && f->verdict == FATE_ON)
        f->verdict = FATE_DONE;
    return f->verdict;
}

enum fate_verdict fate_lose(struct fate *f, unsigned rank, unsigned lane,
                            const struct fate_loss *loss)
{
    struct replica *r = fate_at_for_change(f, rank, lane);
    if (r->state != LIVING)
        return f->verdict;
    r->state = LOST;
    r->cause = loss->cause;
    r->value = loss->value;
    r->order = ++f->losses;
    r->after_ms = loss->at_ms > f->start_ms ? loss->at_ms - f->start_ms : 0;
    snprintf(r->peer, sizeof r->peer, "%s", loss->peer != NULL ? loss->peer : "?");
    if (f->verdict == FATE_ON && fate_leader(f, rank) == f->lanes && !fate_finished(f, rank)) {
        f->verdict = FATE_FAILED;
        f->lost_rank = rank;
    }
    return f->verdict;
}

/* An exit status that a process itself has given tells more than a signal, and that more than a
 * lost host. */
static int cause_weight(const struct replica *r)
{
    switch (r->cause) {
    case FATE_STATUS:
    case FATE_NO_FINALIZE:
        return 3;
    case FATE_SIGNAL:
        return 2;
    case FATE_NO_START:
    case FATE_HOST_LOST:
    case FATE_HOST_SILENT:
    case FATE_ORTED_SILENT:
    case FATE_HOST_ENDED:
    case FATE_HOST_LEFT:
        break;
    }
    return 1;
}

int fate_status(const struct fate *f)
{
    if (f->verdict != FATE_FAILED)
        return 0;
    const struct replica *told = NULL;
    for (unsigned lane = 0; lane < f->lanes; lane++) {
        const struct replica *r = fate_at(f, f->lost_rank, lane);
        if (r->state != LOST)
            continue;
        if (told == NULL || cause_weight(r) > cause_weight(told) ||
            (cause_weight(r) == cause_weight(told) && r->order < told->order))
            told = r;
    }
    assert(told != NULL);
    if (cause_weight(told) == 3)
        return told->value != 0 ? told->value : 1;
    return cause_weight(told) == 2 ? 128 + told->value : 1;
}

/* A bounded text that is written piece by piece. */
struct line {
    char *text;
    size_t size, used;
};

static void __attribute__((format(printf, 2, 3))) line_add(struct line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(l->text + l->used, l->size - l->used, format, args);
    va_end(args);
    if (n > 0)
        l->used = (size_t)n < l->size - l->used ? l->used + (size_t)n : l->size - 1;
}

static void line_add_loss(struct line *l, const struct replica *r)
{
    switch (r->cause) {
    case FATE_HOST_LOST:
        line_add(l, "%s was lost", r->peer);
        break;
    case FATE_HOST_SILENT:
        line_add(l, "%s fell silent", r->peer);
        break;
    case FATE_HOST_ENDED:
        line_add(l, "%s ended it", r->peer);
        break;
    case FATE_HOST_LEFT:
        line_add(l, "%s left", r->peer);
        break;
    case FATE_ORTED_SILENT:
        line_add(l, "orted on %s fell silent", r->peer);
        break;
    case FATE_SIGNAL:
        line_add(l, "killed by signal %d (%s) on %s", r->value, strsignal(r->value), r->peer);
        break;
    case FATE_STATUS:
        line_add(l, "exited with status %d on %s", r->value, r->peer);
        break;
    case FATE_NO_FINALIZE:
        line_add(l, "exited without MPI_Finalize on %s", r->peer);
        break;
    case FATE_NO_START:
        line_add(l, "could not be started on %s", r->peer);
        if (r->value == EACCES) /* ORTE does not say which */
            line_add(l, " (no such program there, or it may not be executed)");
        else if (r->value != 0)
            line_add(l, " (%s)", strerror(r->value));
        break;
    }
    line_add(l, " after %.2f s", (double)r->after_ms / 1000);
}

void fate_line(const struct fate *f, char *text, size_t size)
{
    struct line l = {text, size, 0};
    const char *between = ": ";
    text[0] = '\0';
    line_add(&l, "every replica of rank %u is gone, the job ends", f->lost_rank);
    for (unsigned order = 1; order <= f->losses; order++)
        for (unsigned lane = 0; lane < f->lanes; lane++) {
            const struct replica *r = fate_at(f, f->lost_rank, lane);
            if (r->state != LOST || r->order != order)
                continue;
            line_add(&l, "%slane %u ", between, lane);
            line_add_loss(&l, r);
            between = "; ";
        }
}

void fate_note(const struct fate *f, unsigned rank, unsigned lane, char *text, size_t size)
{
    struct line l = {text, size, 0};
    unsigned left = fate_living_replicas(f, rank);
    text[0] = '\0';
    line_add(&l, "rank %u, lane %u: ", rank, lane);
    line_add_loss(&l, fate_at(f, rank, lane));
    if (left > 0)
        line_add(&l, "; it goes on in lane %u, %u left%s", fate_leader(f, rank), left,
                 f->losses == 1 ? " (" PLACED_LANE ")" : "");
}

/* Losses of this peer, if this is the first of them in the order of the processes; else 0. */
static unsigned losses_of_peer(const struct fate *f, size_t first)
{
    const size_t all = (size_t)f->ranks * f->lanes;
    unsigned n = 0;
    for (size_t i = 0; i < all; i++) {
        if (f->replica[i].state != LOST || strcmp(f->replica[i].peer, f->replica[first].peer) != 0)
            continue;
        if (i < first)
            return 0;
        n++;
    }
    return n;
}

static unsigned fate_started(const struct fate *f)
{
    unsigned n = 0;
    for (size_t i = 0; i < (size_t)f->ranks * f->lanes; i++)
        n += f->replica[i].state != HOLE;
    return n;
}

bool fate_summary(const struct fate *f, uint64_t now_ms, char *text, size_t size)
{
    struct line l = {text, size, 0};
    const char *between = ": ";
    text[0] = '\0';
    if (f->verdict != FATE_DONE || f->losses == 0)
        return false;
    line_add(&l, "done after %.2f s, although %u of %u processes %s lost",
             (double)(now_ms - f->start_ms) / 1000, f->losses, fate_started(f),
             f->losses == 1 ? "was" : "were");
    for (size_t i = 0; i < (size_t)f->ranks * f->lanes; i++) {
        const unsigned n = f->replica[i].state == LOST ? losses_of_peer(f, i) : 0;
        if (n > 0) {
            line_add(&l, "%s%u on %s", between, n, f->replica[i].peer);
            between = ", ";
        }
    }
    return true;
}
