/* SPDX-License-Identifier: BSD-3-Clause */
/* fate_words.c -- losses and the end of a job as lines for a person. */
#include "fate_state.h"
#include "line.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

static void line_add_loss(struct line *l, const struct fate_replica *r)
{
    switch (r->cause) {
    case FATE_HOST_LOST:
        line_add(l, "%s was lost", r->peer);
        break;
    case FATE_HOST_SILENT:
        line_add(l, "%s fell silent", r->peer);
        break;
    case FATE_HOST_ENDED:
        if (r->why != NULL)
            line_add(l, "%s,", r->why);
        else
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
    struct line l = line_begin(text, size);
    const char *between = ": ";
    line_add(&l, "every replica of rank %u is gone, the job ends", f->lost_rank);
    for (unsigned order = 1; order <= f->losses; order++)
        for (unsigned lane = 0; lane < f->lanes; lane++) {
            const struct fate_replica *r = fate_at(f, f->lost_rank, lane);
            if (r->state != FATE_LOST || r->order != order)
                continue;
            line_add(&l, "%slane %u ", between, lane);
            line_add_loss(&l, r);
            between = "; ";
        }
}

/* ---- losses that the job survives ---- */

static bool takes_its_desktop(const struct fate_replica *r)
{
    switch (r->cause) {
    case FATE_HOST_LOST:
    case FATE_HOST_SILENT:
    case FATE_HOST_ENDED:
    case FATE_HOST_LEFT:
    case FATE_ORTED_SILENT:
        return true;
    case FATE_SIGNAL:
    case FATE_STATUS:
    case FATE_NO_FINALIZE:
    case FATE_NO_START:
        break;
    }
    return false;
}

/* On a desktop that is switched off processes are killed first: that is told of the desktop. */
static bool goes_with(const struct fate_replica *r, const struct fate_replica *head)
{
    if (!r->untold || strcmp(r->peer, head->peer) != 0)
        return false;
    if (takes_its_desktop(head))
        return takes_its_desktop(r) ||
               (r->cause == FATE_SIGNAL && (r->value == SIGKILL || r->value == SIGTERM));
    return r == head ||
           (head->cause == FATE_NO_START && r->cause == head->cause && r->value == head->value);
}

/* The first loss that was not told; NULL: none. of: of this one's desktop, which it has taken along
 * with it. */
static const struct fate_replica *first_untold(const struct fate *f, const struct fate_replica *of)
{
    const struct fate_replica *first = NULL;
    for (size_t i = 0; i < (size_t)f->ranks * f->lanes; i++) {
        const struct fate_replica *r = &f->replica[i];
        if (r->untold && (first == NULL || r->order < first->order) &&
            (of == NULL || (strcmp(r->peer, of->peer) == 0 && takes_its_desktop(r))))
            first = r;
    }
    return first;
}

static unsigned count_with(const struct fate *f, const struct fate_replica *head)
{
    unsigned n = 0;
    for (size_t i = 0; i < (size_t)f->ranks * f->lanes; i++)
        n += goes_with(&f->replica[i], head);
    return n;
}

/* Of those that go with the head: the row of ranks that were in the lane of the first one and fare
 * as it does. Returns how many these are. */
static unsigned take_row(struct fate *f, const struct fate_replica *head, unsigned *lane,
                         unsigned *rank)
{
    size_t i = 0;
    unsigned n = 0;
    while (!goes_with(&f->replica[i], head))
        i++;
    *lane = (unsigned)(i / f->ranks);
    *rank = (unsigned)(i % f->ranks);
    for (unsigned k = 0; k < f->ranks; k++) {
        const struct fate_replica *r = fate_at(f, k, *lane);
        f->row[k] = goes_with(r, head) && fate_leader(f, k) == fate_leader(f, *rank) &&
                    fate_living_replicas(f, k) == fate_living_replicas(f, *rank);
        n += f->row[k];
    }
    return n;
}

static void line_add_row(struct line *l, const struct fate *f, unsigned n, unsigned lane,
                         unsigned rank)
{
    enum { RANGES = 8 };
    const unsigned left = fate_living_replicas(f, rank);
    line_add(l, n == 1 ? "rank " : "ranks ");
    line_add_ranges(l, f->row, f->ranks, RANGES);
    line_add(l, " of lane %u ", lane);
    if (left > 0)
        line_add(l, "%s on in lane %u, %u left", n == 1 ? "goes" : "go", fate_leader(f, rank),
                 left);
    else
        line_add(l, "%s finished in another", n == 1 ? "has" : "have");
}

static void line_add_desktop(struct line *l, struct fate *f, const struct fate_replica *head)
{
    enum { ROWS = 4 };
    unsigned all = count_with(f, head), told = 0;
    const char *between = ": ";
    line_add_loss(l, head);
    struct fate_replica as_head = *head; /* it is told, too, on the way */
    as_head.untold = false;
    for (unsigned rows = 0; all > 0; rows++, all -= told) {
        unsigned lane, rank;
        told = take_row(f, &as_head, &lane, &rank);
        for (unsigned k = 0; k < f->ranks; k++)
            if (f->row[k])
                f->replica[(size_t)lane * f->ranks + k].untold = false;
        if (rows < ROWS) {
            line_add(l, "%s", between);
            line_add_row(l, f, told, lane, rank);
            between = "; ";
        } else if (rows == ROWS) {
            line_add(l, "; and %u more processes", all);
        }
    }
}

static void line_add_process(struct line *l, struct fate *f, const struct fate_replica *r)
{
    const size_t i = (size_t)(r - f->replica);
    const unsigned rank = (unsigned)(i % f->ranks), left = fate_living_replicas(f, rank);
    line_add(l, "rank %u, lane %u: ", rank, (unsigned)(i / f->ranks));
    line_add_loss(l, r);
    if (left > 0)
        line_add(l, "; it goes on in lane %u, %u left", fate_leader(f, rank), left);
    f->replica[i].untold = false;
}

bool fate_next_note(struct fate *f, char *text, size_t size)
{
    struct line l = line_begin(text, size);
    const struct fate_replica *first = first_untold(f, NULL);
    if (first == NULL || f->verdict == FATE_FAILED)
        return false;
    const struct fate_replica *desktop = first_untold(f, first);
    if (desktop != NULL && goes_with(first, desktop))
        line_add_desktop(&l, f, desktop);
    else if (count_with(f, first) > 1)
        line_add_desktop(&l, f, first);
    else
        line_add_process(&l, f, first);
    return true;
}

/* Losses of this peer, if this is the first of them in the order of the processes; else 0. */
static unsigned losses_of_peer(const struct fate *f, size_t first)
{
    const size_t all = (size_t)f->ranks * f->lanes;
    unsigned n = 0;
    for (size_t i = 0; i < all; i++) {
        if (f->replica[i].state != FATE_LOST ||
            strcmp(f->replica[i].peer, f->replica[first].peer) != 0)
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
        n += f->replica[i].state != FATE_HOLE;
    return n;
}

bool fate_summary(const struct fate *f, uint64_t now_ms, char *text, size_t size)
{
    struct line l = line_begin(text, size);
    const char *between = ": ";
    if (f->verdict != FATE_DONE || f->losses == 0)
        return false;
    line_add(&l, "done after %.2f s, although %u of %u processes %s lost",
             (double)(now_ms - f->start_ms) / 1000, f->losses, fate_started(f),
             f->losses == 1 ? "was" : "were");
    for (size_t i = 0; i < (size_t)f->ranks * f->lanes; i++) {
        const unsigned n = f->replica[i].state == FATE_LOST ? losses_of_peer(f, i) : 0;
        if (n > 0) {
            line_add(&l, "%s%u on %s", between, n, f->replica[i].peer);
            between = ", ";
        }
    }
    return true;
}
