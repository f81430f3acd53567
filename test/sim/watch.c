/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c -- a silently cut host is declared dead in a second, a busy one never. */
#include "party.h"
#include <stdio.h>
#include <stdlib.h>

enum { CUTS = 21, SECOND = 1000 * 1000 };

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool check_cuts(unsigned members, unsigned lost, unsigned busy, uint64_t limit_us)
{
    uint64_t took[CUTS];
    unsigned wrong = 0;
    for (unsigned i = 0; i < CUTS; i++) {
        struct party_setup setup = {.seed = 7 * i + members,
                                    .members = members,
                                    .latency_us = 150,
                                    .lost_permille = lost,
                                    .busy_permille = busy,
                                    .pause_ms = 60};
        struct party *p = party_new(&setup);
        party_wait(p, 5 * SECOND + i * 13000);
        party_cut(p, i % members);
        party_wait(p, 10 * SECOND);
        took[i] = party_detected_us(p, i % members);
        wrong += took[i] == 0 || party_false_deaths(p) > 0;
        party_free(p);
    }
    qsort(took, CUTS, sizeof took[0], by_value);
    bool good = wrong == 0 && took[CUTS / 2] <= limit_us;
    printf("%s: %u members, %u permille lost, %u busy: cut hosts declared by all after %.2f s "
           "(median; worst %.2f s), %u runs wrong\n",
           good ? "ok" : "FAILED", members, lost, busy, (double)took[CUTS / 2] / SECOND,
           (double)took[CUTS - 1] / SECOND, wrong);
    return good;
}

static bool check_busy(unsigned members, unsigned pause_ms, unsigned seconds)
{
    struct party_setup setup = {.seed = members,
                                .members = members,
                                .latency_us = 150,
                                .lost_permille = 5,
                                .busy_permille = 1000,
                                .pause_ms = pause_ms};
    struct party *p = party_new(&setup);
    party_wait(p, (uint64_t)seconds * SECOND);
    unsigned deaths = party_false_deaths(p);
    printf("%s: %u busy hosts, pauses up to %u ms, %u s: %u false deaths\n",
           deaths == 0 ? "ok" : "FAILED", members, pause_ms, seconds, deaths);
    party_free(p);
    return deaths == 0;
}

int main(void)
{
    bool good = check_cuts(2, 0, 0, SECOND);
    good &= check_cuts(3, 0, 0, SECOND);
    good &= check_cuts(16, 0, 0, SECOND);
    good &= check_cuts(64, 10, 0, SECOND);
    good &= check_cuts(16, 10, 300, 2 * SECOND);
    good &= check_busy(16, 100, 1800);
    good &= check_busy(2, 100, 1800);
    good &= check_busy(32, 150, 300);
    /* Ten times more to do than they can: a daemon waits for seconds, again and again. */
    good &= check_busy(16, 1000, 1800);
    good &= check_busy(16, 8000, 1800);
    good &= check_busy(2, 8000, 1800);
    good &= check_busy(64, 4000, 300);
    if (!good)
        printf("again: test/sim/watch\n"); /* the seeds are in it */
    return !good;
}
