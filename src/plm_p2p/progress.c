/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c -- sums over the peers. What a peer had before is no part of the rate. */
#include "progress.h"
#include <stdio.h>
#include <stdlib.h>

static struct progress_peer *progress_find(const struct progress *p, const struct id *lease)
{
    for (size_t i = 0; i < p->count; i++)
        if (id_equal(&p->at[i].lease, lease))
            return &p->at[i];
    return NULL;
}

void progress_note(struct progress *p, const struct id *lease, uint64_t have, uint64_t all,
                   int64_t now_ms)
{
    struct progress_peer *peer = progress_find(p, lease);
    if (peer == NULL) {
        struct progress_peer *more = realloc(p->at, (p->count + 1) * sizeof *more);
        if (more == NULL)
            return; /* a line that is not shown */
        if (p->count == 0)
            p->begun_ms = now_ms;
        p->at = more;
        peer = &more[p->count++];
        *peer = (struct progress_peer){.lease = *lease, .first = have < all ? have : all};
    }
    peer->all = all;
    peer->have = have < all ? have : all;
    if (peer->have < peer->first)
        peer->first = peer->have;
}

void progress_drop(struct progress *p, const struct id *lease)
{
    struct progress_peer *peer = progress_find(p, lease);
    if (peer != NULL)
        *peer = p->at[--p->count];
}

static const char *in_words(uint64_t bytes, char out[16])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    unsigned unit = 0;
    for (; value >= 1000 && unit < 4; unit++)
        value /= 1000;
    snprintf(out, 16, value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return out;
}

bool progress_line(const struct progress *p, int64_t now_ms, char out[PROGRESS_LINE])
{
    uint64_t have = 0, all = 0, came = 0;
    char here[16], whole[16], rate[16];
    const int64_t took_ms = now_ms - p->begun_ms;
    for (size_t i = 0; i < p->count; i++) {
        have += p->at[i].have;
        all += p->at[i].all;
        came += p->at[i].have - p->at[i].first;
    }
    if (p->count == 0 || took_ms < PROGRESS_AFTER_MS || have >= all)
        return false;
    const double bytes_a_second = (double)came * 1000 / (double)took_ms;
    int n = snprintf(out, PROGRESS_LINE, "the job's files go to %zu peer%s: %s of %s", p->count,
                     p->count == 1 ? "" : "s", in_words(have, here), in_words(all, whole));
    if (came > 0)
        snprintf(out + n, PROGRESS_LINE - (size_t)n, ", %s/s, %.0f s left",
                 in_words((uint64_t)bytes_a_second, rate), (double)(all - have) / bytes_a_second);
    return true;
}

bool progress_reading(uint64_t have, uint64_t all, int64_t begun_ms, int64_t now_ms,
                      char out[PROGRESS_LINE])
{
    char here[16], whole[16];
    if (all == 0 || now_ms - begun_ms < PROGRESS_AFTER_MS)
        return false;
    snprintf(out, PROGRESS_LINE, "reads the job's files: %s of %s", in_words(have, here),
             in_words(all, whole));
    return true;
}

bool progress_results(uint64_t have, uint64_t all, int64_t begun_ms, int64_t now_ms,
                      char out[PROGRESS_LINE])
{
    char here[16], whole[16], rate[16];
    const int64_t took_ms = now_ms - begun_ms;
    if (all == 0 || took_ms < PROGRESS_AFTER_MS)
        return false;
    int n = snprintf(out, PROGRESS_LINE, "results come: %s of %s", in_words(have, here),
                     in_words(all, whole));
    const double bytes_a_second = (double)have * 1000 / (double)took_ms;
    if (have > 0 && have <= all)
        snprintf(out + n, PROGRESS_LINE - (size_t)n, ", %s/s, %.0f s left",
                 in_words((uint64_t)bytes_a_second, rate), (double)(all - have) / bytes_a_second);
    return true;
}

void progress_clear(struct progress *p)
{
    free(p->at);
    *p = (struct progress){0};
}
