/* SPDX-License-Identifier: BSD-3-Clause */
/* churn.c -- how often peers vanish, as this one has seen it. */
#include "churn.h"
#include "overlay/settings/settings.h"
#include <inttypes.h>
#include <stdio.h>

void churn_vanished(struct churn *t)
{
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
