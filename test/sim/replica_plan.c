/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_plan.c -- what a run is: drawn from a seed, or written down to be run again. */
#include "replica.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int draw(uint64_t *x, int n)
{
    *x = mix64(*x);
    return (int)(*x % (unsigned)n);
}

/* Deaths at any step; a few steps after each other, or at once; while one is heard of; while the
 * next leader is agreed on; when another has said good-bye. */
static void draw_kills(struct plan *p, uint64_t *x, int length)
{
    static const uint8_t moments[] = {HEADER_DEAD,   HEADER_AGREE, HEADER_BYE,
                                      HEADER_DECIDE, HEADER_CTS,   HEADER_DATA,
                                      HEADER_RTS,    HEADER_LOOKS, HEADER_PAST};
    p->kills = draw(x, MOST_KILLS);
    for (int i = 0; i < MOST_KILLS; i++) {
        struct kill *k = &p->kill[i];
        *k = (struct kill){.step = draw(x, length), .who = -1};
        if (i > 0 && draw(x, 3) == 0)
            k->step = p->kill[i - 1].step + draw(x, 2) * draw(x, 12);
        if (draw(x, 4) == 0)
            k->kind = moments[draw(x, (int)sizeof moments)];
        k->nth = 1 + draw(x, 8);
    }
}

static void draw_stop(struct plan *p, uint64_t *x, int length)
{
    if (draw(x, 8) > 0)
        return;
    p->stop_who = draw(x, p->ranks * p->lanes);
    p->stop_step = draw(x, length);
    p->go_on_step = p->stop_step + 1 + draw(x, 3000);
    p->drop_after_ms = draw(x, 2) * 400;
}

struct plan plan_of(uint64_t seed)
{
    uint64_t x = mix64(seed);
    struct plan p = plain_plan;
    p.seed = seed;
    p.lanes = "\1\2\2\2\2\3\3\3"[draw(&x, 8)];
    p.ranks = "\2\2\3\3\4\4\5\6"[draw(&x, 8)];
    p.rounds = 1 + draw(&x, 6);
    p.tight = draw(&x, 3) == 0;
    p.holes = draw(&x, 8) == 0;
    p.verify = draw(&x, 4) == 0;
    int length = 20 * p.ranks * p.lanes * p.rounds;
    draw_kills(&p, &x, length);
    draw_stop(&p, &x, length);
    if (draw(&x, 8) == 0)
        p.slow = draw(&x, p.lanes);
    return p;
}

/* ---- as a word: numbers with dots between them; the choices come last, each with its step ---- */

enum { NUMBERS = 20 + 4 * MOST_KILLS };

static void numbers_of(const struct plan *p, int *n)
{
    const int own[] = {p->ranks,  p->lanes, p->rounds,        p->kills,     p->mix,
                       p->stream, p->log,   p->stop_who,      p->stop_step, p->go_on_step,
                       p->drift,  p->slow,  p->drop_after_ms, p->flip,      p->flip_source,
                       p->stray,  p->holes, p->tight,         p->verify,    p->explored};
    _Static_assert(sizeof own / sizeof *own + 4 * MOST_KILLS == NUMBERS, "all are there");
    memcpy(n, own, sizeof own);
    n += sizeof own / sizeof *own;
    for (int i = 0; i < MOST_KILLS; i++, n += 4) {
        const struct kill *k = &p->kill[i];
        n[0] = k->step, n[1] = k->kind, n[2] = k->nth, n[3] = k->who;
    }
}

static void take_numbers(struct plan *p, const int *n)
{
    p->ranks = *n++;
    p->lanes = *n++;
    p->rounds = *n++;
    p->kills = *n++;
    p->mix = *n++;
    p->stream = *n++;
    p->log = *n++;
    p->stop_who = *n++;
    p->stop_step = *n++;
    p->go_on_step = *n++;
    p->drift = *n++;
    p->slow = *n++;
    p->drop_after_ms = *n++;
    p->flip = *n++;
    p->flip_source = *n++ != 0;
    p->stray = *n++;
    p->holes = *n++ != 0;
    p->tight = *n++ != 0;
    p->verify = *n++ != 0;
    p->explored = *n++ != 0;
    for (int i = 0; i < MOST_KILLS; i++, n += 4)
        p->kill[i] = (struct kill){n[0], n[1], n[2], n[3]};
}

void plan_show(const struct plan *plan, char *word, size_t size)
{
    int n[NUMBERS];
    size_t at = (size_t)snprintf(word, size, "%llu", (unsigned long long)plan->seed);
    numbers_of(plan, n);
    for (int i = 0; i < NUMBERS && at < size; i++)
        at += (size_t)snprintf(word + at, size - at, ".%d", n[i]);
    if (plan->choices && at < size)
        at += (size_t)snprintf(word + at, size - at, ",");
    for (int i = 0; i < plan->choice_count && at < size; i++)
        if (plan->choices[i])
            at += (size_t)snprintf(word + at, size - at, "%d:%d,", i, plan->choices[i]);
}

static void read_choices(struct plan *plan, const char *at)
{
    static uint8_t choices[MOST_CHOICES];
    int step, choice, length;
    memset(choices, 0, sizeof choices);
    plan->choices = choices;
    plan->choice_count = MOST_CHOICES;
    while (sscanf(at, "%d:%d,%n", &step, &choice, &length) == 2) {
        if (step >= 0 && step < MOST_CHOICES)
            choices[step] = (uint8_t)choice;
        at += length;
    }
}

bool plan_read(struct plan *plan, const char *word)
{
    int n[NUMBERS];
    char *at;
    *plan = plain_plan;
    plan->seed = strtoull(word, &at, 10);
    for (int i = 0; i < NUMBERS; i++) {
        if (*at != '.')
            return false;
        n[i] = (int)strtol(at + 1, &at, 10);
    }
    take_numbers(plan, n);
    if (*at == ',')
        read_choices(plan, at + 1);
    return plan->ranks >= 1 && plan->ranks <= MAX_RANKS && plan->lanes >= 1 &&
           plan->lanes <= MAX_LANES && plan->kills <= MOST_KILLS;
}

int plan_run(const struct plan *plan, int *steps)
{
    char why[400], word[20000];
    if (sim_run(plan, why, sizeof why, steps) == 0)
        return 0;
    plan_show(plan, word, sizeof word);
    printf("test/sim/replica --plan %s\n    %s\n", word, why);
    return 1;
}
