/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c -- many short lives with one cut each, and a long one without. */
#include "job.h"
#include "test/sim/party.h"
#include <stdlib.h>

enum { CUTS = 21, SECOND = 1000 * 1000, GIVE_UP_S = 10 };

static struct party *start(unsigned members, unsigned busy_permille, unsigned seed)
{
    struct party_setup setup = {.seed = seed,
                                .members = members,
                                .latency_us = 150,
                                .lost_permille = 1,
                                .busy_permille = busy_permille,
                                .pause_ms = 100};
    return party_new(&setup);
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double cut_one(unsigned members, unsigned busy_permille, unsigned n)
{
    struct party *p = start(members, busy_permille, 100 + n);
    party_wait(p, 3000 * 1000 + n * 13000);
    party_cut(p, n % members);
    party_wait(p, (uint64_t)GIVE_UP_S * SECOND);
    double took = (double)party_detected_us(p, n % members) / SECOND;
    party_free(p);
    return took > 0 ? took : GIVE_UP_S;
}

struct watched job_measure(unsigned members, unsigned busy_permille, unsigned node_hours)
{
    double took[CUTS];
    for (unsigned i = 0; i < CUTS; i++)
        took[i] = cut_one(members, busy_permille, i);
    qsort(took, CUTS, sizeof took[0], by_time);
    struct watched w = {
        .median_s = took[CUTS / 2], .worst_s = took[CUTS - 1], .node_hours = node_hours};
    uint64_t seconds = (uint64_t)node_hours * 3600 / members;
    struct party *p = start(members, busy_permille, 5);
    party_wait(p, seconds * SECOND);
    w.false_deaths = party_false_deaths(p);
    w.bytes = (double)party_bytes(p) / (double)seconds / members;
    party_free(p);
    return w;
}
