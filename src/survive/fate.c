/* SPDX-License-Identifier: BSD-3-Clause */
/* fate.c -- counts replicas down. */
#include "fate_state.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fate *fate_new(unsigned ranks, unsigned lanes, uint64_t start_ms)
{
    assert(ranks > 0 && lanes > 0);
    struct fate *f = calloc(1, sizeof *f + (size_t)ranks * lanes * sizeof f->replica[0]);
    if (f == NULL)
        return NULL;
    f->ranks = ranks;
    f->lanes = lanes;
    f->start_ms = start_ms;
    f->row = calloc(ranks, sizeof *f->row);
    if (f->row == NULL) {
        free(f);
        return NULL;
    }
    return f;
}

void fate_free(struct fate *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; i < (size_t)f->ranks * f->lanes; i++)
        free(f->replica[i].why);
    free(f->row);
    free(f);
}

const struct fate_replica *fate_at(const struct fate *f, unsigned rank, unsigned lane)
{
    assert(rank < f->ranks && lane < f->lanes);
    return &f->replica[(size_t)lane * f->ranks + rank];
}

static struct fate_replica *fate_at_for_change(struct fate *f, unsigned rank, unsigned lane)
{
    return (struct fate_replica *)fate_at(f, rank, lane);
}

void fate_hole(struct fate *f, unsigned rank, unsigned lane)
{
    fate_at_for_change(f, rank, lane)->state = FATE_HOLE;
}

bool fate_living(const struct fate *f, unsigned rank, unsigned lane)
{
    return fate_at(f, rank, lane)->state == FATE_LIVING;
}

bool fate_finished_in(const struct fate *f, unsigned rank, unsigned lane)
{
    return fate_at(f, rank, lane)->state == FATE_FINISHED;
}

bool fate_finished(const struct fate *f, unsigned rank)
{
    for (unsigned lane = 0; lane < f->lanes; lane++)
        if (fate_finished_in(f, rank, lane))
            return true;
    return false;
}

bool fate_settled(const struct fate *f)
{
    for (size_t i = 0; i < (size_t)f->ranks * f->lanes; i++)
        if (f->replica[i].state == FATE_LIVING)
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
    struct fate_replica *r = fate_at_for_change(f, rank, lane);
    if (r->state != FATE_LIVING)
        return f->verdict;
    f->finished += !fate_finished(f, rank);
    r->state = FATE_FINISHED;
    if (f->finished == f->ranks && f->verdict == FATE_ON)
        f->verdict = FATE_DONE;
    return f->verdict;
}

enum fate_verdict fate_lose(struct fate *f, unsigned rank, unsigned lane,
                            const struct fate_loss *loss)
{
    struct fate_replica *r = fate_at_for_change(f, rank, lane);
    if (r->state != FATE_LIVING)
        return f->verdict;
    r->state = FATE_LOST;
    r->cause = loss->cause;
    r->value = loss->value;
    r->order = ++f->losses;
    r->after_ms = loss->at_ms > f->start_ms ? loss->at_ms - f->start_ms : 0;
    r->untold = f->verdict == FATE_ON;
    if (loss->cause == FATE_HOST_ENDED && loss->why != NULL)
        r->why = strdup(loss->why);
    snprintf(r->peer, sizeof r->peer, "%s", loss->peer != NULL ? loss->peer : "?");
    if (f->verdict == FATE_ON && fate_leader(f, rank) == f->lanes && !fate_finished(f, rank)) {
        f->verdict = FATE_FAILED;
        f->lost_rank = rank;
    }
    return f->verdict;
}

/* An exit status that a process itself has given tells more than a signal, and that more than a
 * lost host. */
static int cause_weight(const struct fate_replica *r)
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
    const struct fate_replica *told = NULL;
    for (unsigned lane = 0; lane < f->lanes; lane++) {
        const struct fate_replica *r = fate_at(f, f->lost_rank, lane);
        if (r->state != FATE_LOST)
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
