/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting_world.h -- desktops that lend slots, and jobs that wait for them: the very machines that
 * p2pd drives (wait.h, search.h, borrow.h, lend.h), with latency, loss, and desktops that vanish.
 * Deterministic by seed. */
#ifndef P2P_WAITING_WORLD_H
#define P2P_WAITING_WORLD_H
#include "overlay/core/lease/wait.h"
#include <stdbool.h>
#include <stdint.h>

struct world;

struct world_setup {
    uint64_t seed;
    unsigned lenders, slots; /* of each */
    unsigned loss;           /* permille of messages that are lost */
};

enum job_state { JOB_NONE, JOB_WAITS, JOB_RUNS, JOB_DONE, JOB_GAVE_UP, JOB_DIED };

struct job_setup {
    unsigned owner, desktop; /* any numbers; an owner has one desktop or more */
    unsigned slots;
    uint64_t lasts_ms, for_ms;
    void (*ended)(void *ctx, unsigned job); /* it has run: another one may be added; or NULL */
    void *ctx;
};

struct world *world_new(const struct world_setup *setup);
void world_free(struct world *w);
uint64_t world_now(const struct world *w);
uint64_t world_chance(struct world *w, uint64_t below);
/* The job's number; it waits from at_ms on. */
unsigned world_add(struct world *w, const struct job_setup *setup, uint64_t at_ms);
void world_run(struct world *w, uint64_t until_ms);
/* A desktop that lends vanishes, with what runs there; or comes back. */
void world_lender(struct world *w, unsigned lender, bool there);
void world_kill_job(struct world *w, unsigned job); /* its daemon vanishes: it says nothing more */
void world_cancel(struct world *w, unsigned job);

enum job_state world_state(const struct world *w, unsigned job);
uint64_t world_waited(const struct world *w, unsigned job); /* until it ran, or until now */
uint64_t world_work(const struct world *w, unsigned owner); /* slots times ms */
unsigned world_lent(const struct world *w);                 /* slots at all lenders */
unsigned world_lost(const struct world *w);                 /* leases that lenders which never left
                                                               ended, or seemed to */
unsigned world_held(const struct world *w,
                    unsigned lender);         /* slots of it, as its borrowers know */
unsigned world_listed(const struct world *w); /* waiters, in all lists */
unsigned world_jobs(const struct world *w);
#endif
