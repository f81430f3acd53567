/* SPDX-License-Identifier: BSD-3-Clause */
/* quiet.c -- a lab that is switched on at once comes to rest: what a peer says then, while nothing
 * happens. All are close to each other, so the tree of ads is deep and much is moved in it first.
 */
#include "sim.h"
#include <stdio.h>

enum { PEERS = 100, ADS_EVERY_S = 60 };

static void publish(struct sim *sim, uint8_t what)
{
    uint8_t ad[100] = {1, what};
    for (unsigned i = 0; i < PEERS; i++)
        sim_publish(sim, i, ad, sizeof ad);
}

/* Messages that each peer sends in a second, over a minute from then on. */
static double rate_at(struct sim *sim, unsigned second)
{
    while (sim_now(sim) < (uint64_t)second * SIM_SECOND) {
        publish(sim, (uint8_t)(sim_now(sim) / SIM_SECOND));
        sim_wait(sim, (uint64_t)ADS_EVERY_S * SIM_SECOND);
    }
    uint64_t before = sim_messages(sim);
    sim_wait(sim, (uint64_t)60 * SIM_SECOND);
    return (double)(sim_messages(sim) - before) / PEERS / 60;
}

static int expect(struct sim *sim, unsigned second, double most)
{
    double rate = rate_at(sim, second);
    printf("%s: from second %u on %.2f messages/s a peer, %.1f at most\n",
           rate <= most ? "ok" : "FAIL", second, rate, most);
    return rate <= most ? 0 : 1;
}

int main(void)
{
    struct sim_setup setup = {
        .seed = 7, .peers = PEERS, .flat_us = 100, .jitter_permille = 500, .record_bytes = 8192};
    struct sim *sim = sim_new(&setup);
    sim_start(sim, 0);
    for (unsigned i = 1; i < PEERS; i++) {
        sim_join(sim, i, 0);
        sim_wait(sim, SIM_SECOND / 20);
    }
    int failed = expect(sim, 120, 6);
    failed += expect(sim, 300, 3);
    if (failed > 0)
        printf("again: test/sim/quiet\n"); /* the seed is in it */
    sim_free(sim);
    return failed != 0;
}
