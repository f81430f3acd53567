/* SPDX-License-Identifier: BSD-3-Clause */
/* churn.c -- how often peers vanish, as this one has seen it. */
#include "churn.h"
#include "overlay/settings/settings.h"
#include <inttypes.h>
#include <stdio.h>

void churn_dropped(struct churn *t, const struct id *peer, uint64_t now_ms)
{
    t->dropped[t->next].id = *peer;
    t->dropped[t->next].ms = now_ms;
    t->next = (t->next + 1) % CHURN_DROPPED;
}

/* When it was dropped; 0: it was not. It is forgotten. */
static uint64_t take_dropped(struct churn *t, const struct id *peer)
{
    uint64_t ms = 0;
    for (unsigned i = 0; i < CHURN_DROPPED; i++)
        if (t->dropped[i].ms > ms && id_equal(&t->dropped[i].id, peer)) {
            ms = t->dropped[i].ms;
            t->dropped[i].ms = 0;
        }
    return ms;
}

void churn_left(struct churn *t, const struct id *peer)
{
    take_dropped(t, peer);
}

void churn_gone(struct churn *t, const struct id *peer, bool neighbour, uint64_t now_ms)
{
    uint64_t dropped_ms = take_dropped(t, peer);
    if (neighbour || (dropped_ms != 0 && now_ms - dropped_ms < CHURN_RECENT_MS))
        t->doubtful++;
}

void churn_watch(struct churn *t, unsigned neighbours, uint64_t ms)
{
    if (neighbours > 0)
        t->vanished += t->doubtful;
    t->doubtful = 0;
    t->watched_ms += neighbours * ms;
}

static FILE *open_file(const char *state, const char *mode)
{
    char path[SETTINGS_PATH + 16];
    snprintf(path, sizeof path, "%s/churn", state);
    return fopen(path, mode);
}

void churn_load(struct churn *t, const char *state)
{
    uint64_t ms;
    uint32_t vanished;
    FILE *f = open_file(state, "re");
    if (f == NULL)
        return;
    if (fscanf(f, "watched-ms %" SCNu64 " vanished %" SCNu32, &ms, &vanished) == 2) {
        t->watched_ms = ms;
        t->vanished = vanished;
    }
    fclose(f);
}

void churn_save(const struct churn *t, const char *state)
{
    FILE *f = open_file(state, "we");
    if (f == NULL)
        return;
    fprintf(f, "watched-ms %" PRIu64 " vanished %" PRIu32 "\n", t->watched_ms, t->vanished);
    fclose(f);
}
